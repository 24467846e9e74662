#include "client/cli/stepping_stone.h"

#include <algorithm>
#include <tuple>

#include "common/shell_words.h"
#include "common/text.h"

namespace gridtorrent::client::cli {

namespace {

bool can_be_dialled(const v1::Node& node) {
  return node.online() && std::ranges::any_of(node.endpoints(), [](const v1::NodeEndpoint& endpoint) {
           return endpoint.reachability() == v1::REACHABLE;
         });
}

/// An older node does not tell.
bool has_room_for_tasks(const v1::Node& node) {
  return !node.has_roots() || !node.roots().downloads().empty();
}

}  // namespace

std::string stepping_stone(const std::vector<v1::Node>& own, const std::string& content) {
  const v1::Node* first = nullptr;
  const auto rank = [](const v1::Node& node) { return std::tuple(!has_room_for_tasks(node), node.name()); };
  for (const v1::Node& node : own)
    if (can_be_dialled(node) && (first == nullptr || rank(node) < rank(*first))) first = &node;
  if (first == nullptr) return "";
  const std::string line = "or by way of " + escape_for_display(first->name()) +
                           ", a node of yours that both can dial: gridtorrent get --node " + shell_word(first->name()) +
                           " " + shell_arguments({content}) + " fetches it there, and it comes here from there";
  if (has_room_for_tasks(*first)) return line;
  return line + "; it needs a folder for that first, there: gridtorrent node set download-root=in=DIR";
}

}  // namespace gridtorrent::client::cli
