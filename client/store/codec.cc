#include "client/store/codec.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/hex.h"

namespace gridtorrent::client::store {
namespace {

using Json = nlohmann::json;

template <class T, std::size_t N>
using Names = std::array<std::pair<T, std::string_view>, N>;

constexpr Names<TransferKind, 3> kKinds{
    {{TransferKind::kGet, "get"}, {TransferKind::kPublish, "publish"}, {TransferKind::kAttach, "attach"}}};
constexpr Names<TransferStep, 11> kSteps{{{TransferStep::kHash, "hash"},
                                          {TransferStep::kCheckLocal, "check_local"},
                                          {TransferStep::kPrepare, "prepare"},
                                          {TransferStep::kFetch, "fetch"},
                                          {TransferStep::kVerify, "verify"},
                                          {TransferStep::kCommit, "commit"},
                                          {TransferStep::kAttach, "attach"},
                                          {TransferStep::kHold, "hold"},
                                          {TransferStep::kCancel, "cancel"},
                                          {TransferStep::kFailed, "failed"},
                                          {TransferStep::kForgotten, "forgotten"}}};
constexpr Names<TaskState, 7> kTaskStates{{{TaskState::kQueued, "queued"},
                                           {TaskState::kDelivered, "delivered"},
                                           {TaskState::kRunning, "running"},
                                           {TaskState::kDone, "done"},
                                           {TaskState::kFailed, "failed"},
                                           {TaskState::kCancelled, "cancelled"},
                                           {TaskState::kUnsupported, "unsupported"}}};

template <class T, std::size_t N>
std::string_view name_in(const Names<T, N>& names, T value) {
  for (const auto& [one, name] : names) {
    if (one == value) return name;
  }
  GT_CHECK(false);
  return {};
}

Error corrupt(std::string_view what, std::string_view text) {
  return {Code::kCorrupt, "the node's database holds '" + std::string(text.substr(0, 60)) + "' as " +
                              std::string(what) + ", which this version does not know; restore a backup"};
}

template <class T, std::size_t N>
Result<T> value_in(const Names<T, N>& names, std::string_view text, std::string_view what) {
  for (const auto& [value, name] : names) {
    if (name == text) return value;
  }
  return corrupt(what, text);
}

/// Runs a decoder; whatever the JSON library throws is a damaged column.
template <class F>
auto guarded(const std::string& text, std::string_view what, F&& decode) -> decltype(decode(Json())) {
  try {
    return decode(Json::parse(text));
  } catch (const Json::exception&) {
    return corrupt(what, text);
  }
}

Json publish_json(const PublishRequest& request) {
  return {{"request_id", request.request_id}, {"name", request.name},
          {"access", request.access},         {"description", request.description},
          {"license", request.license},       {"tags", request.tags},
          {"update", request.update}};
}

PublishRequest publish_request(const Json& json) {
  PublishRequest request;
  request.request_id = json.at("request_id");
  request.name = json.at("name");
  request.access = json.at("access");
  request.description = json.at("description");
  request.license = json.at("license");
  request.tags = json.at("tags").get<std::vector<std::string>>();
  request.update = json.value("update", false);
  return request;
}

Json wish_json(const WishChange& wish) {
  Json json = Json::object();
  if (wish.tuner) json["tuner"] = *wish.tuner;
  if (wish.mode) json["mode"] = *wish.mode;
  if (wish.target_bits_per_s) json["target"] = *wish.target_bits_per_s;
  if (wish.floor_bits_per_s) json["floor"] = *wish.floor_bits_per_s;
  if (wish.by) json["by_ms"] = wish.by->ms;
  return json;
}

WishChange wish_change(const Json& json) {
  WishChange wish;
  if (json.contains("tuner")) wish.tuner = json["tuner"].get<std::string>();
  if (json.contains("mode")) wish.mode = json["mode"].get<std::string>();
  if (json.contains("target")) wish.target_bits_per_s = json["target"].get<std::uint64_t>();
  if (json.contains("floor")) wish.floor_bits_per_s = json["floor"].get<std::uint64_t>();
  if (json.contains("by_ms")) wish.by = WallTime{json["by_ms"].get<std::int64_t>()};
  return wish;
}

Json rules_json(const WalkRules& rules) {
  return {{"links", std::string(link_rule_name(rules.links))}, {"exclude", rules.exclude}, {"include", rules.include}};
}

/// Versions before there were rules wrote none.
Result<WalkRules> walk_rules(const Json& json) {
  WalkRules rules;
  GT_ASSIGN(rules.links, parse_link_rule(json.value("links", std::string())));
  rules.exclude = json.value("exclude", std::vector<std::string>());
  rules.include = json.value("include", std::vector<std::string>());
  return rules;
}

struct WorkEncoder {
  Json operator()(const PublishTask& task) const {
    return {{"kind", "publish"},     {"root_path", task.root_path},     {"publish", publish_json(task.publish)},
            {"strict", task.strict}, {"rules", rules_json(task.rules)}, {"as_before", task.as_before}};
  }
  Json operator()(const GetTask& task) const {
    return {{"kind", "get"},
            {"content", task.content},
            {"root_path", task.root_path},
            {"globs", task.globs},
            {"lanes", task.lanes},
            {"seeders", task.seeders},
            {"limit", task.rate_limit_bits_per_s},
            {"priority", task.priority},
            {"refetch", task.refetch},
            {"wish", wish_json(task.wish)},
            {"base_name", task.base_name},
            {"if_seeded", task.if_seeded},
            {"version", task.version},
            {"update", task.update}};
  }
  Json operator()(const SeedTask& task) const {
    return {{"kind", "seed"}, {"content", task.content}, {"root_path", task.root_path}};
  }
  Json operator()(const StopSeedingTask& task) const {
    return {{"kind", "stop_seeding"}, {"content", task.content.str()}};
  }
  Json operator()(const ListFolderTask& task) const { return {{"kind", "list_folder"}, {"root_path", task.root_path}}; }
  Json operator()(const TransferCommandTask& task) const {
    return {{"kind", "transfer"}, {"transfer", task.transfer_id}, {"command", task.command}};
  }
  Json operator()(const UnknownTask& task) const { return {{"kind", "unknown"}, {"name", task.kind}}; }
};

}  // namespace

std::string_view kind_name(TransferKind kind) {
  return name_in(kKinds, kind);
}
Result<TransferKind> parse_kind(std::string_view text) {
  return value_in(kKinds, text, "a kind of transfer");
}
std::string_view step_name(TransferStep step) {
  return name_in(kSteps, step);
}
Result<TransferStep> parse_step(std::string_view text) {
  return value_in(kSteps, text, "a transfer's step");
}
std::string_view task_state_name(TaskState state) {
  return name_in(kTaskStates, state);
}
Result<TaskState> parse_task_state(std::string_view text) {
  return value_in(kTaskStates, text, "a task's state");
}

Result<Code> parse_code(std::string_view text) {
  for (int i = 0; i <= static_cast<int>(Code::kInternal); ++i) {
    if (code_name(static_cast<Code>(i)) == text) return static_cast<Code>(i);
  }
  return corrupt("an error's code", text);
}

std::string encode_globs(const std::vector<std::string>& globs) {
  Json list = Json::array();
  for (const auto& glob : globs) list.push_back(hex_encode(as_bytes(glob)));  // need not be UTF-8
  return list.dump();
}

Result<std::vector<std::string>> decode_globs(const std::string& text) {
  return guarded(text, "a selection of files", [&](const Json& json) -> Result<std::vector<std::string>> {
    std::vector<std::string> globs;
    for (const auto& one : json) {
      const auto bytes = hex_decode(one.get<std::string>());
      if (!bytes) return corrupt("a selection of files", text);
      globs.push_back(*bytes);
    }
    return globs;
  });
}

std::string encode_entries(const std::vector<bool>& entries) {
  std::string bits((entries.size() + 7) / 8, '\0');
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i]) bits[i / 8] = static_cast<char>(static_cast<std::uint8_t>(bits[i / 8]) | (0x80U >> (i % 8)));
  }
  while (!bits.empty() && bits.back() == '\0') bits.pop_back();
  return hex_encode(as_bytes(bits));
}

