#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/rng.h"
#include "tests/support/memory_state.h"

namespace gridtorrent::testing_support {

// A MemoryStore's tables of nodes, their tasks and the authorities of their certificates.

class Nodes final : public tracker::NodeStore {
 public:
  explicit Nodes(MemoryState& state) : s_(state) {}
  Status insert(const tracker::NodeRecord& node) override {
    for (const auto& [id, other] : s_.nodes) {
      const bool same_name = other.owner == node.owner && other.name == node.name;
      if (same_name || other.public_key == node.public_key) return Error{Code::kConflict, "node enrolled already"};
    }
    s_.nodes.emplace(node.id, node);
    return {};
  }
  Result<std::optional<tracker::NodeRecord>> by_id(const NodeId& id) override {
    return first([&](const auto& node) { return node.id == id; });
  }
  Result<std::optional<tracker::NodeRecord>> by_owner_and_name(const UserId& owner, std::string_view name) override {
    return first([&](const auto& node) { return node.owner == owner && node.name == name; });
  }
  Result<std::optional<tracker::NodeRecord>> by_public_key(std::string_view der) override {
    return first([&](const auto& node) { return node.public_key == der; });
  }
  Result<std::vector<std::pair<NodeId, std::string>>> keys_of(const std::vector<UserId>& owners,
                                                              WallTime now) override {
    std::vector<std::pair<NodeId, std::string>> keys;
    for (const auto& [id, node] : s_.nodes) {
      const auto is_good = [&](const auto& token) { return token.second.node == id && token.second.is_good(now); };
      const bool has_credential = std::any_of(s_.tokens.begin(), s_.tokens.end(), is_good);
      const bool is_theirs = std::find(owners.begin(), owners.end(), node.owner) != owners.end();
      if (is_theirs && has_credential) keys.emplace_back(id, node.public_key);
    }
    return keys;
  }
  Result<std::vector<tracker::NodeRecord>> of_owner(const UserId& owner, std::string_view after,
                                                    std::size_t limit) override {
    std::vector<tracker::NodeRecord> own;
    for (const auto& [id, node] : s_.nodes) {
      if (node.owner == owner && node.name > after) own.push_back(named(node));
    }
    std::sort(own.begin(), own.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    cut(own, limit);
    return own;
  }
  Result<std::vector<NodeId>> ids_of_owner(const UserId& owner, std::size_t limit) override {
    std::vector<NodeId> ids;
    for (const auto& [id, node] : s_.nodes) {
      if (node.owner == owner) ids.push_back(id);
    }
    cut(ids, limit);
    return ids;
  }
  Status set_endpoints(const NodeId& id, const std::vector<tracker::NodeEndpoint>& endpoints) override {
    s_.nodes.at(id).endpoints = endpoints;
    return {};
  }
  Status set_roots(const NodeId& id, const tracker::NodeRoots& roots) override {
    s_.nodes.at(id).roots = roots;
    return {};
  }
  Status set_seen(const NodeId& id, WallTime now, std::string_view program_version) override {
    const auto found = s_.nodes.find(id);
    if (found == s_.nodes.end()) return {};
    tracker::NodeRecord& node = found->second;
    node.last_seen = now;
    if (!program_version.empty()) node.program_version = std::string(program_version);
    return {};
  }
  Status set_name(const NodeId& id, std::string_view name) override {
    tracker::NodeRecord& node = s_.nodes.at(id);
    const auto other = first([&](const auto& one) { return one.owner == node.owner && one.name == name; });
    if (other.ok() && *other && (*other)->id != id) return Error{Code::kConflict, "that name is taken"};
    node.name = std::string(name);
    return {};
  }
  Result<std::vector<NodeId>> stale_ephemeral(WallTime before, std::size_t limit) override {
    std::vector<std::pair<WallTime, NodeId>> stale;
    for (const auto& [id, node] : s_.nodes) {
      if (node.ephemeral && node.last_seen < before) stale.emplace_back(node.last_seen, id);
    }
    std::sort(stale.begin(), stale.end());
    cut(stale, limit);
    std::vector<NodeId> ids;
    for (const auto& [seen, id] : stale) ids.push_back(id);
    return ids;
  }
  Status remove(const NodeId& id) override {
    s_.nodes.erase(id);
    std::erase_if(s_.tasks, [&](const auto& entry) { return entry.second.node == id; });
    std::erase_if(s_.replicas, [&](const auto& entry) { return entry.second.node == id; });
    return {};
  }

 private:
  tracker::NodeRecord named(tracker::NodeRecord node) const {
    node.owner_name = s_.user_name(node.owner);
    return node;
  }
  template <class F>
  Result<std::optional<tracker::NodeRecord>> first(F&& matches) {
    for (const auto& [id, node] : s_.nodes) {
      if (matches(node)) return std::optional<tracker::NodeRecord>(named(node));
    }
    return std::optional<tracker::NodeRecord>();
  }
  MemoryState& s_;
};

class Tasks final : public tracker::TaskStore {
 public:
  explicit Tasks(MemoryState& state) : s_(state) {}
  Result<std::uint64_t> append(const tracker::Task& task) override {
    const auto node = s_.nodes.find(task.node);
    if (node == s_.nodes.end()) return Error{Code::kNotFound, "no node"};
    tracker::Task kept = task;
    kept.sequence = ++node->second.last_sequence;
    kept.created_by_name.clear();
    s_.tasks.emplace(kept.id, kept);
    return kept.sequence;
  }
  Status update(const tracker::Task& task) override {
    tracker::Task& kept = s_.tasks.at(task.id);
    tracker::Task next = task;
    next.work = kept.work;
    next.sequence = kept.sequence;
    kept = next;
    return {};
  }
  Result<std::optional<tracker::Task>> by_id(const TaskId& id) override {
    const auto found = s_.tasks.find(id);
    if (found == s_.tasks.end()) return std::optional<tracker::Task>();
    return std::optional<tracker::Task>(named(found->second));
  }
  Result<std::vector<tracker::Task>> pending(const NodeId& node, std::uint64_t cursor, std::size_t limit) override {
    auto found = where([&](const auto& t) { return t.node == node && !has_ended(t.state) && t.sequence > cursor; });
    cut(found, limit);
    return found;
  }
  Result<std::vector<tracker::Task>> queued_up_to(const NodeId& node, std::uint64_t sequence) override {
    return where([&](const auto& t) {
      return t.node == node && t.state == tracker::TaskState::kQueued && t.sequence <= sequence;
    });
  }
  Result<std::vector<TaskId>> cancel_requested(const NodeId& node) override {
    std::vector<TaskId> ids;
    for (const auto& t : where(
             [&](const auto& task) { return task.node == node && task.cancel_requested && !has_ended(task.state); })) {
      ids.push_back(t.id);
    }
    return ids;
  }
  Result<std::vector<tracker::Task>> of_node(const NodeId& node, bool include_ended, std::uint64_t below,
                                             std::size_t limit) override {
    auto found = where([&](const auto& t) {
      return t.node == node && (include_ended || !has_ended(t.state)) && (below == 0 || t.sequence < below);
    });
    std::reverse(found.begin(), found.end());
    cut(found, limit);
    return listed(std::move(found));
  }
  Result<std::vector<tracker::Task>> of_owner(const UserId& owner, bool include_ended,
                                              const std::optional<tracker::TaskPlace>& after,
                                              std::size_t limit) override {
    const auto place = [](const auto& t) { return std::pair(t.created, t.id.str()); };
    auto found = where([&](const auto& t) {
      return s_.nodes.at(t.node).owner == owner && (include_ended || !has_ended(t.state)) &&
             (!after || place(t) < std::pair(after->created, after->id.str()));
    });
    std::sort(found.begin(), found.end(), [&](const auto& a, const auto& b) { return place(a) > place(b); });
    cut(found, limit);
    return listed(std::move(found));
  }
  Status set_acked(const NodeId& node, std::uint64_t sequence) override {
    auto& acked = s_.nodes.at(node).acked_sequence;
    acked = std::max(acked, sequence);
    return {};
  }
  Result<std::vector<tracker::Task>> queued_since(WallTime before, std::size_t limit) override {
    auto found = where([&](const auto& t) { return t.state == tracker::TaskState::kQueued && t.created < before; });
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.created < b.created; });
    cut(found, limit);
    return found;
  }
  Status prune(WallTime before) override {
    std::erase_if(s_.tasks,
                  [&](const auto& entry) { return has_ended(entry.second.state) && entry.second.updated < before; });
    return {};
  }
  Result<bool> forget_first_ended(const UserId& created_by) override {
    auto first = s_.tasks.end();
    for (auto it = s_.tasks.begin(); it != s_.tasks.end(); ++it) {
      const tracker::Task& task = it->second;
      if (task.created_by != created_by || task.by_server || !has_ended(task.state)) continue;
      if (first == s_.tasks.end() || task.updated < first->second.updated) first = it;
    }
    if (first == s_.tasks.end()) return false;
    s_.tasks.erase(first);
    return true;
  }

