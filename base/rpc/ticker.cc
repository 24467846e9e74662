#include "base/rpc/ticker.h"

#include <pthread.h>

#include <utility>

namespace gridtorrent::rpc {

Ticker::Ticker(const Clock& clock, std::chrono::milliseconds period)
    : clock_(clock), thread_([this, period](const std::stop_token& stop) {
        for (;;) {
          {
            std::unique_lock lock(mutex_);
            if (wake_.wait_for(lock, stop, period, [] { return false; }) || stop.stop_requested()) return;
          }
          tick_now();
        }
      }) {
  pthread_setname_np(thread_.native_handle(), "rpc-ticker");
}

Ticker::~Ticker() {
  stop();
}

void Ticker::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Ticker::add(std::weak_ptr<Ticked> ticked) {
  const std::lock_guard lock(mutex_);
  all_.push_back(std::move(ticked));
}

void Ticker::tick_now() {
  std::vector<std::shared_ptr<Ticked>> alive;
  {
    const std::lock_guard lock(mutex_);
    alive.reserve(all_.size());
    std::erase_if(all_, [&](const std::weak_ptr<Ticked>& weak) {
      auto strong = weak.lock();
      if (!strong) return true;
      alive.push_back(std::move(strong));
      return false;
    });
  }
  const MonoTime now = clock_.mono();
  for (const auto& ticked : alive) ticked->tick(now);
}

}  // namespace gridtorrent::rpc
