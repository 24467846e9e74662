#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/rpc/fair_queue.h"

namespace gridtorrent::rpc {

/// Few threads of low priority (nice 10) for reads that scan: users take turns, and nobody holds all threads. What is
/// quick has other threads and is not held up. Thread-safe (one private mutex). Jobs must not throw.
class FairExecutor {
 public:
  using Queue = FairQueue<std::function<void()>>;
  /// Threads are named "<name>-<i>" (at most 12 characters of name).
  FairExecutor(const std::string& name, std::size_t threads, Queue::Limits limits);
  /// stop().
  ~FairExecutor();
  FairExecutor(const FairExecutor&) = delete;
  FairExecutor& operator=(const FairExecutor&) = delete;

  /// Anything but kTaken: the job was not taken. kIsFull also once stopped.
  [[nodiscard]] Queue::Put post(const std::string& key, std::function<void()> job);

  /// Runs what was taken, then joins. Idempotent. Not from a job.
  void stop();

  std::size_t queued() const;

 private:
  void work();

  mutable std::mutex mutex_;
  std::condition_variable ready_;
  Queue queue_;
  bool stopping_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace gridtorrent::rpc