 private:
  static std::vector<tracker::Task> listed(std::vector<tracker::Task> tasks) {
    for (tracker::Task& task : tasks) {
      if (task.result_json.size() <= tracker::kMaxListedResultBytes) continue;
      task.result_bytes = task.result_json.size();
      task.result_json.clear();
    }
    return tasks;
  }
  tracker::Task named(tracker::Task task) const {
    task.created_by_name = s_.user_name(task.created_by);
    return task;
  }
  template <class F>
  std::vector<tracker::Task> where(F&& matches) const {
    std::vector<tracker::Task> found;
    for (const auto& [id, task] : s_.tasks) {
      if (matches(task)) found.push_back(named(task));
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.sequence < b.sequence; });
    return found;
  }
  MemoryState& s_;
};

class Effects final : public ccm::NodeEffects {
 public:
  Effects(MemoryState& state, tracker::TaskStore& tasks, Rng& rng) : s_(state), tasks_(tasks), rng_(rng) {}
  Result<std::uint64_t> count_nodes(const UserId& owner) override {
    std::uint64_t count = 0;
    for (const auto& [id, node] : s_.nodes) count += node.owner == owner ? 1U : 0U;
    return count;
  }
  Result<bool> has_node(const NodeId& node) override { return s_.nodes.contains(node); }
  Result<std::uint64_t> count_tasks(const UserId& by) override {
    std::uint64_t count = 0;
    for (const auto& [id, task] : s_.tasks) count += task.created_by == by && !task.by_server ? 1U : 0U;
    return count;
  }
  Result<std::vector<NodeId>> content_closed(const ContentId& content, const UserId& by, WallTime now) override {
    std::set<NodeId> holders;
    for (const auto& [key, replica] : s_.replicas) {
      if (replica.content == content) holders.insert(replica.node);
    }
    for (const auto& [id, task] : s_.tasks) {
      if (task.by_server && !tracker::has_ended(task.state) &&
          task.work == tracker::TaskWork(tracker::StopSeedingTask{content.str()})) {
        holders.erase(task.node);
      }
    }
    for (const NodeId& node : holders) {
      tracker::Task task;
      task.id = TaskId::make(now, rng_);
      task.node = node;
      task.work = tracker::StopSeedingTask{content.str()};
      task.created_by = by;
      task.by_server = true;
      task.created = now;
      task.updated = now;
      GT_TRY(tasks_.append(task));
    }
    return std::vector<NodeId>(holders.begin(), holders.end());
  }

 private:
  MemoryState& s_;
  tracker::TaskStore& tasks_;
  Rng& rng_;
};

class DataCas final : public tracker::DataCaStore {
 public:
  explicit DataCas(MemoryState& state) : s_(state) {}
  Status insert(const tracker::DataCaRecord& ca) override {
    if (!s_.data_cas.emplace(ca.generation, ca).second) return Error{Code::kConflict, "that generation is there"};
    return {};
  }
  Result<std::vector<tracker::DataCaRecord>> all() override {
    std::vector<tracker::DataCaRecord> found;
    for (const auto& [generation, ca] : s_.data_cas) found.push_back(ca);
    return found;
  }
  Status retire(std::uint32_t generation, WallTime now) override {
    const auto found = s_.data_cas.find(generation);
    if (found != s_.data_cas.end() && !found->second.retired) found->second.retired = now;
    return {};
  }

 private:
  MemoryState& s_;
};

}  // namespace gridtorrent::testing_support
