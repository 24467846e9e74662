#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "ccm/domain/ports.h"
#include "common/ids.h"
#include "tracker/core/selection.h"

namespace gridtorrent::tracker {

struct TaskCancelled {
  TaskId task;
};
struct PeerChanged {
  ContentId content;
  std::uint32_t version = 1;
  Peer peer;
};
/// Who may have it, its edition or its state changed: announce it, look at it again. Nil: all that the node has.
struct ContentChanged {
  ContentId content;
};
struct NodeRenamed {
  std::string name;
};
using NodeHint = std::variant<TaskCancelled, PeerChanged, ContentChanged, NodeRenamed>;

/// One open WatchNode stream. Made by NodeHub; used by the stream's own strand (take) and by the hub (push).
/// Thread-safe (private mutex).
///
/// Tasks and audiences do not travel through here: the table and `Audiences` are the truth, this only says that there
/// are some. So nothing is lost when the queue overflows: it is dropped, and `resync` tells the stream to send the node
/// what the store says anew.
class NodeStream {
 public:
  static constexpr std::size_t kMaxHints = 256;
  /// `wake` is called without a lock held, from any thread, after something was put in; at most once until the next
  /// take(). It must not block.
  explicit NodeStream(std::function<void()> wake) : wake_(std::move(wake)) {}

  struct Batch {
    bool displaced = false;  ///< the node opened another stream: end this one
    bool ended = false;      ///< the credential was revoked or the server stops: end this one
    bool resync = false;     ///< hints were dropped: send tasks from the cursor and cancellations from the store anew
    bool tasks_waiting = false;      ///< read the task list after the last sequence sent
    bool audiences_waiting = false;  ///< send those that are newer than what was sent
    std::vector<NodeHint> hints;
    bool empty() const {
      return !displaced && !ended && !resync && !tasks_waiting && !audiences_waiting && hints.empty();
    }
  };
  /// All that came since the last call.
  Batch take();

 private:
  friend class NodeHub;
  void put(const std::function<void(Batch&)>& change);

  const std::function<void()> wake_;
  std::mutex mutex_;
  Batch pending_;
  bool woken_ = false;
};

/// Fan-out to the nodes' streams, one a node: a new one displaces the old. Thread-safe (private mutex; wakes are called
/// outside of it).
class NodeHub {
 public:
  /// Opens a stream for the node; its first batch has `tasks_waiting` set.
  std::shared_ptr<NodeStream> open(const NodeId& node, std::function<void()> wake);
  /// No effect if the node has another stream by now. Returns whether the node is without a stream.
  bool close(const NodeId& node, const std::shared_ptr<NodeStream>& stream);

  void tasks_waiting(const NodeId& node);
  void audiences_waiting(const NodeId& node);
  void push(const NodeId& node, const NodeHint& hint);
  void end(const NodeId& node);
  void end_all();
  std::size_t stream_count() const;
  /// Since the start.
  std::uint64_t ended_streams() const;

 private:
  std::shared_ptr<NodeStream> find(const NodeId& node) const;

  mutable std::mutex mutex_;
  std::map<NodeId, std::shared_ptr<NodeStream>> streams_;
  std::uint64_t ended_ = 0;
};

/// Tells WatchTask streams that a task changed; they read it from the store. Thread-safe; wakes are called outside the
/// lock and must not block.
class TaskHub {
 public:
  using Ticket = std::uint64_t;
  Ticket watch(const TaskId& task, std::function<void()> wake);
  /// After it returned no new wake starts; one that runs on another thread may still be under way.
  void unwatch(Ticket ticket);
  void changed(const TaskId& task);
  std::size_t watcher_count() const;

 private:
  mutable std::mutex mutex_;
  Ticket next_ = 1;
  std::map<Ticket, std::pair<TaskId, std::shared_ptr<std::function<void()>>>> watchers_;
  std::multimap<TaskId, Ticket> by_task_;
};

}  // namespace gridtorrent::tracker
