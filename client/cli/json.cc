#include "client/cli/json.h"

#include <algorithm>
#include <cmath>

#include "client/cli/wishes.h"
#include "common/codes.h"
#include "common/hex.h"
#include "common/text.h"

namespace gridtorrent::client::cli {

namespace {

template <class Strings>
Json string_array(const Strings& strings) {
  Json array = Json::array();
  for (const auto& text : strings) array.push_back(json_text(text));
  return array;
}

template <class Messages>
Json message_array(const Messages& messages) {
  Json array = Json::array();
  for (const auto& message : messages) array.push_back(to_json(message));
  return array;
}

std::string level_name(v1::Access::Level level) {
  if (level == v1::Access::PUBLIC) return "public";
  return level == v1::Access::SHARED ? "shared" : "private";
}

std::string reachability_name(v1::Reachability reachability) {
  if (reachability == v1::REACHABLE) return "reachable";
  return reachability == v1::UNREACHABLE ? "unreachable" : "unknown";
}

Json seconds_or_null(std::int64_t seconds) {
  return seconds < 0 ? Json() : Json(seconds);
}

double rounded(double seconds) {
  return std::round(seconds * 1000) / 1000;
}

}  // namespace

std::string json_text(std::string_view bytes) {
  return is_valid_utf8(bytes) ? std::string(bytes) : escape_for_display(bytes);
}

Json json_time(std::int64_t ms) {
  return ms == 0 ? Json() : Json(to_rfc3339({ms}));
}

std::string one_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string document(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

Json to_json(const v1::LaneStats& lane) {
  return {{"state", lane.state()},
          {"local", lane.local()},
          {"remote", lane.remote()},
          {"outgoing", lane.outgoing()},
          {"received_bytes", lane.received_bytes()},
          {"sent_bytes", lane.sent_bytes()},
          {"receive_bits_per_s", lane.receive_bits_per_s()},
          {"send_bits_per_s", lane.send_bits_per_s()},
          {"outstanding_blocks", lane.outstanding_blocks()},
          {"srtt_us", lane.srtt_us()},
          {"min_rtt_us", lane.min_rtt_us()},
          {"retransmits", lane.retransmits()},
          {"loss_events", lane.loss_events()},
          {"cwnd_segments", lane.cwnd_segments()},
          {"congestion_control", lane.congestion_control()}};
}

Json to_json(const v1::PeerStats& peer) {
  return {{"node", peer.node_id()},
          {"address", peer.address()},
          {"lanes", peer.lanes()},
          {"lanes_peak", peer.lanes_peak()},
          {"bits_per_s", peer.bits_per_s()},
          {"upload_bits_per_s", peer.upload_bits_per_s()},
          {"received_bytes", peer.received_bytes()},
          {"sent_bytes", peer.sent_bytes()},
          {"complete", peer.complete()},
          {"lane_stats", message_array(peer.lane_stats())}};
}

Json to_json(const v1::NodeEndpoint& endpoint) {
  return {{"address", endpoint.endpoint().address()},
          {"port", endpoint.endpoint().port()},
          {"tls", endpoint.endpoint().tls()},
          {"path", endpoint.endpoint().path()},
          {"reachability", reachability_name(endpoint.reachability())},
          {"declared", endpoint.declared()}};
}

Json to_json(const v1::Access& access) {
  return {{"level", level_name(access.level())},
          {"groups", string_array(access.groups())},
          {"users", string_array(access.users())},
          {"buddies", access.buddies()}};
}

Json to_json(const v1::Content& content) {
  return {{"content_id", content.content_id()},
          {"name", json_text(content.name())},
          {"owner", json_text(content.owner())},
          {"access", to_json(content.access())},
          {"bytes", content.bytes()},
          {"files", content.files()},
          {"base_name", json_text(content.base_name())},
          {"version", content.version()},
          {"newest_version", std::max(content.newest_version(), content.version())},
          {"revision", content.revision()},
          {"state", content.state()},
          {"description", json_text(content.description())},
          {"tags", string_array(content.tags())},
          {"license", json_text(content.license())},
          {"created", json_time(content.created_ms())},
          {"published", json_time(content.published_ms())},
          {"seeders", content.seeders()},
          {"leechers", content.leechers()},
          {"piece_bytes", content.piece_bytes()},
          {"metadata_bytes", content.metadata_bytes()},
          {"metadata_sha256", content.metadata_sha256()},
          {"has_checksums", content.has_checksums()}};
}

Json to_json(const v1::Version& version) {
  return {{"version", version.version()},
          {"published", json_time(version.published_ms())},
          {"bytes", version.bytes()},
          {"files", version.files()},
          {"base_name", json_text(version.base_name())},
          {"metadata_sha256", version.metadata_sha256()},
          {"seeders", version.seeders()},
          {"replicas", version.replicas()}};
}

Json to_json(const v1::Replica& replica) {
  return {{"node", replica.node_id()},
          {"node_name", json_text(replica.node_name())},
          {"owner", json_text(replica.owner())},
          {"verified_bytes", replica.verified_bytes()},
          {"complete", replica.complete()},
          {"online", replica.online()},
          {"served", replica.served()},
          {"verified", json_time(replica.verified_ms())},
          {"last_seen", json_time(replica.last_seen_ms())}};
}

Json to_json(const v1::Transfer& transfer) {
  Json json{{"transfer_id", transfer.transfer_id()},
            {"content_id", transfer.content_id()},
            {"version", transfer.version()},
            {"name", json_text(transfer.name())},
            {"owner", json_text(transfer.owner())},
            {"state", transfer.state()},
            {"verified_bytes", transfer.verified_bytes()},
            {"total_bytes", transfer.total_bytes()},
            {"payload_bits_per_s", transfer.payload_bits_per_s()},
            {"upload_bits_per_s", transfer.upload_bits_per_s()},
            {"lanes", transfer.lanes()},
            {"lanes_peak", transfer.lanes_peak()},
            {"seeders", transfer.seeders()},
            {"eta_s", seconds_or_null(transfer.eta_s())},
            {"path", json_text(transfer.path())},
            {"source", transfer.source()},
            {"received_bytes", transfer.received_bytes()},
            {"sent_bytes", transfer.sent_bytes()},
            {"redundant_bytes", transfer.redundant_bytes()},
            {"seconds", rounded(transfer.seconds())},
            {"priority", transfer.priority()},
            {"limit_bits_per_s", transfer.limit_bits_per_s()},
            {"lanes_wish", transfer.lanes_wish()},
            {"seeders_wish", transfer.seeders_wish()},
            {"plan_reason", json_text(transfer.plan_reason())},
            {"limit_word", transfer.limit_word()},
            {"limit_detail", json_text(transfer.limit_detail())},
            {"advice", json_text(transfer.advice())},
            {"created", json_time(transfer.created_ms())},
            {"fetched", json_time(transfer.fetched_ms())},
            {"seeds_later", transfer.seeds_later()},
            {"peers", message_array(transfer.peers())}};
  add_wish(json, transfer.wish());
  json["target"] = target_json(transfer);
  if (!transfer.message().empty()) json["message"] = json_text(transfer.message());
  if (!transfer.error_code().empty()) json["error_code"] = transfer.error_code();
  if (transfer.has_publish())
    json["publish"] = {{"phase", transfer.publish().phase()},
                       {"files", transfer.publish().files()},
                       {"bits_per_s", transfer.publish().bits_per_s()}};
  return json;
}

Json to_json(const v1::NodeLimits& limits) {
  const auto word = [](const std::string& held_by) { return held_by.empty() ? Json() : Json(json_text(held_by)); };
  return {{"upload_bits_per_s", limits.upload_bits_per_s()},
          {"download_bits_per_s", limits.download_bits_per_s()},
          {"upload_held_by", word(limits.upload_held_by())},
          {"download_held_by", word(limits.download_held_by())},
          {"until", json_time(limits.until_ms())}};
}

Json to_json(const v1::Node& node) {
  const auto roots = [&](const auto& names) { return node.has_roots() ? string_array(names) : Json(); };
  return {{"node_id", node.node_id()},
          {"name", json_text(node.name())},
          {"owner", json_text(node.owner())},
          {"online", node.online()},
          {"ephemeral", node.ephemeral()},
          {"created", json_time(node.created_ms())},
          {"last_seen", json_time(node.last_seen_ms())},
          {"program_version", json_text(node.program_version())},
          {"endpoints", message_array(node.endpoints())},
          {"share_roots", roots(node.roots().shares())},
          {"download_roots", roots(node.roots().downloads())},
          {"acked_sequence", node.acked_sequence()},
          {"last_sequence", node.last_sequence()}};
}

Json to_json(const v1::Task& task) {
  Json json{{"task_id", task.task_id()},
            {"node_id", task.node_id()},
            {"sequence", task.sequence()},
            {"kind", task.kind()},
            {"state", task.state()},
            {"created_by", json_text(task.created_by())},
            {"created", json_time(task.created_ms())},
            {"updated", json_time(task.updated_ms())},
            {"done", task.done()},
            {"total", task.total()}};
  Json result = Json::parse(task.result_json(), nullptr, false);
  if (!task.result_json().empty())
    json["result"] = result.is_discarded() ? Json(json_text(task.result_json())) : result;
  const v1::TaskWork& work = task.work();
  const v1::ChosenGetTask& chosen = work.has_version_get() ? work.version_get().get() : work.chosen_get();
  const v1::GetTask& get = work.has_get() ? work.get() : chosen.get();
  if (get.has_wish()) {
    Json wish = Json::object();
    add_wish(wish, get.wish());
    json["wish"] = std::move(wish);
  }
  if (task.result_bytes() > 0) json["result_bytes"] = task.result_bytes();
  if (!task.error_code().empty()) json["error_code"] = task.error_code();
  if (!task.error_message().empty()) json["message"] = json_text(task.error_message());
  return json;
}

Json to_json(const v1::User& user) {
  return {{"user_id", user.user_id()},
          {"name", json_text(user.name())},
          {"roles", string_array(user.roles())},
          {"disabled", user.disabled()},
          {"created", json_time(user.created_ms())}};
}

Json to_json(const v1::TokenInfo& token) {
  Json json = {{"token_id", token.token_id()},
               {"label", json_text(token.label())},
               {"kind", token.kind()},
               {"scopes", string_array(token.scopes())},
               {"created", json_time(token.created_ms())},
               {"expires", json_time(token.expires_ms())},
               {"last_used", json_time(token.last_used_ms())},
               {"revoked", token.revoked()}};
  if (token.kind() == "enroll" || token.kind() == "invite") json["uses_left"] = token.uses_left();
  return json;
}

Json to_json(const api::FileEntry& file) {
  Json json{{"index", file.index},   {"path", json_text(file.path)},
            {"folder", file.folder}, {"bytes", file.bytes},
            {"mode", file.mode},     {"mtime", to_rfc3339({file.mtime_ns / 1'000'000})}};
  if (!is_valid_utf8(file.path)) json["path_hex"] = hex_encode(as_bytes(file.path));
  if (!file.link_target.empty()) json["link"] = json_text(file.link_target);
  if (!file.merkle_root.empty()) json["merkle_root"] = file.merkle_root;
  if (!file.sha256.empty()) json["sha256"] = file.sha256;
  return json;
}

Json to_json(const v1::VerifyResult& result) {
  Json faults = Json::array();
  for (const auto& fault : result.faults())
    faults.push_back({{"path", json_text(fault.path())}, {"reason", json_text(fault.reason())}});
  Json json{{"content_id", result.content_id()}, {"name", json_text(result.name())},    {"files", result.files()},
            {"bytes", result.bytes()},           {"fault_count", result.fault_count()}, {"faults", std::move(faults)}};
  if (result.digests_size() > 0) {
    Json digests = Json::array();
    for (const auto& digest : result.digests())
      digests.push_back({{"path", json_text(digest.path())}, {"sha256", hex_encode(as_bytes(digest.sha256()))}});
    json["digests"] = std::move(digests);
  }
  return json;
}

Json event(std::string_view name, WallTime now) {
  return {{"event", std::string(name)}, {"time", to_rfc3339(now)}};
}

Json started_event(const v1::Transfer& transfer, WallTime now) {
  Json json = event("started", now);
  json["transfer_id"] = transfer.transfer_id();
  json["content_id"] = transfer.content_id();
  json["name"] = json_text(transfer.name());
  json["total_bytes"] = transfer.total_bytes();
  json["path"] = json_text(transfer.path());
  return json;
}

Json progress_event(const v1::Transfer& transfer, WallTime now) {
  Json json = event("progress", now);
  json["state"] = transfer.state();
  json["verified_bytes"] = transfer.verified_bytes();
  json["total_bytes"] = transfer.total_bytes();
  json["payload_bits_per_s"] = transfer.payload_bits_per_s();
  json["lanes"] = transfer.lanes();
  json["seeders"] = transfer.seeders();
  json["eta_s"] = seconds_or_null(transfer.eta_s());
  json["limit_word"] = transfer.limit_word();
  if (transfer.has_target()) json["target"] = to_json(transfer.target());
  if (!transfer.message().empty()) json["message"] = json_text(transfer.message());
  return json;
}

Json done_event(const v1::Transfer& transfer, WallTime now) {
  Json seeders = Json::array();
  for (const auto& peer : transfer.peers())
    if (peer.received_bytes() > 0)
      seeders.push_back({{"node", peer.node_id()},
                         {"bytes", peer.received_bytes()},
                         {"lanes", std::max(peer.lanes_peak(), peer.lanes())},
                         {"address", peer.address()}});
  const double seconds = transfer.seconds();
  const double bits = 8.0 * static_cast<double>(transfer.verified_bytes());
  Json json = event("done", now);
  json["transfer_id"] = transfer.transfer_id();
  json["content_id"] = transfer.content_id();
  json["state"] = transfer.state();
  json["verified_bytes"] = transfer.verified_bytes();
  json["seconds"] = rounded(seconds);
  json["bits_per_s"] = seconds > 0 ? static_cast<std::uint64_t>(bits / seconds) : 0;
  json["redundant_bytes"] = transfer.redundant_bytes();
  json["lanes_peak"] = transfer.lanes_peak();
  json["source"] = transfer.source();
  json["seeders"] = std::move(seeders);
  json["path"] = json_text(transfer.path());
  if (transfer.wish().by_ms() != 0 && transfer.fetched_ms() != 0) {
    json["by"] = json_time(transfer.wish().by_ms());
    json["in_time"] = transfer.fetched_ms() <= transfer.wish().by_ms();
  }
  return json;
}

Json failed_event(const Error& error, WallTime now) {
  Json json = event("failed", now);
  json["code"] = std::string(code_name(error.code));
  json["exit_code"] = static_cast<int>(exit_code(error.code));
  json["message"] = json_text(error.message);
  return json;
}

Json detached_event(std::string_view kind, const std::string& id, const Error& why, WallTime now) {
  Json json = event("detached", now);
  if (!id.empty()) json[std::string(kind) + "_id"] = id;
  json["exit_code"] = static_cast<int>(exit_code(why.code));
  json["message"] = json_text(why.message);
  return json;
}

Json hashing_event(const v1::PublishProgress& progress, WallTime now) {
  Json json = event("hashing", now);
  json["done_bytes"] = progress.done_bytes();
  json["total_bytes"] = progress.total_bytes();
  return json;
}

Json published_event(const v1::Published& published, const v1::Access& access, WallTime now) {
  Json json = event("published", now);
  json["content_id"] = published.content_id();
  json["name"] = json_text(published.name());
  json["bytes"] = published.bytes();
  json["files"] = published.files();
  json["access"] = to_json(access);
  json["seconds"] = rounded(published.seconds());
  json["skipped"] = published.skipped();
  json["transfer_id"] = published.transfer_id();
  json["version"] = published.version();
  if (published.version() > 1 || published.unchanged()) {
    json["unchanged_files"] = published.unchanged_files();
    json["unchanged_bytes"] = published.unchanged_bytes();
    json["read_bytes"] = published.read_bytes();
    json["unchanged"] = published.unchanged();
    if (!published.rules_as_before().empty()) json["rules_as_before"] = json_text(published.rules_as_before());
  }
  return json;
}

Json task_event(const v1::Task& task, WallTime now) {
  Json json = event("task", now);
  json.update(to_json(task));
  return json;
}

}  // namespace gridtorrent::client::cli
