#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/rpc/door.h"
#include "base/rpc/strand.h"
#include "ccm/domain/user.h"
#include "common/clock.h"
#include "gridtorrent/v1/tracker.pb.h"
#include "tracker/core/hub.h"
#include "tracker/core/node_service.h"
#include "tracker/core/task_service.h"

namespace gridtorrent::tracker::rpc {

/// One WatchNode stream: the node's task list from its cursor on, cancellations, and hints about peers. The store is
/// the truth: tasks are read from it as the stream has room, so nothing is lost or skipped when the node reads slowly;
/// hints that do not fit are made good by reading anew. All sending happens in run(), on the strand.
class NodeWatch final : public gridtorrent::rpc::StreamListener, public gridtorrent::rpc::Strand {
 public:
  using Stream = gridtorrent::rpc::EventStream<v1::NodeEvent>;
  struct Deps {
    NodeHub& hub;
    NodeService& nodes;
    TaskService& tasks;
    Audiences& audiences;
    const Clock& clock;
    gridtorrent::rpc::Executor& executor;
  };
  static constexpr std::chrono::seconds kHeartbeat{30};

  /// Greets, marks the node online and begins to send what comes after the request's cursor.
  static Status open(const Deps& deps, const ccm::Actor& actor, const v1::WatchNodeRequest& request,
                     const std::shared_ptr<Stream>& stream);

  NodeWatch(const Deps& deps, NodeId node, std::uint64_t cursor, std::shared_ptr<Stream> stream)
      : Strand(deps.executor), d_(deps), node_(node), stream_(std::move(stream)), cursor_(cursor) {}

  void room() override;
  void ticked(MonoTime now) override;
  void ended() override;

 private:
  void run() override;
  /// False: the queue is full.
  bool send_hints(std::vector<NodeHint>& hints);
  Status send_tasks();
  Status send_cancellations();
  /// Those that are newer than what was sent, and then, where it is due, that all are right.
  void send_audiences();
  void send_hello();
  void send_name(const std::string& name);

  const Deps d_;
  const NodeId node_;
  const std::shared_ptr<Stream> stream_;

  // Of the strand alone:
  std::uint64_t cursor_;
  bool tasks_waiting_ = false, cancellations_waiting_ = true, audiences_waiting_ = false, confirm_waiting_ = false;
  bool resync_waiting_ = false;
  std::map<std::string, std::uint64_t> audiences_sent_;  ///< version by id

  std::mutex mutex_;                   ///< of what follows
  std::shared_ptr<NodeStream> hints_;  ///< null while it opens
  MonoTime last_hello_{};
  bool confirm_due_ = true;
  bool starved_ = false;  ///< something waits for room
};

}  // namespace gridtorrent::tracker::rpc
