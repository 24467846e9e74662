#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace gridtorrent::client {

/// A few named threads and a bounded queue of jobs for them. Thread-safe; one private mutex. Jobs must not throw.
class WorkerPool {
 public:
  /// `name` has at most 12 characters; threads are called name-0, name-1 …
  WorkerPool(const std::string& name, std::size_t threads, std::size_t queue_limit = 4096);
  /// As stop().
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// False where the queue is full or the pool has stopped: the caller tries again later.
  bool post(std::function<void()> job);
  /// Drops what is queued, waits for what runs.
  void stop();

 private:
  void run(const std::string& thread_name);

  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::function<void()>> jobs_;
  bool stopped_ = false;
  const std::size_t queue_limit_;
  std::vector<std::jthread> threads_;
};

}  // namespace gridtorrent::client
