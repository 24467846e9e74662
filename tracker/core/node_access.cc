#include "tracker/core/node_access.h"

#include <utility>

#include "common/text.h"

namespace gridtorrent::tracker {

namespace {

Error not_yours(std::string_view reference) {
  return {Code::kNotFound, "no node \"" + escape_for_display(reference.substr(0, 200)) +
                               "\" of yours; look with: gridtorrent node list"};
}

}  // namespace

Result<NodeRecord> own_node(Tx& tx, const UserId& owner, std::string_view reference) {
  const auto id = NodeId::parse(reference);
  GT_ASSIGN(auto node, id ? tx.nodes.by_id(*id) : tx.nodes.by_owner_and_name(owner, reference));
  if (!node || node->owner != owner) return not_yours(reference);
  return std::move(*node);
}

Result<NodeRecord> node_to_manage(Tx& tx, const ccm::Actor& actor, std::string_view reference) {
  if (!ccm::is_server_admin(actor)) return own_node(tx, actor.user, reference);
  const auto id = NodeId::parse(reference);
  const std::size_t slash = reference.find('/');
  if (!id && slash == std::string_view::npos) return own_node(tx, actor.user, reference);
  std::optional<NodeRecord> node;
  if (id) {
    GT_ASSIGN(node, tx.nodes.by_id(*id));
  } else {
    GT_ASSIGN(const auto owner, tx.users.by_name(reference.substr(0, slash)));
    if (!owner) return not_yours(reference);
    GT_ASSIGN(node, tx.nodes.by_owner_and_name(owner->id, reference.substr(slash + 1)));
  }
  if (!node) return not_yours(reference);
  return std::move(*node);
}

Result<NodeRecord> node_of(Tx& tx, const ccm::Actor& actor) {
  if (actor.node.is_nil()) {
    return Error{Code::kDenied, "only a node may do this, with its own credential; enrol one with: gridtorrentd"};
  }
  GT_ASSIGN(auto node, tx.nodes.by_id(actor.node));
  if (!node) {
    return Error{Code::kUnauthenticated, "node " + actor.node.str() +
                                             " is not enrolled any more; enrol it anew with a token from: gridtorrent "
                                             "node enroll-token"};
  }
  return std::move(*node);
}

}  // namespace gridtorrent::tracker
