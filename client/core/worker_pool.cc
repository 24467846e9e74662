#include "client/core/worker_pool.h"

#include <pthread.h>

namespace gridtorrent::client {

WorkerPool::WorkerPool(const std::string& name, std::size_t threads, std::size_t queue_limit)
    : queue_limit_(queue_limit) {
  for (std::size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this, thread_name = name + "-" + std::to_string(i)] { run(thread_name); });
  }
}

WorkerPool::~WorkerPool() {
  stop();
}

bool WorkerPool::post(std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_ || jobs_.size() >= queue_limit_) return false;
    jobs_.push_back(std::move(job));
  }
  ready_.notify_one();
  return true;
}

void WorkerPool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    jobs_.clear();
  }
  ready_.notify_all();
  threads_.clear();
}

void WorkerPool::run(const std::string& thread_name) {
  pthread_setname_np(pthread_self(), thread_name.substr(0, 15).c_str());
  std::unique_lock lock(mutex_);
  while (true) {
    ready_.wait(lock, [&] { return stopped_ || !jobs_.empty(); });
    if (stopped_) return;
    auto job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    job = nullptr;
    lock.lock();
  }
}

}  // namespace gridtorrent::client
