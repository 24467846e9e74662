#include "client/cli/node_names.h"

#include <algorithm>
#include <set>

namespace gridtorrent::client::cli {

namespace {

/// A name is worth no longer wait.
constexpr std::chrono::milliseconds kNamesDeadline{500};
constexpr std::chrono::seconds kAskAgain{10};
/// A server that was slow is not asked for so long: whoever looks on would wait for it each time.
constexpr std::chrono::minutes kSilence{1};
constexpr std::string_view kBase32 = "abcdefghijklmnopqrstuvwxyz234567";
constexpr std::size_t kIdCharacters = 26;  ///< after its "n_"
constexpr std::size_t kMostNames = 1000;

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
}

bool names_a_node(std::string_view text) {
  for (std::size_t at = 0; (at = text.find("n_", at)) != std::string_view::npos; at += 2) {
    const std::string_view id = text.substr(at + 2, kIdCharacters);
    if (id.size() == kIdCharacters && id.find_first_not_of(kBase32) == std::string_view::npos) return true;
  }
  return false;
}

NodeNames unique_names(NodeNames names) {
  std::map<std::string, int> bearers;
  for (const auto& [id, name] : names) ++bearers[name];
  std::erase_if(names, [&](const auto& one) { return one.second.empty() || bearers[one.second] > 1; });
  return names;
}

void note(NodeNames& names, const std::vector<v1::Replica>& replicas) {
  for (const v1::Replica& replica : replicas) names[replica.node_id()] = replica.node_name();
}

void note(NodeNames& names, const std::vector<v1::Node>& nodes) {
  for (const v1::Node& node : nodes) names[node.node_id()] = node.name();
}

/// Null where it is not to be asked for names, or is not the node's.
api::ServerApi* server_for_names(Context& c, api::NodeApi& node) {
  if (c.options.flag("ids")) return nullptr;
  const auto status = node.status();
  const auto login = c.known_login();
  if (!status || !status->server_connected() || !login || login->server != status->server()) return nullptr;
  const auto server = c.server_of_login(kNamesDeadline);
  return server ? *server : nullptr;
}

std::set<std::string> seeders_of(const v1::History& history) {
  std::set<std::string> seeders;
  for (const v1::RememberedPath& path : history.paths()) seeders.insert(path.node_id());
  return seeders;
}

std::set<std::string> contents_of(api::NodeApi& node) {
  std::set<std::string> contents;
  if (const auto list = node.list_transfers())
    for (const v1::Transfer& transfer : list->transfers()) contents.insert(transfer.content_id());
  return contents;
}

}  // namespace

NodeNames node_names(const std::vector<v1::Replica>& replicas) {
  NodeNames names;
  note(names, replicas);
  return unique_names(std::move(names));
}

NodeNames node_names(const std::vector<v1::Node>& nodes) {
  NodeNames names;
  note(names, nodes);
  return unique_names(std::move(names));
}

const std::string& name_or_id(const NodeNames& names, const std::string& id) {
  const auto found = names.find(id);
  return found == names.end() ? id : found->second;
}

v1::Tuning named(v1::Tuning tuning, const NodeNames& names) {
  for (const auto& [id, name] : names) {
    replace_all(*tuning.mutable_limit_detail(), id, name);
    replace_all(*tuning.mutable_advice(), id, name);
    for (auto& decision : *tuning.mutable_decisions()) replace_all(*decision.mutable_text(), id, name);
  }
  for (auto& source : *tuning.mutable_sources()) source.set_node_id(name_or_id(names, source.node_id()));
  return tuning;
}

v1::Transfer named(v1::Transfer transfer, const NodeNames& names) {
  for (const auto& [id, name] : names) {
    for (std::string* text : {transfer.mutable_message(), transfer.mutable_limit_detail(), transfer.mutable_advice(),
                              transfer.mutable_plan_reason()})
      replace_all(*text, id, name);
  }
  for (auto& peer : *transfer.mutable_peers()) peer.set_node_id(name_or_id(names, peer.node_id()));
  return transfer;
}

