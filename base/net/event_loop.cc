#include "base/net/event_loop.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "common/check.h"

namespace gridtorrent::net {
namespace {

constexpr std::chrono::milliseconds kTick{1000};
constexpr std::size_t kMostBytes = 64 * 1024;   // four TLS records
constexpr std::size_t kLeastBytes = 16 * 1024;  // one
// What all tasks of a pass move together. 100 connections that flooded with 64 KiB each in a pass delayed calls of
// others by 30 to 40 ms (p99, bench/hold.py).
constexpr std::size_t kPassBytes = 256 * 1024;
constexpr std::uint64_t kWakeId = 0;

epoll_event event_of(std::uint64_t id, unsigned slot, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = (id << 1) | slot;
  return event;
}

}  // namespace

bool Task::watch(unsigned slot, int fd, std::uint32_t events) {
  GT_CHECK(slot < 2);
  if (watched_[slot] && events_[slot] == events) return true;
  epoll_event event = event_of(id_, slot, events);
  if (::epoll_ctl(loop_->epoll_.get(), watched_[slot] ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event) != 0) return false;
  watched_[slot] = true;
  events_[slot] = events;
  return true;
}

void Task::unwatch(unsigned slot, int fd) {
  if (!std::exchange(watched_[slot], false)) return;
  ::epoll_ctl(loop_->epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

MonoTime Task::now() const {
  return loop_->clock_.mono();
}

EventLoop::EventLoop(const std::string& name, const Clock& clock)
    : clock_(clock),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      scratch_(kMostBytes) {
  GT_CHECK(epoll_ && wake_);
  epoll_event event = event_of(kWakeId, 0, EPOLLIN);
  GT_CHECK(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event) == 0);
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  pthread_setname_np(thread_.native_handle(), name.c_str());
}

EventLoop::~EventLoop() {
  stop();
}

std::span<std::uint8_t> EventLoop::scratch() {
  return std::span(scratch_).first(std::clamp(kPassBytes / tasks_in_pass_, kLeastBytes, kMostBytes));
}

void EventLoop::add(std::unique_ptr<Task> task) {
  {
    const std::lock_guard lock(mutex_);
    ++tasks_left_;
  }
  // A function must be copyable, a task is not.
  post([this, held = std::make_shared<std::unique_ptr<Task>>(std::move(task))] {
    const std::uint64_t id = ++last_id_;
    Task& added = *(tasks_[id] = std::move(*held));
    added.loop_ = this;
    added.id_ = id;
    after(id, added.begin());
  });
}

void EventLoop::post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    posted_.push_back(std::move(work));
    if (posted_.size() > 1) return;  // it is awake, or will be
  }
  wake();
}

Task* EventLoop::find(std::uint64_t id) {
  const auto found = tasks_.find(id);
  return found == tasks_.end() ? nullptr : found->second.get();
}

void EventLoop::end(std::uint64_t id) {
  if (tasks_.erase(id) == 0) return;
  const std::lock_guard lock(mutex_);
  if (--tasks_left_ == 0) emptied_.notify_all();
}

bool EventLoop::wait_until_empty(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  return emptied_.wait_for(lock, patience, [this] { return tasks_left_ == 0; });
}

void EventLoop::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  wake();
  thread_.join();
  tasks_.clear();
  std::vector<std::function<void()>> never_run;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    never_run.swap(posted_);  // with tasks that nobody will begin any more
  }
}

void EventLoop::run(const std::stop_token& stop) {
  std::array<epoll_event, 256> events{};
  MonoTime next_tick = clock_.mono() + kTick;
  while (!stop.stop_requested()) {
    const auto until_tick = std::chrono::ceil<std::chrono::milliseconds>(next_tick - clock_.mono());
    const int timeout =
        again_.empty() ? static_cast<int>(std::clamp<std::int64_t>(until_tick.count(), 0, kTick.count())) : 0;
    const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout);
    tasks_in_pass_ = std::max<std::size_t>(1, again_.size() + static_cast<std::size_t>(std::max(count, 0)));
    run_again();
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      const std::uint64_t id = event.data.u64 >> 1;
      if (id == kWakeId) {
        run_posted();
      } else if (Task* task = find(id)) {
        after(id, task->ready(static_cast<unsigned>(event.data.u64 & 1), event.events));
      }
    }
    if (clock_.mono() >= next_tick) {
      tick_all();
      next_tick = clock_.mono() + kTick;
    }
  }
}

void EventLoop::run_posted() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t size = ::read(wake_.get(), &count, sizeof count);
  std::vector<std::function<void()>> work;
  {
    const std::lock_guard lock(mutex_);
    work.swap(posted_);
  }
  for (const auto& one : work) one();
}

void EventLoop::run_again() {
  std::vector<std::uint64_t> now;
  now.swap(again_);
  for (const std::uint64_t id : now) {
    if (Task* task = find(id)) after(id, task->ready(0, 0));
  }
}

void EventLoop::tick_all() {
  const MonoTime now = clock_.mono();
  std::vector<std::uint64_t> ids;
  ids.reserve(tasks_.size());
  for (const auto& [id, task] : tasks_) ids.push_back(id);
  for (const std::uint64_t id : ids) {
    if (Task* task = find(id)) after(id, task->tick(now));
  }
}

void EventLoop::after(std::uint64_t id, Next next) {
  if (next == Next::kOver) end(id);
  if (next == Next::kAgain) again_.push_back(id);
}

void EventLoop::wake() {
  const std::uint64_t one = 1;
  // An eventfd takes this write unless its counter is full, and then the thread is awake anyhow.
  [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
}

}  // namespace gridtorrent::net
