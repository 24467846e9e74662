#include "tracker/rpc/convert.h"

#include <string>

namespace gridtorrent::tracker::rpc {

namespace {

v1::Reachability to_wire(Reachability reachability) {
  switch (reachability) {
    case Reachability::kReachable:
      return v1::REACHABLE;
    case Reachability::kUnreachable:
      return v1::UNREACHABLE;
    case Reachability::kUnknown:
      break;
  }
  return v1::REACHABILITY_UNKNOWN;
}

Result<SwarmRole> from_wire(v1::AnnounceRequest::Role role) {
  switch (role) {
    case v1::AnnounceRequest::FETCHING:
      return SwarmRole::kFetching;
    case v1::AnnounceRequest::SEEDING:
      return SwarmRole::kSeeding;
    case v1::AnnounceRequest::PAUSED:
      return SwarmRole::kPaused;
    case v1::AnnounceRequest::GONE:
      return SwarmRole::kGone;
    default:
      return Error{Code::kUnsupported, "an announce with a role that this server does not know: upgrade the server"};
  }
}

/// One overload a kind of work.
struct WorkWriter {
  v1::TaskWork& out;
  void operator()(const PublishTask& work) const {
    // Nodes that do not know rules must not publish without them, nor versions make a content of its own.
    const bool version = !work.update.empty();
    if (version) out.mutable_version_publish()->set_update(work.update);
    const auto chosen = [&]() -> v1::ChosenPublishTask& {
      return version ? *out.mutable_version_publish()->mutable_publish() : *out.mutable_chosen_publish();
    };
    v1::PublishTask& to = version || work.has_rules() ? *chosen().mutable_publish() : *out.mutable_publish();
    to.set_root_path(work.root_path);
    to.set_name(work.name);
    to.set_access(work.access);
    to.set_description(work.description);
    to.set_license(work.license);
    for (const std::string& tag : work.tags) to.add_tags(tag);
    to.set_strict(work.strict);
    to.set_request_id(work.request_id);
    if (!work.has_rules()) return;
    v1::PublishRules& rules = *chosen().mutable_rules();
    rules.set_links(work.links);
    for (const std::string& pattern : work.exclude) rules.add_exclude(pattern);
    for (const std::string& pattern : work.include) rules.add_include(pattern);
  }
  void operator()(const GetTask& work) const {
    // Nodes that do not know these must not fetch without them.
    const bool version = work.is_of_version();
    const auto chosen = [&]() -> v1::ChosenGetTask& {
      return version ? *out.mutable_version_get()->mutable_get() : *out.mutable_chosen_get();
    };
    v1::GetTask& to = version || work.is_chosen() ? *chosen().mutable_get() : *out.mutable_get();
    to.set_content_id(work.content);
    to.set_root_path(work.root_path);
    for (const std::string& glob : work.globs) to.add_globs(glob);
    to.set_lanes(work.lanes);
    to.set_seeders(work.seeders);
    to.set_limit_bits_per_s(work.limit_bits_per_s);
    to.set_priority(work.priority);
    to.set_refetch(work.refetch);
    if (!work.tuner.empty()) to.mutable_wish()->set_tuner(work.tuner);
    if (!work.mode.empty()) to.mutable_wish()->set_mode(work.mode);
    if (work.target_bits_per_s != 0) to.mutable_wish()->set_target_bits_per_s(work.target_bits_per_s);
    if (work.floor_bits_per_s != 0) to.mutable_wish()->set_floor_bits_per_s(work.floor_bits_per_s);
    if (work.by_ms != 0) to.mutable_wish()->set_by_ms(work.by_ms);
    if (version) {
      out.mutable_version_get()->set_version(work.version);
      out.mutable_version_get()->set_update(work.update);
    }
    if (!work.is_chosen()) return;
    chosen().set_base_name(work.base_name);
    chosen().set_if_seeded(work.if_seeded);
  }
  void operator()(const SeedTask& work) const {
    out.mutable_seed()->set_content_id(work.content);
    out.mutable_seed()->set_root_path(work.root_path);
  }
  void operator()(const StopSeedingTask& work) const { out.mutable_stop_seeding()->set_content_id(work.content); }
  void operator()(const ListFolderTask& work) const { out.mutable_list_folder()->set_root_path(work.root_path); }
  void operator()(const TransferTask& work) const {
    out.mutable_transfer()->set_transfer_id(work.transfer_id);
    out.mutable_transfer()->set_command(work.command);
  }
};

PublishTask from_wire(const v1::PublishTask& work) {
  return {.root_path = work.root_path(),
          .name = work.name(),
          .access = work.access(),
          .description = work.description(),
          .license = work.license(),
          .tags = {work.tags().begin(), work.tags().end()},
          .strict = work.strict(),
          .request_id = work.request_id()};
}

GetTask from_wire(const v1::GetTask& work) {
  return {.content = work.content_id(),
          .root_path = work.root_path(),
          .globs = {work.globs().begin(), work.globs().end()},
          .lanes = work.lanes(),
          .seeders = work.seeders(),
          .limit_bits_per_s = work.limit_bits_per_s(),
          .priority = work.priority(),
          .refetch = work.refetch(),
          .tuner = work.wish().tuner(),
          .mode = work.wish().mode(),
          .target_bits_per_s = work.wish().target_bits_per_s(),
          .floor_bits_per_s = work.wish().floor_bits_per_s(),
          .by_ms = work.wish().by_ms()};
}

}  // namespace

v1::Audience to_wire(const Audience& audience) {
  v1::Audience out;
  out.set_audience_id(audience.id);
  out.set_version(audience.version);
  for (const auto& [print, node] : audience.members) {
    v1::AudienceMember* member = out.add_members();
    member->set_node_id(node.str());
    member->set_key_sha256(print.data(), print.size());
  }
  return out;
}

v1::Endpoint to_wire(const Endpoint& endpoint) {
  v1::Endpoint out;
  out.set_address(endpoint.address);
  out.set_port(endpoint.port);
  out.set_tls(endpoint.tls);
  out.set_path(endpoint.path);
  return out;
}

Result<Endpoint> from_wire(const v1::Endpoint& endpoint) {
  if (endpoint.port() > 65535) return Error{Code::kInvalid, std::to_string(endpoint.port()) + " is no port"};
  return Endpoint{endpoint.address(), static_cast<std::uint16_t>(endpoint.port()), endpoint.tls(), endpoint.path()};
}

v1::NodeEndpoint to_wire(const NodeEndpoint& endpoint) {
  v1::NodeEndpoint out;
  *out.mutable_endpoint() = to_wire(endpoint.endpoint);
  out.set_reachability(to_wire(endpoint.reachability));
  out.set_declared(endpoint.declared);
  return out;
}

v1::Node to_wire(const NodeView& view) {
  const NodeRecord& node = view.record;
  v1::Node out;
  out.set_node_id(node.id.str());
  out.set_name(node.name);
  out.set_owner(node.owner_name);
  out.set_online(view.online);
  out.set_ephemeral(node.ephemeral);
  out.set_created_ms(node.created.ms);
  out.set_last_seen_ms(node.last_seen.ms);
  out.set_program_version(node.program_version);
  for (const NodeEndpoint& endpoint : node.endpoints) *out.add_endpoints() = to_wire(endpoint);
  out.set_acked_sequence(node.acked_sequence);
  out.set_last_sequence(node.last_sequence);
  if (node.roots) {
    out.mutable_roots()->mutable_shares()->Add(node.roots->shares.begin(), node.roots->shares.end());
    out.mutable_roots()->mutable_downloads()->Add(node.roots->downloads.begin(), node.roots->downloads.end());
  }
  return out;
}

v1::Peer to_wire(const Peer& peer) {
  v1::Peer out;
  out.set_node_id(peer.node.str());
  for (const Endpoint& endpoint : peer.endpoints) *out.add_endpoints() = to_wire(endpoint);
  out.set_reachability(to_wire(peer.reachability));
  out.set_wants_data(peer.wants_data);
  out.set_complete(peer.complete);
  out.set_verified_bytes(peer.verified_bytes);
  if (peer.key != KeyPrint{}) out.set_key_sha256(peer.key.data(), peer.key.size());
  return out;
}

v1::PeerChanged to_wire(const PeerChanged& changed) {
  v1::PeerChanged out;
  out.set_content_id(changed.content.str());
  out.set_version(changed.version);
  *out.mutable_peer() = to_wire(changed.peer);
  return out;
}

// Bounded, so that no arithmetic with it overflows.
constexpr std::uint64_t kOldestVerifiedMs = std::uint64_t{10} * 365 * 24 * 3600 * 1000;

Result<Announce> from_wire(const NodeId& node, const v1::AnnounceRequest& request) {
  Announce announce;
  announce.node = node;
  GT_ASSIGN(announce.content, ContentId::parse(request.content_id()));
  announce.version = request.version();
  GT_ASSIGN(announce.role, from_wire(request.role()));
  announce.verified_bytes = request.verified_bytes();
  announce.total_bytes = request.total_bytes();
  announce.refused_lanes = request.refused_lanes();
  announce.refused_handshakes = request.refused_handshakes();
  if (request.has_verified_age_ms()) {
    announce.verified_age = std::chrono::milliseconds(std::min(request.verified_age_ms(), kOldestVerifiedMs));
  }
  for (const v1::PeerTraffic& traffic : request.traffic()) {
    GT_ASSIGN(const NodeId peer, NodeId::parse(traffic.node_id()));
    announce.traffic.push_back({peer, traffic.received_bytes(), traffic.sent_bytes()});
  }
  return announce;
}

v1::TaskWork to_wire(const TaskWork& work) {
  v1::TaskWork out;
  std::visit(WorkWriter{out}, work);
  return out;
}

v1::Task to_wire(const Task& task) {
  v1::Task out;
  out.set_task_id(task.id.str());
  out.set_node_id(task.node.str());
  out.set_sequence(task.sequence);
  out.set_kind(std::string(task_kind(task.work)));
  *out.mutable_work() = to_wire(task.work);
  out.set_state(std::string(task_state_name(task.state)));
  out.set_created_by(task.created_by_name);
  out.set_created_ms(task.created.ms);
  out.set_updated_ms(task.updated.ms);
  out.set_done(task.done);
  out.set_total(task.total);
  out.set_result_json(task.result_json);
  out.set_error_code(task.error_code);
  out.set_error_message(task.error_message);
  out.set_result_bytes(task.result_bytes);
  return out;
}

namespace {

PublishTask from_wire(const v1::ChosenPublishTask& work) {
  PublishTask task = from_wire(work.publish());
  task.links = work.rules().links();
  task.exclude.assign(work.rules().exclude().begin(), work.rules().exclude().end());
  task.include.assign(work.rules().include().begin(), work.rules().include().end());
  return task;
}

GetTask from_wire(const v1::ChosenGetTask& work) {
  GetTask task = from_wire(work.get());
  task.base_name = work.base_name();
  task.if_seeded = work.if_seeded();
  return task;
}

PublishTask from_wire(const v1::VersionPublishTask& work) {
  PublishTask task = from_wire(work.publish());
  task.update = work.update();
  return task;
}

GetTask from_wire(const v1::VersionGetTask& work) {
  GetTask task = from_wire(work.get());
  task.version = work.version();
  task.update = work.update();
  return task;
}

}  // namespace

Result<TaskWork> from_wire(const v1::TaskWork& work) {
  switch (work.work_case()) {
    case v1::TaskWork::kChosenPublish:
      return TaskWork(from_wire(work.chosen_publish()));
    case v1::TaskWork::kPublish:
      return TaskWork(from_wire(work.publish()));
    case v1::TaskWork::kChosenGet:
      return TaskWork(from_wire(work.chosen_get()));
    case v1::TaskWork::kVersionPublish:
      if (work.version_publish().update().empty()) return Error{Code::kInvalid, "a new version of no content"};
      return TaskWork(from_wire(work.version_publish()));
    case v1::TaskWork::kVersionGet:
      return TaskWork(from_wire(work.version_get()));
    case v1::TaskWork::kGet:
      return TaskWork(from_wire(work.get()));
    case v1::TaskWork::kSeed:
      return TaskWork(SeedTask{work.seed().content_id(), work.seed().root_path()});
    case v1::TaskWork::kStopSeeding:
      return TaskWork(StopSeedingTask{work.stop_seeding().content_id()});
    case v1::TaskWork::kListFolder:
      return TaskWork(ListFolderTask{work.list_folder().root_path()});
    case v1::TaskWork::kTransfer:
      return TaskWork(TransferTask{work.transfer().transfer_id(), work.transfer().command()});
    case v1::TaskWork::WORK_NOT_SET:
      break;
  }
  return Error{Code::kUnsupported, "the task has no work that this server knows: upgrade the server"};
}

Result<TaskReport> from_wire(const v1::ReportTaskRequest& request) {
  TaskReport report;
  GT_ASSIGN(report.task, TaskId::parse(request.task_id()));
  GT_ASSIGN(report.state, parse_task_state(request.state()));
  report.done = request.done();
  report.total = request.total();
  report.result_json = request.result_json();
  report.error_code = request.error_code();
  report.error_message = request.error_message();
  return report;
}

}  // namespace gridtorrent::tracker::rpc
