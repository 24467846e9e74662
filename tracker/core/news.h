#pragma once

#include <set>
#include <vector>

#include "ccm/domain/ports.h"
#include "tracker/core/audiences.h"
#include "tracker/core/hub.h"
#include "tracker/core/swarms.h"

namespace gridtorrent::tracker {

/// Carries what the use cases changed to the nodes that it concerns. Thread-safe.
class NodeNews final : public ccm::NodeWaker {
 public:
  NodeNews(NodeHub& hub, const Swarms& swarms, Audiences& audiences)
      : hub_(hub), swarms_(swarms), audiences_(audiences) {}
  void tasks_waiting(const NodeId& node) override { hub_.tasks_waiting(node); }
  void content_changed(const ContentId& content, const std::vector<NodeId>& holders) override {
    std::set<NodeId> nodes(holders.begin(), holders.end());
    for (const NodeId& node : swarms_.members(content)) nodes.insert(node);
    for (const NodeId& node : nodes) hub_.push(node, ContentChanged{content});
  }
  void person_changed(const UserId& person) override { audiences_.ring(person); }
  void membership_changed(const GroupId& group, const UserId& person) override { audiences_.ring(group, person); }
  void buddy_changed(const UserId& owner, const UserId& buddy) override { audiences_.ring(owner, buddy); }

 private:
  NodeHub& hub_;
  const Swarms& swarms_;
  Audiences& audiences_;
};

}  // namespace gridtorrent::tracker
