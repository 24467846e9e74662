#include "tracker/rpc/task_watch.h"

#include "tracker/rpc/convert.h"

namespace gridtorrent::tracker::rpc {

Status TaskWatch::open(const Deps& deps, const ccm::Actor& actor, const TaskId& task,
                       const std::shared_ptr<Stream>& stream) {
  GT_TRY(deps.tasks.get(actor, task));  // not found, or another's: said before anything is watched
  auto watch = std::make_shared<TaskWatch>(deps, actor, task, stream);
  watch->ticket_ = deps.hub.watch(task, [weak = std::weak_ptr<TaskWatch>(watch)] {
    if (const auto alive = weak.lock()) alive->schedule();
  });
  stream->attach(watch);
  watch->schedule();
  return {};
}

void TaskWatch::run() {
  // One state in the queue at a time; what comes meanwhile is read when it is out.
  if (stream_->free_places() < Stream::kMaxQueue) return;
  const Result<Task> task = d_.tasks.get(actor_, task_);
  if (!task) return stream_->close(task.error());
  if (sent_ && *sent_ == *task) return;
  v1::GetTaskReply reply;
  *reply.mutable_task() = to_wire(*task);
  if (!stream_->offer(std::move(reply))) return;
  sent_ = *task;
  if (has_ended(task->state)) stream_->close({});
}

}  // namespace gridtorrent::tracker::rpc
