#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ccm/domain/ports.h"
#include "tracker/core/data_ca.h"
#include "tracker/core/node.h"
#include "tracker/core/task.h"

namespace gridtorrent::tracker {

// Ports of durable state, with the same rules as those of ccm/domain/ports.h.

class NodeStore {
 public:
  virtual ~NodeStore() = default;
  /// kConflict: the owner has a node of that name, or the key is enrolled.
  virtual Status insert(const NodeRecord& node) = 0;
  virtual Result<std::optional<NodeRecord>> by_id(const NodeId& id) = 0;
  virtual Result<std::optional<NodeRecord>> by_owner_and_name(const UserId& owner, std::string_view name) = 0;
  virtual Result<std::optional<NodeRecord>> by_public_key(std::string_view der) = 0;
  /// By name, after the name `after`, at most `limit`.
  virtual Result<std::vector<NodeRecord>> of_owner(const UserId& owner, std::string_view after, std::size_t limit) = 0;
  /// In no particular order, at most `limit`.
  virtual Result<std::vector<NodeId>> ids_of_owner(const UserId& owner, std::size_t limit) = 0;
  /// SubjectPublicKeyInfo, DER, of each node of these people that has a credential which is good at `now`.
  virtual Result<std::vector<std::pair<NodeId, std::string>>> keys_of(const std::vector<UserId>& owners,
                                                                      WallTime now) = 0;
  /// Endpoints, in place of those before.
  virtual Status set_endpoints(const NodeId& id, const std::vector<NodeEndpoint>& endpoints) = 0;
  /// In place of those before.
  virtual Status set_roots(const NodeId& id, const NodeRoots& roots) = 0;
  /// An empty program version leaves the one that is there.
  virtual Status set_seen(const NodeId& id, WallTime now, std::string_view program_version) = 0;
  /// kConflict: the owner has another of that name.
  virtual Status set_name(const NodeId& id, std::string_view name) = 0;
  /// Ephemeral nodes not seen since `before`, at most `limit`.
  virtual Result<std::vector<NodeId>> stale_ephemeral(WallTime before, std::size_t limit) = 0;
  /// With its tasks and replicas. Its credentials stay: they are the caller's to revoke or to forget.
  virtual Status remove(const NodeId& id) = 0;
};

/// Where a task stands in the list of its owner's tasks.
struct TaskPlace {
  WallTime created;
  TaskId id;
};

class TaskStore {
 public:
  virtual ~TaskStore() = default;
  /// Gives the task the next sequence of its node (no gaps: the counter moves in the same transaction) and keeps it.
  /// kInvalid: its work takes more than kMaxWorkBytes.
  virtual Result<std::uint64_t> append(const Task& task) = 0;
  /// State, progress, result; not the work.
  virtual Status update(const Task& task) = 0;
  virtual Result<std::optional<Task>> by_id(const TaskId& id) = 0;
  /// What has not ended after `cursor`, in order of sequence, at most `limit`.
  virtual Result<std::vector<Task>> pending(const NodeId& node, std::uint64_t cursor, std::size_t limit) = 0;
  /// Those up to `sequence` that are still queued.
  virtual Result<std::vector<Task>> queued_up_to(const NodeId& node, std::uint64_t sequence) = 0;
  /// Not ended, and asked to be cancelled.
  virtual Result<std::vector<TaskId>> cancel_requested(const NodeId& node) = 0;
  /// Rows of lists: results beyond kMaxListedResultBytes are left out. Newest first, at most `limit`; those with a
  /// sequence below `below` (0: all).
  virtual Result<std::vector<Task>> of_node(const NodeId& node, bool include_ended, std::uint64_t below,
                                            std::size_t limit) = 0;
  virtual Result<std::vector<Task>> of_owner(const UserId& owner, bool include_ended,
                                             const std::optional<TaskPlace>& after, std::size_t limit) = 0;
  /// Moves the node's acknowledged sequence forward; never back.
  virtual Status set_acked(const NodeId& node, std::uint64_t sequence) = 0;
  /// Queued, and created before `before`, at most `limit`.
  virtual Result<std::vector<Task>> queued_since(WallTime before, std::size_t limit) = 0;
  /// Forgets what ended before `before`.
  virtual Status prune(WallTime before) = 0;
  /// Of the tasks that this person has given nodes (those made by_server left out), forgets the one that ended first;
  /// false: none has ended.
  virtual Result<bool> forget_first_ended(const UserId& created_by) = 0;
};

class DataCaStore {
 public:
  virtual ~DataCaStore() = default;
  /// kConflict: there is one of that generation.
  virtual Status insert(const DataCaRecord& ca) = 0;
  /// Oldest first, retired ones included.
  virtual Result<std::vector<DataCaRecord>> all() = 0;
  /// Keeps the first time it was retired.
  virtual Status retire(std::uint32_t generation, WallTime now) = 0;
};

struct Tx : ccm::Tx {
  NodeStore& nodes;
  TaskStore& tasks;
  DataCaStore& data_cas;
};

/// As ccm::Store, with the tracker's ports as well. Implemented by tracker/store over SQLite, and by a fake in
/// tests/support.
class Store {
 public:
  virtual ~Store() = default;
  virtual Status write(const std::function<Status(Tx&)>& work) = 0;
  virtual Status read(const std::function<Status(Tx&)>& work) = 0;
};

}  // namespace gridtorrent::tracker
