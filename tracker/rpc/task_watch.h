#pragma once

#include <memory>
#include <optional>

#include "base/rpc/door.h"
#include "base/rpc/strand.h"
#include "ccm/domain/user.h"
#include "gridtorrent/v1/tracker.pb.h"
#include "tracker/core/hub.h"
#include "tracker/core/task_service.h"

namespace gridtorrent::tracker::rpc {

/// One WatchTask stream: the task now, then each change, until it ends. A slow reader misses states in between, never
/// the last.
class TaskWatch final : public gridtorrent::rpc::StreamListener, public gridtorrent::rpc::Strand {
 public:
  using Stream = gridtorrent::rpc::EventStream<v1::GetTaskReply>;
  struct Deps {
    TaskHub& hub;
    TaskService& tasks;
    gridtorrent::rpc::Executor& executor;
  };
  static Status open(const Deps& deps, const ccm::Actor& actor, const TaskId& task,
                     const std::shared_ptr<Stream>& stream);

  TaskWatch(const Deps& deps, ccm::Actor actor, TaskId task, std::shared_ptr<Stream> stream)
      : Strand(deps.executor), d_(deps), actor_(std::move(actor)), task_(task), stream_(std::move(stream)) {}

  /// The one before is out: there may be news.
  void room() override { schedule(); }
  void ended() override { d_.hub.unwatch(ticket_); }

 private:
  void run() override;

  const Deps d_;
  const ccm::Actor actor_;
  const TaskId task_;
  const std::shared_ptr<Stream> stream_;
  TaskHub::Ticket ticket_ = 0;  ///< set before anyone else sees this object
  std::optional<Task> sent_;    ///< of the strand
};

}  // namespace gridtorrent::tracker::rpc
