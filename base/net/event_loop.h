#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "common/clock.h"
#include "common/unique_fd.h"

namespace gridtorrent::net {

class EventLoop;

/// What a task wants after a turn.
enum class Next : std::uint8_t {
  kWait,   ///< called again when a descriptor is ready
  kAgain,  ///< called again in the next round: more is to be done, and others come first
  kOver,   ///< destroyed
};

/// Something with up to two descriptors that a loop looks after. All methods run on the loop's thread, but for
/// construction; none may block.
class Task {
 public:
  virtual ~Task() = default;
  /// Once, in its loop, before anything else.
  virtual Next begin() = 0;
  /// epoll(7) events of the descriptor that was watched under `slot`; no events after kAgain.
  virtual Next ready(unsigned slot, std::uint32_t events) = 0;
  /// Once a second.
  virtual Next tick(MonoTime now) = 0;

 protected:
  /// Which events of the descriptor to wait for, level-triggered; EPOLLHUP and EPOLLERR come always. False: the kernel
  /// has no room.
  bool watch(unsigned slot, int fd, std::uint32_t events);
  void unwatch(unsigned slot, int fd);
  MonoTime now() const;
  EventLoop& loop() const { return *loop_; }
  std::uint64_t id() const { return id_; }

 private:
  friend class EventLoop;
  EventLoop* loop_ = nullptr;
  std::uint64_t id_ = 0;
  bool watched_[2] = {false, false};
  std::uint32_t events_[2] = {0, 0};
};

/// One thread over epoll, and the tasks that it owns. add() and post() from any thread.
class EventLoop {
 public:
  EventLoop(const std::string& name, const Clock& clock);
  /// stop().
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  void add(std::unique_ptr<Task> task);
  /// Runs on the loop's thread; not at all after stop().
  void post(std::function<void()> work);
  /// Only on the loop's thread: the task with this id, or none.
  Task* find(std::uint64_t id);
  /// Only on the loop's thread: destroys it.
  void end(std::uint64_t id);

  /// Until no task is left, or that long. False: some are.
  bool wait_until_empty(std::chrono::milliseconds patience);
  /// Joins, then destroys all tasks. Idempotent.
  void stop();

  /// For tasks: room for bytes on their way, shared by all of them. The more tasks are ready, the smaller it is, so
  /// that a pass over all of them stays short.
  std::span<std::uint8_t> scratch();

 private:
  friend class Task;
  void run(const std::stop_token& stop);
  void run_posted();
  void run_again();
  void tick_all();
  void after(std::uint64_t id, Next next);
  void wake();

  const Clock& clock_;
  const UniqueFd epoll_, wake_;
  std::vector<std::uint8_t> scratch_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Task>> tasks_;
  std::vector<std::uint64_t> again_;
  std::uint64_t last_id_ = 0;
  std::size_t tasks_in_pass_ = 1;

  std::mutex mutex_;
  std::condition_variable emptied_;
  std::vector<std::function<void()>> posted_;
  std::size_t tasks_left_ = 0;  ///< added and not yet destroyed
  bool stopped_ = false;
  std::jthread thread_;
};

}  // namespace gridtorrent::net
