#include "client/remote/convert.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "base/rpc/access_text.h"
#include "common/hex.h"
#include "common/text.h"

namespace gridtorrent::client::remote {
namespace {

Error malformed(std::string_view what) {
  return {Code::kInternal, "the server sent " + std::string(what) + ": update the server or this node"};
}

template <class IdType>
Result<IdType> parse_id(std::string_view what, const std::string& text) {
  auto id = IdType::parse(text);
  if (!id) return malformed(std::string(what) + " without a proper id (\"" + escape_for_display(text) + "\")");
  return id;
}

/// The name of a file in the node's data folder.
bool is_sha256_hex(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Result<LaneEndpoint> to_endpoint(const v1::Endpoint& message) {
  if (message.port() > std::numeric_limits<std::uint16_t>::max()) {
    return malformed("an endpoint with port " + std::to_string(message.port()));
  }
  return LaneEndpoint{message.address(), static_cast<std::uint16_t>(message.port()), message.tls(), message.path()};
}

std::string_view level_name(v1::Access::Level level) {
  switch (level) {
    case v1::Access::PUBLIC:
      return "public";
    case v1::Access::SHARED:
      return "shared";
    default:
      return "private";
  }
}

PublishTask to_work(const v1::PublishTask& message, const std::string& task_id) {
  PublishTask work;
  work.root_path = message.root_path();
  work.strict = message.strict();
  // A task may arrive twice: without a request id of its own, its task id makes publishing twice publishing once.
  work.publish.request_id = message.request_id().empty() ? task_id : message.request_id();
  work.publish.name = message.name();
  work.publish.access = message.access();
  work.publish.description = message.description();
  work.publish.license = message.license();
  work.publish.tags.assign(message.tags().begin(), message.tags().end());
  return work;
}

/// Whether the node has such a tuner is looked at when the task begins.
WishChange to_change(const v1::TuningWish& wish) {
  WishChange change;
  if (wish.has_tuner()) change.tuner = wish.tuner();
  if (wish.has_mode()) change.mode = wish.mode();
  if (wish.has_target_bits_per_s()) change.target_bits_per_s = wish.target_bits_per_s();
  if (wish.has_floor_bits_per_s()) change.floor_bits_per_s = wish.floor_bits_per_s();
  if (wish.has_by_ms()) change.by = WallTime{wish.by_ms()};
  return change;
}

GetTask to_work(const v1::GetTask& message) {
  GetTask work;
  work.content = message.content_id();
  work.root_path = message.root_path();
  work.globs.assign(message.globs().begin(), message.globs().end());
  work.lanes = message.lanes();
  work.seeders = message.seeders();
  work.rate_limit_bits_per_s = message.limit_bits_per_s();
  work.priority = message.priority();
  work.refetch = message.refetch();
  work.wish = to_change(message.wish());
  return work;
}

Result<PublishTask> to_work(const v1::ChosenPublishTask& message, const std::string& task_id) {
  PublishTask work = to_work(message.publish(), task_id);
  GT_ASSIGN(work.rules.links, parse_link_rule(message.rules().links()));
  work.rules.exclude.assign(message.rules().exclude().begin(), message.rules().exclude().end());
  work.rules.include.assign(message.rules().include().begin(), message.rules().include().end());
  return work;
}

GetTask to_work(const v1::ChosenGetTask& message) {
  GetTask work = to_work(message.get());
  work.base_name = message.base_name();
  work.if_seeded = message.if_seeded();
  return work;
}

}  // namespace

Result<PublishTicket> to_ticket(const v1::BeginPublishReply& message) {
  PublishTicket ticket;
  GT_ASSIGN(ticket.content, parse_id<ContentId>("a ticket to publish", message.content_id()));
  ticket.version = message.version();
  ticket.generation = message.generation();
  ticket.ca_pem = message.data_ca_pem();
  return ticket;
}

Result<ContentInfo> to_content(const v1::Content& message) {
  ContentInfo info;
  info.seeders = message.seeders();
  GT_ASSIGN(info.id, parse_id<ContentId>("a content", message.content_id()));
  info.name = message.name();
  info.owner = message.owner();
  info.version = message.version();
  info.access_level = level_name(message.access().level());
  info.access = rpc::access_text(message.access());
  info.bytes = message.bytes();
  info.files = message.files();
  info.metadata_sha256 = message.metadata_sha256();
  if (!info.metadata_sha256.empty() && !is_sha256_hex(info.metadata_sha256)) {
    return malformed("a content whose metadata has no proper name");
  }
  info.generation = message.generation();
  info.ca_pem = message.data_ca_pem();
  if (info.generation != 0 && info.ca_pem.empty() && message.state() == "published") {
    return malformed("a restricted content without its data CA");
  }
  info.withdrawn = message.state() == "withdrawn" || message.state() == "purged";
  return info;
}

Result<Task> to_task(const v1::Task& message) {
  Task task;
  GT_ASSIGN(task.id, parse_id<TaskId>("a task", message.task_id()));
  task.sequence = message.sequence();
  const v1::TaskWork& work = message.work();
  switch (work.work_case()) {
    case v1::TaskWork::kPublish:
      task.work = to_work(work.publish(), message.task_id());
      break;
    case v1::TaskWork::kChosenPublish: {
      GT_ASSIGN(task.work, to_work(work.chosen_publish(), message.task_id()));
      break;
    }
    case v1::TaskWork::kVersionPublish: {
      GT_ASSIGN(PublishTask publish, to_work(work.version_publish().publish(), message.task_id()));
      publish.publish.name = work.version_publish().update();
      publish.publish.update = true;
      publish.as_before = !work.version_publish().publish().has_rules();
      task.work = std::move(publish);
      break;
    }
    case v1::TaskWork::kChosenGet:
      task.work = to_work(work.chosen_get());
      break;
    case v1::TaskWork::kVersionGet: {
      GetTask get = to_work(work.version_get().get());
      get.version = work.version_get().version();
      get.update = work.version_get().update();
      task.work = std::move(get);
      break;
    }
    case v1::TaskWork::kGet:
      task.work = to_work(work.get());
      break;
    case v1::TaskWork::kSeed:
      task.work = SeedTask{work.seed().content_id(), work.seed().root_path()};
      break;
    case v1::TaskWork::kStopSeeding: {
      GT_ASSIGN(const ContentId content, parse_id<ContentId>("a content to stop", work.stop_seeding().content_id()));
      task.work = StopSeedingTask{content};
      break;
    }
    case v1::TaskWork::kListFolder:
      task.work = ListFolderTask{work.list_folder().root_path()};
      break;
    case v1::TaskWork::kTransfer:
      task.work = TransferCommandTask{work.transfer().transfer_id(), work.transfer().command()};
      break;
    case v1::TaskWork::WORK_NOT_SET:
      task.work = UnknownTask{message.kind()};
      break;
  }
  return task;
}

Result<AudienceList> to_audience(const v1::Audience& message) {
  if (message.audience_id().empty()) return malformed("a list without an id");
  Audience members;
  for (const v1::AudienceMember& member : message.members()) {
    GT_ASSIGN(const NodeId node, parse_id<NodeId>("a list's member", member.node_id()));
    KeyPrint print{};
    if (member.key_sha256().size() != print.size()) return malformed("a list with a key's hash of another size");
    std::ranges::copy(as_bytes(member.key_sha256()), print.begin());
    members[print] = node;
  }
  return AudienceList{{message.audience_id(), message.version()}, std::make_shared<const Audience>(std::move(members))};
}

Result<IssuedCertificate> to_certificate(const v1::NodeCertificate& message) {
  if (message.generation() == 0 || message.certificate_pem().empty() || message.data_ca_pem().empty()) {
    return malformed("a certificate without its parts");
  }
  return IssuedCertificate{message.generation(), message.data_ca_pem(), message.certificate_pem(),
                           WallTime{message.expires_ms()}};
}

Reachability to_reachability(v1::Reachability message) {
  switch (message) {
    case v1::REACHABLE:
      return Reachability::kReachable;
    case v1::UNREACHABLE:
      return Reachability::kUnreachable;
    default:
      return Reachability::kUnknown;
  }
}

Result<PeerInfo> to_peer(const v1::Peer& message) {
  PeerInfo peer;
  GT_ASSIGN(peer.node, parse_id<NodeId>("a peer", message.node_id()));
  for (const v1::Endpoint& endpoint : message.endpoints()) {
    GT_ASSIGN(LaneEndpoint one, to_endpoint(endpoint));
    peer.endpoints.push_back(std::move(one));
  }
  peer.reachability = to_reachability(message.reachability());
  peer.wants_data = message.wants_data();
  peer.complete = message.complete();
  peer.verified_bytes = message.verified_bytes();
  if (!message.key_sha256().empty()) {
    if (message.key_sha256().size() != KeyPrint{}.size()) return malformed("a peer with a key's hash of another size");
    std::ranges::copy(as_bytes(message.key_sha256()), peer.key.emplace().begin());
  }
  return peer;
}

void fill(v1::Endpoint& out, const LaneEndpoint& endpoint) {
  out.set_address(endpoint.address);
  out.set_port(endpoint.port);
  out.set_tls(endpoint.tls);
  out.set_path(endpoint.path);
}

v1::AnnounceRequest to_message(const AnnounceRequest& request) {
  v1::AnnounceRequest out;
  out.set_content_id(request.content.str());
  out.set_version(request.version);
  switch (request.role) {
    case SwarmRole::kFetching:
      out.set_role(v1::AnnounceRequest::FETCHING);
      break;
    case SwarmRole::kSeeding:
      out.set_role(v1::AnnounceRequest::SEEDING);
      break;
    case SwarmRole::kPaused:
      out.set_role(v1::AnnounceRequest::PAUSED);
      break;
    case SwarmRole::kGone:
      out.set_role(v1::AnnounceRequest::GONE);
      break;
  }
  out.set_verified_bytes(request.verified_bytes);
  out.set_total_bytes(request.total_bytes);
  out.set_refused_lanes(request.refused_lanes);
  out.set_refused_handshakes(request.refused_handshakes);
  if (request.verified_age) out.set_verified_age_ms(static_cast<std::uint64_t>(request.verified_age->count()));
  for (const PeerTraffic& traffic : request.traffic) {
    v1::PeerTraffic& message = *out.add_traffic();
    // A nil id stands for foreign clients, which have no name.
    if (!traffic.node.is_nil()) message.set_node_id(traffic.node.str());
    message.set_received_bytes(traffic.received_bytes);
    message.set_sent_bytes(traffic.sent_bytes);
  }
  return out;
}

std::string_view task_state_name(TaskState state) {
  switch (state) {
    case TaskState::kQueued:
      return "queued";
    case TaskState::kDelivered:
      return "delivered";
    case TaskState::kRunning:
      return "running";
    case TaskState::kDone:
      return "done";
    case TaskState::kFailed:
      return "failed";
    case TaskState::kCancelled:
      return "cancelled";
    case TaskState::kUnsupported:
      return "unsupported";
  }
  return "unknown";
}

v1::ReportTaskRequest to_message(const TaskReport& report) {
  v1::ReportTaskRequest out;
  out.set_task_id(report.id.str());
  out.set_state(std::string(task_state_name(report.state)));
  out.set_done(report.done);
  out.set_total(report.total);
  out.set_result_json(report.result_json);
  if (report.state == TaskState::kFailed || report.state == TaskState::kUnsupported) {
    out.set_error_code(std::string(code_name(report.error.code)));
    const std::string& text = report.error.message;
    out.set_error_message(is_valid_utf8(text) ? text : escape_for_display(text));
  }
  return out;
}

}  // namespace gridtorrent::client::remote
