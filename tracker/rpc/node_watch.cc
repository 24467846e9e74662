#include "tracker/rpc/node_watch.h"

#include <algorithm>
#include <set>
#include <vector>

#include "base/logging/logging.h"
#include "base/rpc/hello.h"
#include "tracker/rpc/convert.h"

namespace gridtorrent::tracker::rpc {

namespace {

constexpr std::size_t kTasksAtOnce = 64;

}  // namespace

Status NodeWatch::open(const Deps& deps, const ccm::Actor& actor, const v1::WatchNodeRequest& request,
                       const std::shared_ptr<Stream>& stream) {
  GT_ASSIGN(const std::string name, deps.nodes.opened(actor, request.hello().program_version()));
  auto watch = std::make_shared<NodeWatch>(deps, actor.node, request.cursor(), stream);
  watch->send_hello();  // before anybody can wake the strand: the greeting is the first message
  if (!request.node_name().empty() && request.node_name() != name) watch->send_name(name);
  auto hints = deps.hub.open(actor.node, [weak = std::weak_ptr<NodeWatch>(watch)] {
    if (const auto alive = weak.lock()) alive->schedule();
  });
  {
    const std::lock_guard lock(watch->mutex_);  // somebody may have woken the strand already
    watch->hints_ = std::move(hints);
  }
  stream->attach(watch);
  watch->schedule();
  return {};
}

void NodeWatch::run() {
  std::shared_ptr<NodeStream> hints;
  {
    const std::lock_guard lock(mutex_);
    hints = hints_;
    starved_ = true;  // the queue may run empty between an offer that it refuses and the end of this
  }
  if (!hints) return;  // still opening: it schedules itself
  NodeStream::Batch batch = hints->take();
  if (batch.displaced) {
    return stream_->close(
        Error{Code::kConflict, "another process connected with this node's credential: stop one of them"});
  }
  if (batch.ended) {
    return stream_->close(Error{Code::kUnreachable, "the server ended this stream; connect again"});
  }
  tasks_waiting_ = tasks_waiting_ || batch.tasks_waiting || batch.resync;
  cancellations_waiting_ = cancellations_waiting_ || batch.resync;
  // Cancellations that do not fit are in the store; peers that do not fit come with the next announce.
  if (!send_hints(batch.hints)) cancellations_waiting_ = resync_waiting_ = true;
  resync_waiting_ = resync_waiting_ || batch.resync;
  if (resync_waiting_) {
    v1::NodeEvent event;
    event.mutable_content_changed();
    resync_waiting_ = !stream_->offer(std::move(event));
  }
  audiences_waiting_ = audiences_waiting_ || batch.audiences_waiting;
  {
    const std::lock_guard lock(mutex_);
    confirm_waiting_ = confirm_waiting_ || std::exchange(confirm_due_, false);
  }
  if (audiences_waiting_ || confirm_waiting_) send_audiences();
  Status sent = cancellations_waiting_ ? send_cancellations() : Status();
  if (sent.ok() && tasks_waiting_) sent = send_tasks();
  if (!sent.ok()) {
    logging::warning("a node's stream ends", {{"node_id", node_.str()}, {"reason", sent.error().message}});
    return stream_->close(sent);
  }
  const std::lock_guard lock(mutex_);
  starved_ = tasks_waiting_ || cancellations_waiting_ || audiences_waiting_ || confirm_waiting_ || resync_waiting_;
}

bool NodeWatch::send_hints(std::vector<NodeHint>& hints) {
  for (const NodeHint& hint : hints) {
    v1::NodeEvent event;
    if (const auto* cancelled = std::get_if<TaskCancelled>(&hint)) event.set_task_cancelled(cancelled->task.str());
    if (const auto* changed = std::get_if<PeerChanged>(&hint)) *event.mutable_peer_changed() = to_wire(*changed);
    if (const auto* content = std::get_if<ContentChanged>(&hint)) {
      const bool one = !content->content.is_nil();
      event.mutable_content_changed()->set_content_id(one ? content->content.str() : "");
    }
    if (const auto* renamed = std::get_if<NodeRenamed>(&hint)) event.set_node_name(renamed->name);
    if (!stream_->offer(std::move(event))) return false;
  }
  return true;
}

void NodeWatch::send_name(const std::string& name) {
  v1::NodeEvent event;
  event.set_node_name(name);
  static_cast<void>(stream_->offer(std::move(event)));  // the second message: there is room
}

void NodeWatch::send_audiences() {
  const std::set<std::string> current = d_.audiences.current(node_);  // asked before they are read
  const std::vector<AudiencePtr> followed = d_.audiences.of_node(node_);
  std::map<std::string, std::uint64_t> sent;
  std::vector<std::string> withheld;
  for (const AudiencePtr& audience : followed) {
    const auto before = audiences_sent_.find(audience->id);
    // A node counts a list that it gets as confirmed. A newer one goes out all the same: it may take somebody out.
    if (before == audiences_sent_.end() && !current.contains(audience->id)) {
      withheld.push_back(audience->id);
      continue;
    }
    if (before == audiences_sent_.end() || before->second != audience->version) {
      v1::NodeEvent event;
      *event.mutable_audience() = to_wire(*audience);
      if (!stream_->offer(std::move(event))) {
        audiences_waiting_ = true;
        return;
      }
      audiences_sent_[audience->id] = audience->version;
    }
    sent[audience->id] = audience->version;
  }
  audiences_sent_ = std::move(sent);
  audiences_waiting_ = false;
  if (!withheld.empty()) {
    d_.audiences.note_withheld(node_);
    const std::set<std::string> now = d_.audiences.current(node_);
    const auto is_read = [&](const std::string& id) { return now.contains(id); };
    if (std::ranges::any_of(withheld, is_read)) return send_audiences();  // before it was noted: nobody wakes us
  }
  if (!confirm_waiting_) return;
  v1::NodeEvent event;
  for (const auto& [id, version] : audiences_sent_) {
    if (!current.contains(id)) continue;  // with the next heartbeat
    v1::AudienceRef* ref = event.mutable_audiences_confirmed()->add_audiences();
    ref->set_audience_id(id);
    ref->set_version(version);
  }
  event.mutable_audiences_confirmed();
  confirm_waiting_ = !stream_->offer(std::move(event));
}

Status NodeWatch::send_cancellations() {
  GT_ASSIGN(const std::vector<TaskId> cancelled, d_.tasks.cancel_requested(node_));
  for (const TaskId& task : cancelled) {
    v1::NodeEvent event;
    event.set_task_cancelled(task.str());
    if (!stream_->offer(std::move(event))) return {};
  }
  cancellations_waiting_ = false;
  return {};
}

Status NodeWatch::send_tasks() {
  for (;;) {
    const std::size_t places = std::min(stream_->free_places(), kTasksAtOnce);
    if (places == 0) return {};
    GT_ASSIGN(const std::vector<Task> tasks, d_.tasks.pending(node_, cursor_, places));
    for (const Task& task : tasks) {
      v1::NodeEvent event;
      *event.mutable_task() = to_wire(task);
      if (!stream_->offer(std::move(event))) return {};
      cursor_ = task.sequence;
    }
    if (tasks.size() < places) {
      tasks_waiting_ = false;
      return {};
    }
  }
}

void NodeWatch::send_hello() {
  {
    const std::lock_guard lock(mutex_);
    last_hello_ = d_.clock.mono();
  }
  v1::NodeEvent event;
  *event.mutable_hello() = gridtorrent::rpc::make_hello(d_.clock.wall());
  // A full queue is a sign of life as well.
  static_cast<void>(stream_->offer(std::move(event)));
}

void NodeWatch::room() {
  {
    const std::lock_guard lock(mutex_);
    if (!starved_) return;
  }
  schedule();
}

void NodeWatch::ticked(MonoTime now) {
  {
    const std::lock_guard lock(mutex_);
    if (now - last_hello_ < kHeartbeat) return;
    confirm_due_ = true;
  }
  send_hello();
  schedule();
}

void NodeWatch::ended() {
  d_.hub.close(node_, hints_);
  d_.nodes.closed(node_);
}

}  // namespace gridtorrent::tracker::rpc
