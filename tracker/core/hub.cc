#include "tracker/core/hub.h"

#include <utility>

namespace gridtorrent::tracker {

NodeStream::Batch NodeStream::take() {
  const std::lock_guard lock(mutex_);
  woken_ = false;
  return std::exchange(pending_, Batch{});
}

void NodeStream::put(const std::function<void(Batch&)>& change) {
  {
    const std::lock_guard lock(mutex_);
    change(pending_);
    if (woken_) return;
    woken_ = true;
  }
  wake_();
}

std::shared_ptr<NodeStream> NodeHub::open(const NodeId& node, std::function<void()> wake) {
  auto stream = std::make_shared<NodeStream>(std::move(wake));
  stream->pending_.tasks_waiting = stream->pending_.audiences_waiting = true;  // nobody else has it yet
  std::shared_ptr<NodeStream> old;
  {
    const std::lock_guard lock(mutex_);
    old = std::exchange(streams_[node], stream);
  }
  if (old) {
    old->put([](NodeStream::Batch& batch) { batch.displaced = true; });
  }
  return stream;
}

bool NodeHub::close(const NodeId& node, const std::shared_ptr<NodeStream>& stream) {
  const std::lock_guard lock(mutex_);
  ++ended_;
  const auto found = streams_.find(node);
  if (found == streams_.end()) return true;
  if (found->second != stream) return false;
  streams_.erase(found);
  return true;
}

std::shared_ptr<NodeStream> NodeHub::find(const NodeId& node) const {
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(node);
  return found == streams_.end() ? nullptr : found->second;
}

void NodeHub::tasks_waiting(const NodeId& node) {
  if (const auto stream = find(node)) {
    stream->put([](NodeStream::Batch& batch) { batch.tasks_waiting = true; });
  }
}

void NodeHub::audiences_waiting(const NodeId& node) {
  if (const auto stream = find(node)) {
    stream->put([](NodeStream::Batch& batch) { batch.audiences_waiting = true; });
  }
}

void NodeHub::push(const NodeId& node, const NodeHint& hint) {
  const auto stream = find(node);
  if (!stream) return;
  stream->put([&hint](NodeStream::Batch& batch) {
    if (batch.resync) return;
    if (batch.hints.size() < NodeStream::kMaxHints) {
      batch.hints.push_back(hint);
      return;
    }
    batch.hints.clear();
    batch.resync = true;
  });
}

void NodeHub::end(const NodeId& node) {
  if (const auto stream = find(node)) {
    stream->put([](NodeStream::Batch& batch) { batch.ended = true; });
  }
}

void NodeHub::end_all() {
  std::map<NodeId, std::shared_ptr<NodeStream>> all;
  {
    const std::lock_guard lock(mutex_);
    all = streams_;
  }
  for (const auto& [node, stream] : all) {
    stream->put([](NodeStream::Batch& batch) { batch.ended = true; });
  }
}

std::size_t NodeHub::stream_count() const {
  const std::lock_guard lock(mutex_);
  return streams_.size();
}

std::uint64_t NodeHub::ended_streams() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

TaskHub::Ticket TaskHub::watch(const TaskId& task, std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  const Ticket ticket = next_++;
  watchers_.emplace(ticket, std::pair(task, std::make_shared<std::function<void()>>(std::move(wake))));
  by_task_.emplace(task, ticket);
  return ticket;
}

void TaskHub::unwatch(Ticket ticket) {
  const std::lock_guard lock(mutex_);
  const auto found = watchers_.find(ticket);
  if (found == watchers_.end()) return;
  const auto [first, last] = by_task_.equal_range(found->second.first);
  for (auto entry = first; entry != last; ++entry) {
    if (entry->second == ticket) {
      by_task_.erase(entry);
      break;
    }
  }
  watchers_.erase(found);
}

void TaskHub::changed(const TaskId& task) {
  std::vector<std::shared_ptr<std::function<void()>>> wakes;
  {
    const std::lock_guard lock(mutex_);
    const auto [first, last] = by_task_.equal_range(task);
    for (auto entry = first; entry != last; ++entry) wakes.push_back(watchers_.at(entry->second).second);
  }
  for (const auto& wake : wakes) (*wake)();
}

std::size_t TaskHub::watcher_count() const {
  const std::lock_guard lock(mutex_);
  return watchers_.size();
}

}  // namespace gridtorrent::tracker