Result<std::vector<bool>> decode_entries(const std::string& text) {
  const auto bits = hex_decode(text);
  if (!bits) return corrupt("a selection of entries", text);
  std::vector<bool> entries(bits->size() * 8);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i] = (static_cast<std::uint8_t>((*bits)[i / 8]) & (0x80U >> (i % 8))) != 0;
  }
  return entries;
}

std::string encode_peers(const std::vector<PeerTotals>& peers) {
  Json list = Json::array();
  for (const auto& peer : peers) {
    list.push_back({peer.node.str(), peer.received_bytes, peer.sent_bytes, peer.lanes_peak});
  }
  return list.dump();
}

Result<std::vector<PeerTotals>> decode_peers(const std::string& text) {
  return guarded(text, "a list of peers", [&](const Json& json) -> Result<std::vector<PeerTotals>> {
    std::vector<PeerTotals> peers;
    for (const auto& one : json) {
      PeerTotals totals;
      GT_ASSIGN(totals.node, NodeId::parse(one.at(0).get<std::string>()));
      totals.received_bytes = one.at(1);
      totals.sent_bytes = one.at(2);
      totals.lanes_peak = one.at(3);
      peers.push_back(totals);
    }
    return peers;
  });
}

namespace {
constexpr std::size_t kMemberBytes = sizeof(KeyPrint) + sizeof(NodeId::Bytes);
constexpr std::size_t kInodeBytes = 8;
}  // namespace

