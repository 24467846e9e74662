#include "client/control/stream_thread.h"

#include <pthread.h>

namespace gridtorrent::client::control {

void StreamThread::ring() {
  const std::lock_guard lock(mutex_);
  rung_ = true;
  if (!stopping_ && !thread_.joinable()) thread_ = std::thread([this] { run(); });
  changed_.notify_all();
}

void StreamThread::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void StreamThread::run() {
  pthread_setname_np(pthread_self(), name_.c_str());
  const auto woken = [this] { return rung_ || stopping_; };
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    rung_ = false;
    lock.unlock();
    const std::optional<MonoTime> due = serve_();
    lock.lock();
    if (due) {
      changed_.wait_until(lock, *due, woken);
    } else {
      changed_.wait(lock, woken);
    }
  }
}

}  // namespace gridtorrent::client::control
