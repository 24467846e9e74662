#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ccm/domain/quotas.h"
#include "ccm/domain/user.h"
#include "common/clock.h"
#include "common/page.h"
#include "common/result.h"
#include "common/rng.h"
#include "tracker/core/hub.h"
#include "tracker/core/ports.h"
#include "tracker/core/task.h"

namespace gridtorrent::tracker {

/// The use cases of task lists, one transaction each. Delivery is at least once and in order: a stream sends `pending`
/// from the node's cursor on, the node acknowledges what it has written down, and gets the rest again after a break.
/// Tasks that ended before they were delivered (cancelled, expired) are left out: their sequences are passed over.
/// Thread-safe; blocks on the store. Errors besides those of the store: kInvalid; kNotFound (missing or another's);
/// kDenied no node credential; kConflict, kUnsupported: the content cannot be transferred; kExhausted quota.
class TaskService {
 public:
  struct Deps {
    Store& store;
    NodeHub& hub;
    TaskHub& task_hub;
    const Clock& clock;
    Rng& rng;
    ccm::Quotas quotas;
  };
  explicit TaskService(Deps deps) : d_(deps) {}

  /// For one of the actor's own nodes, by id or name. Where the quota is full, the actor's task that ended first is
  /// forgotten.
  Result<Task> create(const ccm::Actor& actor, const std::string& request_id, std::string_view node,
                      const TaskWork& work);
  struct OfNode {
    TaskId task;
    NodeId node;
  };
  /// For each of these nodes of the actor's own (ids or names; each once), or with `all` for every one: all or none.
  /// kInvalid: none, more than kMaxNodesAtOnce, or publishing on more than one.
  Result<std::vector<OfNode>> create_many(const ccm::Actor& actor, const std::string& request_id,
                                          const std::vector<std::string>& nodes, bool all, const TaskWork& work);
  /// Newest first. `node` empty: of all own nodes. Large results are left out (Task::result_bytes).
  Result<Page<Task>> list(const ccm::Actor& actor, std::string_view node, bool include_ended,
                          const PageRequest& page = {});
  Result<Task> get(const ccm::Actor& actor, const TaskId& task);
  Result<Task> cancel(const ccm::Actor& actor, const std::string& request_id, const TaskId& task);

  // Of the node's own credential:

  /// Up to `limit` after `cursor`, in order.
  Result<std::vector<Task>> pending(const NodeId& node, std::uint64_t cursor, std::size_t limit = 64);
  /// Those that the node should give up; sent at the start of a stream and after a resync.
  Result<std::vector<TaskId>> cancel_requested(const NodeId& node);
  /// Everything up to `sequence` is with the node. Idempotent.
  Status ack(const ccm::Actor& actor, std::uint64_t sequence);
  /// Returns the task as it is now: its `cancel_requested` goes back to the node. Idempotent.
  Result<Task> report(const ccm::Actor& actor, const TaskReport& report);

  /// Expires what nobody took, forgets what ended long ago. Call every few minutes.
  Status sweep();

  /// 10,000 tasks are one transaction of about half a second of the writer, and a reply of 0.6 MB.
  static constexpr std::size_t kMaxNodesAtOnce = 10'000;

 private:
  Result<std::vector<NodeId>> own_nodes(Tx& tx, const ccm::Actor& actor, const std::vector<std::string>& nodes,
                                        bool all) const;
  /// Appends it to the node's list.
  Result<Task> append(Tx& tx, const ccm::Actor& actor, const NodeId& node, const TaskWork& work, WallTime now);
  Result<Page<Task>> list_of_owner(const ccm::Actor& actor, const std::string& list, bool include_ended,
                                   const PageRequest& page);
  Result<Page<Task>> list_of_node(const ccm::Actor& actor, std::string_view node, const std::string& which,
                                  bool include_ended, const PageRequest& page);

  Deps d_;
};

}  // namespace gridtorrent::tracker