std::string encode_inodes(const std::vector<std::uint64_t>& inodes) {
  std::string bytes;
  bytes.reserve(inodes.size() * kInodeBytes);
  for (const std::uint64_t inode : inodes)
    for (unsigned shift = 0; shift < 8 * kInodeBytes; shift += 8) bytes += static_cast<char>(inode >> shift & 0xFF);
  return bytes;
}

Result<std::vector<std::uint64_t>> decode_inodes(std::string_view bytes) {
  if (bytes.size() % kInodeBytes != 0) return Error{Code::kCorrupt, "a list of inodes that is cut off"};
  std::vector<std::uint64_t> inodes(bytes.size() / kInodeBytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::uint64_t byte = static_cast<unsigned char>(bytes[i]);
    inodes[i / kInodeBytes] |= byte << (i % kInodeBytes * 8);
  }
  return inodes;
}

std::string encode_members(const Audience& members) {
  std::string bytes;
  bytes.reserve(members.size() * kMemberBytes);
  for (const auto& [print, node] : members) {
    bytes += as_chars(print);
    bytes += as_chars(node.bytes());
  }
  return bytes;
}

Result<Audience> decode_members(std::string_view bytes) {
  if (bytes.size() % kMemberBytes != 0) return Error{Code::kCorrupt, "the node's database holds a damaged list"};
  Audience members;
  for (; !bytes.empty(); bytes.remove_prefix(kMemberBytes)) {
    KeyPrint print{};
    NodeId::Bytes node{};
    std::ranges::copy(as_bytes(bytes.substr(0, print.size())), print.begin());
    std::ranges::copy(as_bytes(bytes.substr(print.size(), node.size())), node.begin());
    members[print] = NodeId(node);
  }
  return members;
}

std::string encode_content(const ContentInfo& content) {
  return Json{{"id", content.id.is_nil() ? "" : content.id.str()},
              {"name", content.name},
              {"owner", content.owner},
              {"version", content.version},
              {"access_level", content.access_level},
              {"bytes", content.bytes},
              {"files", content.files},
              {"metadata_sha256", content.metadata_sha256},
              {"generation", content.generation},
              {"ca_pem", content.ca_pem},
              {"withdrawn", content.withdrawn},
              {"access", content.access}}
      .dump();
}

Result<ContentInfo> decode_content(const std::string& text) {
  return guarded(text, "a content", [](const Json& json) -> Result<ContentInfo> {
    ContentInfo content;
    if (const std::string id = json.at("id"); !id.empty()) {
      GT_ASSIGN(content.id, ContentId::parse(id));
    }
    content.name = json.at("name");
    content.owner = json.at("owner");
    content.version = json.at("version");
    content.access_level = json.at("access_level");
    content.bytes = json.at("bytes");
    content.files = json.at("files");
    content.metadata_sha256 = json.at("metadata_sha256");
    content.generation = json.at("generation");
    content.ca_pem = json.at("ca_pem");
    content.withdrawn = json.at("withdrawn");
    content.access = json.value("access", std::string());
    return content;
  });
}

