#include "base/rpc/executor.h"

#include <pthread.h>

#include <utility>

namespace gridtorrent::rpc {

Executor::Executor(const std::string& name, std::size_t threads, std::size_t queue_limit) : queue_limit_(queue_limit) {
  threads_.reserve(threads);
  for (std::size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { work(); });
    pthread_setname_np(threads_.back().native_handle(), (name.substr(0, 12) + "-" + std::to_string(i % 100)).c_str());
  }
}

Executor::~Executor() {
  stop();
}

bool Executor::post(std::function<void()> job) {
  return put(std::move(job), false);
}
bool Executor::post_always(std::function<void()> job) {
  return put(std::move(job), true);
}

bool Executor::put(std::function<void()> job, bool beyond_limit) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || (!beyond_limit && queue_.size() >= queue_limit_)) return false;
    queue_.push_back(std::move(job));
  }
  ready_.notify_one();
  return true;
}

void Executor::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ready_.notify_all();
  threads_.clear();
}

std::size_t Executor::queued() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

void Executor::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ready_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    std::function<void()> job = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    job();
    job = nullptr;  // what it holds may run code of its own on destruction: not under the lock
    lock.lock();
  }
}

}  // namespace gridtorrent::rpc
