#include "client/core/result_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/text.h"

namespace gridtorrent::client {
namespace {

using Json = nlohmann::ordered_json;

double seconds_of(std::chrono::milliseconds time) {
  return static_cast<double>(time.count()) / 1000.0;
}

constexpr std::size_t kMostWarnings = 100;

/// As text that JSON can hold.
Json shown(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(is_valid_utf8(text) ? text : escape_for_display(text));
  return list;
}

}  // namespace

std::string done_json(const TransferView& view, WallTime now) {
  Json seeders = Json::array();
  for (const auto& peer : view.peers) {
    if (peer.received_bytes == 0) continue;
    seeders.push_back({{"node", peer.node.is_nil() ? std::string("foreign") : peer.node.str()},
                       {"bytes", peer.received_bytes},
                       {"lanes", peer.lanes_peak},
                       {"address", peer.address}});
  }
  const double seconds = seconds_of(view.fetch_time);
  const auto rate = seconds > 0 ? static_cast<double>(view.verified_bytes) * 8 / seconds : 0.0;
  Json event{{"event", "done"},
             {"time", to_rfc3339(now)},
             {"transfer_id", view.id.str()},
             {"content_id", view.content.str()},
             {"name", view.name},
             {"owner", view.owner},
             {"state", std::string(transfer_state_name(view.state))},
             {"verified_bytes", view.verified_bytes},
             {"seconds", seconds},
             {"bits_per_s", static_cast<std::uint64_t>(rate)},
             {"redundant_bytes", view.redundant_bytes},
             {"lanes_peak", view.lanes_peak},
             {"source", view.source},
             {"seeders", seeders},
             {"path", escape_for_display(view.path)}};
  if (!view.unmatched.empty()) event["unmatched"] = shown(view.unmatched);
  if (view.wish.by && view.fetched != WallTime{}) {
    event["by"] = to_rfc3339(*view.wish.by);
    event["in_time"] = view.fetched <= *view.wish.by;
  }
  return event.dump();
}

/// Targets as text, which the command line reads: this room knows no others.
Json access_json(const ContentInfo& content) {
  if (content.access_level == "shared") return content.access;
  return {{"level", content.access_level}, {"groups", Json::array()}, {"users", Json::array()}, {"buddies", false}};
}

std::string published_json(const PublishOutcome& outcome, WallTime now) {
  Json event{{"event", "published"},
             {"time", to_rfc3339(now)},
             {"content_id", outcome.content.id.str()},
             {"name", outcome.content.name},
             {"bytes", outcome.content.bytes},
             {"files", outcome.content.files},
             {"access", access_json(outcome.content)},
             {"seconds", seconds_of(outcome.elapsed)},
             {"skipped", outcome.skipped},
             {"transfer_id", outcome.transfer.str()},
             {"version", outcome.content.version}};
  if (!outcome.warnings.empty()) {
    const std::size_t told = std::min(outcome.warnings.size(), kMostWarnings);
    event["warnings"] = shown({outcome.warnings.begin(), outcome.warnings.begin() + static_cast<std::ptrdiff_t>(told)});
  }
  if (outcome.content.version > 1 || outcome.unchanged) {
    event["unchanged_files"] = outcome.unchanged_files;
    event["unchanged_bytes"] = outcome.unchanged_bytes;
    event["read_bytes"] = outcome.read_bytes;
    event["unchanged"] = outcome.unchanged;
    if (!outcome.rules_as_before.empty()) event["rules_as_before"] = outcome.rules_as_before;
  }
  return event.dump();
}

std::string folder_json(const std::string& root_path, const std::vector<FolderEntry>& entries) {
  Json list = Json::array();
  for (const auto& entry : entries) {
    const bool folder = entry.kind == metainfo::EntryKind::kFolder;
    Json one{{"name", escape_for_display(entry.name)}, {"kind", folder ? "folder" : "file"}};
    if (!folder) one["bytes"] = entry.size;
    list.push_back(std::move(one));
  }
  return Json{{"path", escape_for_display(root_path)}, {"entries", list}}.dump();
}

std::string transfer_json(const TransferView& view) {
  return Json{{"transfer_id", view.id.str()},          {"content_id", view.content.str()},
              {"name", view.owner + "/" + view.name},  {"state", std::string(transfer_state_name(view.state))},
              {"verified_bytes", view.verified_bytes}, {"total_bytes", view.total_bytes}}
      .dump();
}

}  // namespace gridtorrent::client
