#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace gridtorrent::rpc {

/// Threads of our own for work that may block: gRPC runs reactions on very few threads, so handlers
/// never run there. The queue is bounded. Thread-safe (one private mutex). Jobs must not throw.
class Executor {
 public:
  /// Threads are named "<name>-<i>" (at most 13 characters of name).
  Executor(const std::string& name, std::size_t threads, std::size_t queue_limit);
  /// stop().
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// False: the queue is full, or the executor stops; the job was not taken.
  [[nodiscard]] bool post(std::function<void()> job);
  /// For work that must run, as the end of a stream: taken beyond the limit, too. False only once stopped.
  [[nodiscard]] bool post_always(std::function<void()> job);

  /// Runs what was taken, then joins. Idempotent. Not from a job.
  void stop();

  std::size_t queued() const;

 private:
  bool put(std::function<void()> job, bool beyond_limit);
  void work();

  const std::size_t queue_limit_;
  mutable std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::function<void()>> queue_;
  bool stopping_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace gridtorrent::rpc
