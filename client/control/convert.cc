#include "client/control/convert.h"

#include <algorithm>
#include <ranges>

#include "client/plan/controller.h"
#include "common/text.h"

namespace gridtorrent::client::control {
namespace {

constexpr int kMaxSeeders = 1000;

std::string wish_text(int wish) {
  return wish == 0 ? "auto" : std::to_string(wish);
}

std::string_view lane_state_name(LaneState state) {
  switch (state) {
    case LaneState::kConnecting:
      return "connecting";
    case LaneState::kHandshake:
      return "handshake";
    case LaneState::kOpen:
      return "open";
    case LaneState::kClosing:
      return "closing";
  }
  return "unknown";
}

v1::Reachability to_message(Reachability reachability) {
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

void fill(v1::LaneStats& out, const LaneSnapshot& lane) {
  out.set_state(std::string(lane_state_name(lane.state)));
  out.set_local(lane.local);
  out.set_remote(lane.remote);
  out.set_outgoing(lane.outgoing);
  out.set_received_bytes(lane.received_bytes);
  out.set_sent_bytes(lane.sent_bytes);
  out.set_receive_bits_per_s(lane.receive_bits_per_s);
  out.set_send_bits_per_s(lane.send_bits_per_s);
  out.set_outstanding_blocks(lane.outstanding_blocks);
  const TcpFigures tcp = lane.of_sender();
  out.set_srtt_us(tcp.srtt_us);
  out.set_min_rtt_us(tcp.min_rtt_us);
  out.set_retransmits(tcp.retransmits);
  out.set_loss_events(tcp.loss_events);
  out.set_cwnd_segments(tcp.cwnd_segments);
  out.set_congestion_control(tcp.congestion_control);
}

void fill(v1::PeerStats& out, const PeerSnapshot& peer) {
  out.set_node_id(peer.node.is_nil() ? std::string() : peer.node.str());
  out.set_address(peer.address);
  out.set_lanes(static_cast<std::uint32_t>(peer.lanes.size()));
  out.set_bits_per_s(peer.receive_bits_per_s);
  out.set_upload_bits_per_s(peer.send_bits_per_s);
  out.set_received_bytes(peer.received_bytes);
  out.set_sent_bytes(peer.sent_bytes);
  out.set_complete(peer.complete);
  out.set_lanes_peak(static_cast<std::uint32_t>(std::max(peer.lanes_peak, 0)));
  for (const LaneSnapshot& lane : peer.lanes) fill(*out.add_lane_stats(), lane);
}

void fill(v1::TuningWish& out, const TuningWish& wish) {
  if (!wish.tuner.empty()) out.set_tuner(wish.tuner);
  if (wish.mode) out.set_mode(std::string(mode_name(*wish.mode)));
  if (wish.target_bits_per_s > 0) out.set_target_bits_per_s(wish.target_bits_per_s);
  if (wish.floor_bits_per_s > 0) out.set_floor_bits_per_s(wish.floor_bits_per_s);
  if (wish.by) out.set_by_ms(wish.by->ms);
}

Result<WishChange> to_change(const v1::TuningWish& wish, WallTime now) {
  WishChange change;
  if (wish.has_tuner()) change.tuner = wish.tuner();
  if (wish.has_mode()) change.mode = wish.mode();
  if (wish.has_target_bits_per_s()) change.target_bits_per_s = wish.target_bits_per_s();
  if (wish.has_floor_bits_per_s()) change.floor_bits_per_s = wish.floor_bits_per_s();
  if (wish.has_by_ms()) change.by = WallTime{wish.by_ms()};
  if (wish.by_ms() != 0) GT_TRY(check_deadline(*change.by, now));
  return change;
}

void fill(v1::Transfer& out, const Findings& findings) {
  out.set_limit_word(std::string(limit_word(findings.limit)));
  out.set_limit_detail(findings.detail);
  const Advice& advice = findings.advice;
  out.set_advice(advice.text + (advice.command.empty() ? "" : ": " + advice.command));
  if (findings.target) *out.mutable_target() = control::to_message(*findings.target);
}

void fill(v1::PublishState& out, const PublishState& state) {
  out.set_request_id(state.request_id);
  out.set_phase(std::string(publish_phase_name(state.phase)));
  out.set_files(state.files);
  out.set_bits_per_s(state.bits_per_s);
}

void fill_root(v1::Root& out, const NamedRoot& root) {
  out.set_name(root.name);
  out.set_path(root.path);
}

// Protobuf's `string` must be UTF-8; what came from files or foreign clients need not be.
std::string clean(const std::string& text) {
  return is_valid_utf8(text) ? text : escape_for_display(text);
}

double seconds(std::chrono::milliseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

Status check_range(std::string_view what, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value >= low && value <= high) return {};
  return Error{Code::kInvalid, std::string(what) + " " + std::to_string(value) + " is not between " +
                                   std::to_string(low) + " and " + std::to_string(high)};
}

}  // namespace

v1::Transfer to_message(const TransferView& view) {
  v1::Transfer out;
  out.set_transfer_id(view.id.str());
  if (!view.content.is_nil()) out.set_content_id(view.content.str());
  out.set_name(view.name);
  out.set_owner(view.owner);
  out.set_version(view.version);
  out.set_state(std::string(transfer_state_name(view.state)));
  out.set_verified_bytes(view.verified_bytes);
  out.set_total_bytes(view.total_bytes);
  out.set_payload_bits_per_s(view.receive_bits_per_s);
  out.set_upload_bits_per_s(view.send_bits_per_s);
  out.set_lanes(static_cast<std::uint32_t>(std::max(view.lanes, 0)));
  out.set_lanes_peak(static_cast<std::uint32_t>(std::max(view.lanes_peak, 0)));
  out.set_seeders(static_cast<std::uint32_t>(std::max(view.seeders, 0)));
  out.set_eta_s(view.eta ? view.eta->count() : -1);
  out.set_path(view.path);
  for (const PeerSnapshot& peer : view.peers) fill(*out.add_peers(), peer);
  if (view.error) {
    out.set_error_code(std::string(code_name(view.error->code)));
    out.set_message(clean(view.error->message));
  } else {
    out.set_message(clean(view.waiting_for));
  }
  out.set_redundant_bytes(view.redundant_bytes);
  out.set_received_bytes(view.received_bytes);
  out.set_sent_bytes(view.sent_bytes);
  out.set_seconds(seconds(view.fetch_time));
  out.set_source(view.source);
  out.set_priority(view.priority);
  out.set_limit_bits_per_s(view.limit_bits_per_s);
  out.set_lanes_wish(wish_text(view.lanes_wish));
  out.set_seeders_wish(wish_text(view.seeders_wish));
  out.set_plan_reason(clean(view.plan_reason));
  if (view.publishing) fill(*out.mutable_publish(), *view.publishing);
  if (view.publishing) fill(*out.mutable_publish(), *view.publishing);
  if (view.findings) fill(out, *view.findings);
  out.set_created_ms(view.created.ms);
  if (view.wish != TuningWish{}) fill(*out.mutable_wish(), view.wish);
  out.set_fetched_ms(view.fetched.ms);
  out.set_seeds_later(view.seeds_later);
  return out;
}

v1::ListTunersReply to_message(const TuningDefaults& tuning) {
  v1::ListTunersReply out;
  for (const TunerChoice& choice : kTuners) {
    v1::Tuner& tuner = *out.add_tuners();
    tuner.set_name(std::string(choice.name));
    tuner.set_help(std::string(choice.help));
    if (choice.heeds.mode) tuner.add_heeds("mode");
    if (choice.heeds.target) tuner.add_heeds("target");
    if (choice.heeds.floor) tuner.add_heeds("floor");
    if (choice.heeds.deadline) tuner.add_heeds("deadline");
  }
  for (const TuningMode mode : kTuningModes) out.add_modes(std::string(mode_name(mode)));
  out.set_tuner(tuning.tuner);
  out.set_mode(std::string(mode_name(tuning.mode)));
  return out;
}

v1::TargetState to_message(const TargetState& state) {
  v1::TargetState out;
  out.set_kind(std::string(target_kind_name(state.kind)));
  out.set_held(state.held);
  out.set_wanted_bits_per_s(static_cast<std::uint64_t>(std::clamp(state.wanted_bits_per_s, 0.0, 1e15)));
  out.set_shortfall(state.shortfall);
  out.set_text(state.text);
  return out;
}

v1::NodeLimits to_message(const NodeLimits& limits, const LimitsWhy& why) {
  v1::NodeLimits out;
  out.set_upload_bits_per_s(limits.send_bits_per_s);
  out.set_download_bits_per_s(limits.receive_bits_per_s);
  out.set_upload_held_by(why.send);
  out.set_download_held_by(why.receive);
  if (why.until) out.set_until_ms(why.until->ms);
  return out;
}

void fill(v1::StatusReply& reply, const NodeStatus& status) {
  reply.set_node_id(status.node.str());
  *reply.mutable_limits() = to_message(status.limits, status.limits_why);
  for (const char* known : {"get.base_name", "get.if_seeded", "get.version", "get.update", "publish.update"})
    reply.add_knows(known);
  reply.set_node_name(status.node_name);
  reply.set_owner_id(status.owner_id.str());
  reply.set_owner(status.owner);
  reply.set_server(status.server);
  reply.set_server_connected(status.server_connected);
  reply.set_server_error(clean(status.server_error));
  reply.set_clock_offset_ms(status.clock_offset.count());
  for (const auto& [endpoint, reachability] : status.listeners) {
    v1::NodeListener& listener = *reply.add_listeners();
    listener.mutable_endpoint()->set_address(endpoint.address);
    listener.mutable_endpoint()->set_port(endpoint.port);
    listener.mutable_endpoint()->set_tls(endpoint.tls);
    listener.mutable_endpoint()->set_path(endpoint.path);
    listener.set_reachability(to_message(reachability));
  }
  reply.set_data_dir(clean(status.data_dir));
  reply.set_data_dir_free_bytes(status.data_dir_space.free_bytes);
  for (const NamedRoot& root : status.share_roots) fill_root(*reply.add_share_roots(), root);
  for (const NamedRoot& root : status.download_roots) fill_root(*reply.add_download_roots(), root);
  reply.set_credential_expires_ms(status.credential_expires.ms);
}

v1::Settings to_message(const std::vector<Setting>& settings) {
  v1::Settings out;
  for (const Setting& setting : settings) {
    v1::Setting& message = *out.add_settings();
    message.set_name(setting.name);
    for (const std::string& value : setting.values) message.add_values(clean(value));
    for (const std::string& value : setting.configured) message.add_configured(clean(value));
    message.set_source(setting.source);
    message.set_changeable(setting.changeable);
    message.set_repeatable(setting.repeatable);
    message.set_placeholder(setting.placeholder);
    message.set_help(setting.help);
    for (const std::string& choice : setting.choices) message.add_choices(choice);
  }
  return out;
}

std::vector<SettingChange> to_changes(const v1::SetSettingsRequest& request) {
  std::vector<SettingChange> changes;
  for (const v1::SettingChange& change : request.changes()) {
    changes.push_back({change.name(), {change.values().begin(), change.values().end()}, change.reset()});
  }
  return changes;
}

v1::ChangeTransfersReply to_message(const ChangeOutcome& outcome) {
  constexpr std::size_t kShown = 100;
  v1::ChangeTransfersReply out;
  out.set_changed(outcome.changed);
  out.set_failed(outcome.failures.size());
  for (const auto& [id, error] : outcome.failures | std::views::take(kShown)) {
    v1::TransferFailure& failure = *out.add_failures();
    failure.set_transfer_id(id.str());
    failure.set_error_code(std::string(code_name(error.code)));
    failure.set_message(clean(error.message));
  }
  return out;
}

v1::RemoveFilesReply to_message(const RemovedFiles& removed) {
  v1::RemoveFilesReply out;
  out.set_files(removed.files);
  out.set_bytes(removed.bytes);
  out.set_kept(removed.kept);
  out.set_first_kept(removed.first_kept);
  return out;
}

v1::Published to_message(const PublishOutcome& outcome) {
  v1::Published out;
  out.set_content_id(outcome.content.id.str());
  out.set_name(outcome.content.name);
  out.set_bytes(outcome.content.bytes);
  out.set_files(outcome.content.files);
  out.set_access(outcome.content.access.empty() ? outcome.content.access_level : outcome.content.access);
  out.set_seconds(seconds(outcome.elapsed));
  out.set_skipped(outcome.skipped);
  out.set_transfer_id(outcome.transfer.str());
  out.set_version(outcome.content.version);
  out.set_unchanged_files(outcome.unchanged_files);
  out.set_unchanged_bytes(outcome.unchanged_bytes);
  out.set_read_bytes(outcome.read_bytes);
  out.set_unchanged(outcome.unchanged);
  out.set_rules_as_before(outcome.rules_as_before);
  return out;
}

v1::VerifyResult to_message(const VerifyOutcome& outcome) {
  v1::VerifyResult out;
  out.set_files(outcome.report.files);
  out.set_bytes(outcome.report.bytes);
  out.set_fault_count(outcome.report.fault_count);
  for (const EntryFault& fault : outcome.report.faults) {
    v1::VerifyFault& message = *out.add_faults();
    message.set_path(fault.path);
    message.set_reason(clean(fault.reason));
  }
  if (!outcome.content.is_nil()) out.set_content_id(outcome.content.str());
  out.set_name(outcome.name);
  for (const auto& [path, digest] : outcome.digests) {
    v1::FileDigest& message = *out.add_digests();
    message.set_path(path);
    message.set_sha256(digest.data(), digest.size());
  }
  return out;
}

v1::ScannedFiles to_message(const ScanFigures& figures) {
  v1::ScannedFiles out;
  out.set_files(figures.files);
  out.set_bytes(figures.bytes);
  out.set_skipped(figures.skipped);
  out.set_links(figures.links);
  out.set_excluded(figures.excluded);
  return out;
}

v1::ScannedFiles to_message(const ScannedTree& tree) {
  v1::ScannedFiles out = to_message(tree.figures);
  for (const std::string& warning : tree.warnings) out.add_warnings(clean(warning));
  for (const std::string& exclusion : tree.excluded) out.add_exclusions(clean(exclusion));
  for (const std::string& link : tree.followed) out.add_followed(clean(link));
  out.set_name(clean(tree.base_name));
  out.set_rules_as_before(tree.rules_as_before);
  return out;
}

Result<WalkRules> to_rules(const v1::PublishRules& rules) {
  WalkRules out;
  GT_ASSIGN(out.links, parse_link_rule(rules.links()));
  out.exclude.assign(rules.exclude().begin(), rules.exclude().end());
  out.include.assign(rules.include().begin(), rules.include().end());
  return out;
}

namespace {
Status check_update(const v1::PublishRequest& request) {
  const bool describes = !request.name().empty() || !request.access().empty() || !request.description().empty() ||
                         !request.license().empty() || request.tags_size() > 0;
  if (!describes) return {};
  return Error{Code::kInvalid,
               "a new version keeps the content's name, access and description; leave them out with --update"};
}
}  // namespace

Result<PublishJob> to_job(const v1::PublishRequest& request) {
  GT_TRY(check_absolute("the path to publish", request.path()));
  const bool update = !request.update().empty();
  if (update) GT_TRY(check_update(request));
  if (!update && request.name().empty()) return Error{Code::kInvalid, "publishing needs a name: --name NAME"};
  if (request.request_id().empty()) return Error{Code::kInvalid, "the publish request has no request_id"};
  PublishJob job;
  job.path = request.path();
  job.strict = request.strict();
  GT_ASSIGN(job.rules, to_rules(request.rules()));
  job.as_before = update && (request.as_before() || !request.has_rules());
  job.request.request_id = request.request_id();
  job.request.name = update ? request.update() : request.name();
  job.request.update = update;
  job.request.access = request.access();
  job.request.description = request.description();
  job.request.license = request.license();
  job.request.tags.assign(request.tags().begin(), request.tags().end());
  return job;
}

Result<GetJob> to_job(const v1::GetRequest& request, WallTime now) {
  if (request.content().empty()) return Error{Code::kInvalid, "no content was named"};
  if (!request.update() || !request.to().empty()) GT_TRY(check_absolute("the folder to put it in", request.to()));
  GT_TRY(check_range("lanes", request.lanes(), 0, kMaxLanesPerPeer));
  GT_TRY(check_range("seeders", request.seeders(), 0, kMaxSeeders));
  GetJob job;
  GT_ASSIGN(job.wish, to_change(request.wish(), now));
  job.content = request.content();
  job.target = request.to();
  job.globs.assign(request.globs().begin(), request.globs().end());
  job.lanes = request.lanes();
  job.seeders = request.seeders();
  job.limit_bits_per_s = request.limit_bits_per_s();
  job.priority = request.priority();
  job.refetch = request.refetch();
  job.allow_hidden = request.allow_hidden();
  job.base_name = request.base_name();
  job.if_seeded = request.if_seeded();
  if (request.has_folder_mode()) job.folder_mode = request.folder_mode() & 0777U;
  job.version = request.version();
  job.update = request.update();
  return job;
}

Result<EstimateJob> to_job(const v1::EstimateRequest& request) {
  if (request.content().empty()) return Error{Code::kInvalid, "no content was named"};
  GT_TRY(check_absolute("the folder to put it in", request.to()));
  EstimateJob job;
  job.content = request.content();
  job.target = request.to();
  while (job.target.size() > 1 && job.target.ends_with('/')) job.target.pop_back();
  job.globs.assign(request.globs().begin(), request.globs().end());
  job.may_probe = !request.no_probe();
  return job;
}

FileChoice to_choice(const v1::ChooseFilesRequest& request) {
  return {{request.globs().begin(), request.globs().end()}, {request.entries().begin(), request.entries().end()}};
}

Result<TransferSettings> to_settings(const v1::SetTransferRequest& request, WallTime now) {
  TransferSettings settings;
  GT_ASSIGN(settings.wish, to_change(request.wish(), now));
  if (request.has_lanes()) {
    GT_TRY(check_range("lanes", request.lanes(), 0, kMaxLanesPerPeer));
    settings.lanes = request.lanes();
  }
  if (request.has_seeders()) {
    GT_TRY(check_range("seeders", request.seeders(), 0, kMaxSeeders));
    settings.seeders = request.seeders();
  }
  if (request.has_limit_bits_per_s()) settings.limit_bits_per_s = request.limit_bits_per_s();
  if (request.has_priority()) settings.priority = request.priority();
  return settings;
}

Result<std::vector<TransferId>> to_ids(const v1::ChangeTransfersRequest& request) {
  const auto named = static_cast<std::size_t>(request.transfer_ids_size());
  if (named == 0) return Error{Code::kInvalid, "no transfer was named"};
  if (named > kMostChanges) {
    return Error{Code::kInvalid, std::to_string(named) + " transfers were named: at most " +
                                     std::to_string(kMostChanges) + " are changed in one call"};
  }
  std::vector<TransferId> ids;
  ids.reserve(named);
  for (const std::string& text : request.transfer_ids()) {
    GT_ASSIGN(const TransferId id, TransferId::parse(text));
    ids.push_back(id);
  }
  return ids;
}

Result<TransferChange> to_change(const v1::ChangeTransfersRequest& request, WallTime now) {
  const std::string& step = request.step();
  if (step == "pause") return TransferChange{ChangeKind::kPause};
  if (step == "resume") return TransferChange{ChangeKind::kResume};
  if (step == "cancel") return TransferChange{ChangeKind::kCancel};
  if (step == "stop-seeding") return TransferChange{ChangeKind::kStopSeeding};
  if (step == "forget") return TransferChange{ChangeKind::kForget};
  if (step == "verify") return TransferChange{ChangeKind::kVerify};
  if (step != "set") {
    return Error{Code::kInvalid,
                 "'" + escape_for_display(step) +
                     "' is no step for transfers: give pause, resume, cancel, stop-seeding, forget, verify or set"};
  }
  TransferChange change{ChangeKind::kSet};
  GT_ASSIGN(change.settings, to_settings(request.settings(), now));
  return change;
}

Status check_absolute(std::string_view what, std::string_view path) {
  if (path.empty()) return Error{Code::kInvalid, "no " + std::string(what) + " was given"};
  if (path.front() != '/') {
    return Error{Code::kInvalid, std::string(what) + " " + escape_for_display(path) + " is not absolute"};
  }
  if (path.find('\0') != std::string_view::npos) {
    return Error{Code::kInvalid, std::string(what) + " " + escape_for_display(path) + " holds a NUL"};
  }
  return {};
}

bool is_final(TransferState state) {
  switch (state) {
    case TransferState::kSeeding:
    case TransferState::kComplete:
    case TransferState::kFailed:
    case TransferState::kCancelled:
      return true;
    case TransferState::kQueued:
    case TransferState::kHashing:
    case TransferState::kFetching:
    case TransferState::kVerifying:
    case TransferState::kPaused:
      return false;
  }
  return false;
}

}  // namespace gridtorrent::client::control
