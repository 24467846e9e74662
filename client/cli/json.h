#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "client/api/node/node_api.h"
#include "client/api/server/server_api.h"
#include "common/clock.h"

/// The JSON of docs/interfaces.md, made from what server and node answer. Pure functions. Keys keep their order; a time
/// that is not known is null.
namespace gridtorrent::client::cli {

using Json = nlohmann::ordered_json;

/// Text that is valid UTF-8 as it is, and any other bytes escaped for display.
std::string json_text(std::string_view bytes);
/// RFC 3339, or null for 0.
Json json_time(std::int64_t ms);
/// One line without spaces, as for NDJSON.
std::string one_line(const Json& json);
/// For a list or show command: indented.
std::string document(const Json& json);

/// A member of what others wrote: `otherwise` where it is missing or of another kind, or `json` is no object.
template <class T>
T member(const Json& json, const std::string& name, T otherwise) {
  const auto found = json.find(name);
  return found != json.end() && found->type() == Json(otherwise).type() ? found->get<T>() : otherwise;
}

Json to_json(const v1::Access& access);
Json to_json(const v1::Content& content);
Json to_json(const v1::Version& version);
Json to_json(const v1::Replica& replica);
Json to_json(const v1::Transfer& transfer);
Json to_json(const v1::NodeLimits& limits);
Json to_json(const v1::PeerStats& peer);
Json to_json(const v1::LaneStats& lane);
Json to_json(const v1::Node& node);
Json to_json(const v1::NodeEndpoint& endpoint);
Json to_json(const v1::Task& task);
Json to_json(const v1::User& user);
Json to_json(const v1::TokenInfo& token);
Json to_json(const api::FileEntry& file);
Json to_json(const v1::VerifyResult& result);

// Events of commands that take time; `now` becomes "time".
Json event(std::string_view name, WallTime now);
Json started_event(const v1::Transfer& transfer, WallTime now);
Json progress_event(const v1::Transfer& transfer, WallTime now);
Json done_event(const v1::Transfer& transfer, WallTime now);
Json failed_event(const Error& error, WallTime now);
/// Ctrl-C: the work goes on without this command. `kind` is "transfer" or "task".
Json detached_event(std::string_view kind, const std::string& id, const Error& why, WallTime now);
Json hashing_event(const v1::PublishProgress& progress, WallTime now);
Json published_event(const v1::Published& published, const v1::Access& access, WallTime now);
Json task_event(const v1::Task& task, WallTime now);

}  // namespace gridtorrent::client::cli