bool names_nodes(const v1::Transfer& transfer) {
  return transfer.peers_size() > 0 || names_a_node(transfer.message());
}

v1::Task named(v1::Task task, const NodeNames& names) {
  task.set_node_id(name_or_id(names, task.node_id()));
  return task;
}

v1::History named(v1::History history, const NodeNames& names) {
  for (auto& path : *history.mutable_paths()) path.set_node_id(name_or_id(names, path.node_id()));
  return history;
}

NodeNames names_for_content(Context& c, api::NodeApi& node, const std::string& content) {
  api::ServerApi* const server = server_for_names(c, node);
  if (server == nullptr) return {};
  const auto found = server->contents().get(content);
  if (!found) return {};
  const auto replicas = server->contents().list_replicas(found->content_id(), kMostNames);
  return replicas ? node_names(replicas->items) : NodeNames();
}

const NodeNames& NamesInMessages::names_of(const std::string& content, MonoTime until) {
  const MonoTime now = context_.clock.mono();
  Known& known = known_[content];
  const bool rests = known.asked && now - *known.asked < kAskAgain;
  if (rests || now >= until || (silent_until_ && now < *silent_until_)) return known.names;
  known.asked = now;
  const auto node = context_.node();
  if (!node) return known.names;
  NodeNames names = names_for_content(context_, **node, content);
  if (!names.empty()) known.names = std::move(names);
  const MonoTime answered = context_.clock.mono();
  if (answered - now >= kNamesDeadline) silent_until_ = answered + kSilence;
  return known.names;
}

v1::Transfer NamesInMessages::named(const v1::Transfer& transfer, MonoTime until) {
  if (!names_a_node(transfer.message())) return transfer;
  return cli::named(transfer, names_of(transfer.content_id(), until));
}

v1::Transfer NamesInMessages::named(const v1::Transfer& transfer) {
  return named(transfer, context_.clock.mono() + kNamesDeadline);
}

std::vector<v1::Transfer> NamesInMessages::named(const google::protobuf::RepeatedPtrField<v1::Transfer>& transfers) {
  const MonoTime until = context_.clock.mono() + kNamesDeadline;
  std::vector<v1::Transfer> all;
  for (const v1::Transfer& transfer : transfers) all.push_back(named(transfer, until));
  return all;
}

NodeNames names_for_history(Context& c, api::NodeApi& node, const v1::History& history) {
  const std::set<std::string> seeders = seeders_of(history);
  api::ServerApi* const server = seeders.empty() ? nullptr : server_for_names(c, node);
  if (server == nullptr) return {};
  NodeNames names;
  const auto all_named = [&] {
    return std::ranges::all_of(seeders, [&](const std::string& id) { return names.contains(id); });
  };
  const MonoTime until = c.clock.mono() + kNamesDeadline;
  if (const auto own = server->nodes().list(kMostNames)) note(names, own->items);
  for (const std::string& content : contents_of(node)) {
    if (all_named() || c.clock.mono() >= until) break;
    if (const auto replicas = server->contents().list_replicas(content, kMostNames)) note(names, replicas->items);
  }
  return unique_names(std::move(names));
}

std::vector<v1::Node> own_nodes(Context& c, api::NodeApi& node) {
  api::ServerApi* const server = server_for_names(c, node);
  if (server == nullptr) return {};
  auto nodes = server->nodes().list(kMostNames);
  return nodes ? std::move(nodes->items) : std::vector<v1::Node>();
}

NodeNames names_of_own_nodes(Context& c, api::ServerApi& server) {
  if (c.options.flag("ids")) return {};
  const auto nodes = server.nodes().list(kMostNames);
  return nodes ? node_names(nodes->items) : NodeNames();
}

}  // namespace gridtorrent::client::cli
