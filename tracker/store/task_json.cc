#include "tracker/store/task_json.h"

#include <nlohmann/json.hpp>

#include "tracker/store/columns.h"

namespace gridtorrent::tracker::store {

using Json = nlohmann::json;

namespace {

// One table a kind: each field is named once, for both ways.
template <class V>
void fields(V& visit, PublishTask& t) {
  visit("root_path", t.root_path);
  visit("name", t.name);
  visit("access", t.access);
  visit("description", t.description);
  visit("license", t.license);
  visit("tags", t.tags);
  visit("strict", t.strict);
  visit("request_id", t.request_id);
  visit("links", t.links);
  visit("exclude", t.exclude);
  visit("include", t.include);
  visit("update", t.update);
}
template <class V>
void fields(V& visit, GetTask& t) {
  visit("content", t.content);
  visit("root_path", t.root_path);
  visit("globs", t.globs);
  visit("lanes", t.lanes);
  visit("seeders", t.seeders);
  visit("limit_bits_per_s", t.limit_bits_per_s);
  visit("priority", t.priority);
  visit("refetch", t.refetch);
  visit("tuner", t.tuner);
  visit("mode", t.mode);
  visit("target_bits_per_s", t.target_bits_per_s);
  visit("floor_bits_per_s", t.floor_bits_per_s);
  visit("by_ms", t.by_ms);
  visit("base_name", t.base_name);
  visit("if_seeded", t.if_seeded);
  visit("version", t.version);
  visit("update", t.update);
}
template <class V>
void fields(V& visit, SeedTask& t) {
  visit("content", t.content);
  visit("root_path", t.root_path);
}
template <class V>
void fields(V& visit, StopSeedingTask& t) {
  visit("content", t.content);
}
template <class V>
void fields(V& visit, ListFolderTask& t) {
  visit("root_path", t.root_path);
}
template <class V>
void fields(V& visit, TransferTask& t) {
  visit("transfer_id", t.transfer_id);
  visit("command", t.command);
}

struct Writer {
  Json& json;
  template <class T>
  void operator()(const char* name, T& value) {
    json[name] = value;
  }
};
struct Reader {
  const Json& json;
  template <class T>
  void operator()(const char* name, T& value) {
    if (json.contains(name)) value = json.at(name).get<T>();
  }
};

template <class T>
TaskWork read_as(const Json& json) {
  T task;
  Reader reader{json};
  fields(reader, task);
  return task;
}

/// The alternative whose kind this is, or nothing.
template <class... T>
std::optional<TaskWork> read_kind(const Json& json, const std::string& kind, std::variant<T...>*) {
  std::optional<TaskWork> found;
  ((task_kind(TaskWork(T{})) == kind ? static_cast<void>(found = read_as<T>(json)) : static_cast<void>(0)), ...);
  return found;
}

}  // namespace

std::string work_to_json(const TaskWork& work) {
  Json json = {{"kind", std::string(task_kind(work))}};
  TaskWork copy = work;
  Writer writer{json};
  std::visit([&writer](auto& task) { fields(writer, task); }, copy);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<TaskWork> work_from_json(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    auto work = read_kind(json, json.at("kind").get<std::string>(), static_cast<TaskWork*>(nullptr));
    if (work) return std::move(*work);
  } catch (const Json::exception&) {
    return damaged("a task");
  }
  return damaged("a task of an unknown kind");
}

std::string list_to_text(const std::vector<std::string>& list) {
  return Json(list).dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<std::vector<std::string>> list_from_text(const std::string& text) {
  try {
    return Json::parse(text).get<std::vector<std::string>>();
  } catch (const Json::exception&) {
    return damaged("a list");
  }
}

}  // namespace gridtorrent::tracker::store
