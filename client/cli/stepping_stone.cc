#include "client/cli/stepping_stone.h"

#include <algorithm>

#include "common/shell_words.h"
#include "common/text.h"

namespace gridtorrent::client::cli {

namespace {

bool can_be_dialled(const v1::Node& node) {
  return node.online() && std::ranges::any_of(node.endpoints(), [](const v1::NodeEndpoint& endpoint) {
           return endpoint.reachability() == v1::REACHABLE;
         });
}

}  // namespace

std::string stepping_stone(const std::vector<v1::Node>& own, const std::string& content) {
  const v1::Node* first = nullptr;
  for (const v1::Node& node : own)
    if (can_be_dialled(node) && (first == nullptr || node.name() < first->name())) first = &node;
  if (first == nullptr) return "";
  return "or by way of " + escape_for_display(first->name()) +
         ", a node of yours that both can dial: gridtorrent get --node " + shell_word(first->name()) + " " +
         shell_arguments({content}) + " fetches it there, and it comes here from there";
}

}  // namespace gridtorrent::client::cli