std::string encode_lasting(const std::optional<PublishRow::Lasting>& lasting) {
  if (!lasting) return {};
  Json json{{"description", lasting->description},
            {"license", lasting->license},
            {"tags", lasting->tags},
            {"strict", lasting->strict},
            {"warnings", lasting->warnings},
            {"rules", rules_json(lasting->rules)},
            {"unchanged_files", lasting->unchanged_files},
            {"unchanged_bytes", lasting->unchanged_bytes},
            {"read_bytes", lasting->read_bytes},
            {"unchanged", lasting->unchanged}};
  if (lasting->as_before) json["as_before"] = *lasting->as_before;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<std::optional<PublishRow::Lasting>> decode_lasting(const std::string& text) {
  using Lasting = std::optional<PublishRow::Lasting>;
  if (text.empty()) return Lasting();
  return guarded(text, "a publish", [](const Json& json) -> Result<Lasting> {
    GT_ASSIGN(WalkRules rules, walk_rules(json.value("rules", Json::object())));
    std::optional<bool> as_before;  // versions before there was this wrote none
    if (json.contains("as_before")) as_before = json.at("as_before").get<bool>();
    return Lasting({json.at("description"), json.at("license"), json.at("tags").get<std::vector<std::string>>(),
                    json.at("strict"), json.at("warnings").get<std::vector<std::string>>(), std::move(rules),
                    json.value("unchanged_files", std::uint64_t{0}), json.value("unchanged_bytes", std::uint64_t{0}),
                    json.value("read_bytes", std::uint64_t{0}), json.value("unchanged", false), as_before});
  });
}

/// Patterns are bytes: one that came back otherwise would no longer leave out what it means.
std::string encode_rules(const WalkRules& rules) {
  return Json{{"links", std::string(link_rule_name(rules.links))},
              {"exclude", encode_globs(rules.exclude)},
              {"include", encode_globs(rules.include)}}
      .dump();
}

Result<WalkRules> decode_rules(const std::string& text) {
  return guarded(text, "rules to publish by", [](const Json& json) -> Result<WalkRules> {
    WalkRules rules;
    GT_ASSIGN(rules.links, parse_link_rule(json.at("links").get<std::string>()));
    GT_ASSIGN(rules.exclude, decode_globs(json.at("exclude").get<std::string>()));
    GT_ASSIGN(rules.include, decode_globs(json.at("include").get<std::string>()));
    return rules;
  });
}

std::string encode_work(const Task& task) {
  return std::visit(WorkEncoder{}, task.work).dump(-1, ' ', false, Json::error_handler_t::replace);
}

Status decode_work(const std::string& text, Task& task) {
  return guarded(text, "a task", [&](const Json& json) -> Status {
    const std::string kind = json.at("kind");
    if (kind == "publish") {
      GT_ASSIGN(WalkRules rules, walk_rules(json.value("rules", Json::object())));
      task.work = PublishTask{json.at("root_path"), publish_request(json.at("publish")), json.at("strict"),
                              std::move(rules), json.value("as_before", false)};
    } else if (kind == "get") {
      GetTask get;
      get.content = json.at("content");
      get.root_path = json.at("root_path");
      get.globs = json.at("globs").get<std::vector<std::string>>();
      get.lanes = json.at("lanes");
      get.seeders = json.at("seeders");
      get.rate_limit_bits_per_s = json.at("limit");
      get.priority = json.at("priority");
      get.refetch = json.at("refetch");
      // Versions before this one wrote none of these.
      get.wish = wish_change(json.value("wish", Json::object()));
      get.base_name = json.value("base_name", "");
      get.if_seeded = json.value("if_seeded", false);
      get.version = json.value("version", std::uint32_t{0});
      get.update = json.value("update", false);
      task.work = get;
    } else if (kind == "seed") {
      task.work = SeedTask{json.at("content"), json.at("root_path")};
    } else if (kind == "stop_seeding") {
      GT_ASSIGN(const ContentId content, ContentId::parse(json.at("content").get<std::string>()));
      task.work = StopSeedingTask{content};
    } else if (kind == "list_folder") {
      task.work = ListFolderTask{json.at("root_path")};
    } else if (kind == "transfer") {
      task.work = TransferCommandTask{json.at("transfer"), json.at("command")};
    } else if (kind == "unknown") {
      task.work = UnknownTask{json.at("name")};
    } else {
      return corrupt("a task", text);
    }
    return {};
  });
}

}  // namespace gridtorrent::client::store
