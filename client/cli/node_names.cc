#include "client/cli/node_names.h"

namespace gridtorrent::client::cli {

namespace {

/// A name is worth no longer wait.
constexpr std::chrono::milliseconds kNamesDeadline{500};
constexpr std::size_t kMostNames = 1000;

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
}

NodeNames unique_names(const std::vector<std::pair<std::string, std::string>>& nodes) {
  NodeNames names;
  std::map<std::string, int> bearers;
  for (const auto& [id, name] : nodes) {
    if (name.empty()) continue;
    names[id] = name;
    ++bearers[name];
  }
  std::erase_if(names, [&](const auto& one) { return bearers[one.second] > 1; });
  return names;
}

}  // namespace

NodeNames node_names(const std::vector<v1::Replica>& replicas) {
  std::vector<std::pair<std::string, std::string>> nodes;
  for (const v1::Replica& replica : replicas) nodes.emplace_back(replica.node_id(), replica.node_name());
  return unique_names(nodes);
}

NodeNames node_names(const std::vector<v1::Node>& nodes) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const v1::Node& node : nodes) pairs.emplace_back(node.node_id(), node.name());
  return unique_names(pairs);
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

v1::Task named(v1::Task task, const NodeNames& names) {
  task.set_node_id(name_or_id(names, task.node_id()));
  return task;
}

NodeNames names_for_content(Context& c, api::NodeApi& node, const std::string& content) {
  if (c.options.flag("ids")) return {};
  const auto status = node.status();
  const auto login = c.known_login();
  if (!status || !status->server_connected() || !login || login->server != status->server()) return {};
  const auto server = c.server(kNamesDeadline);
  if (!server) return {};
  const auto found = (*server)->contents().get(content);
  if (!found) return {};
  const auto replicas = (*server)->contents().list_replicas(found->content_id(), kMostNames);
  return replicas ? node_names(replicas->items) : NodeNames();
}

NodeNames names_of_own_nodes(Context& c, api::ServerApi& server) {
  if (c.options.flag("ids")) return {};
  const auto nodes = server.nodes().list(kMostNames);
  return nodes ? node_names(nodes->items) : NodeNames();
}

}  // namespace gridtorrent::client::cli
