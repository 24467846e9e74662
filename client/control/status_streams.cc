#include "client/control/status_streams.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

namespace gridtorrent::client::control {

bool is_news(const v1::StatusReply& before, const v1::StatusReply& now) {
  const auto settled = [](v1::StatusReply status) {
    status.clear_hello();
    status.clear_clock_offset_ms();
    status.clear_data_dir_free_bytes();
    return status.SerializeAsString();
  };
  const std::uint64_t less = std::min(before.data_dir_free_bytes(), now.data_dir_free_bytes());
  const std::uint64_t more = std::max(before.data_dir_free_bytes(), now.data_dir_free_bytes());
  if (more - less > more / 100) return true;
  return settled(before) != settled(now);
}

StatusStreams::StatusStreams(std::function<v1::StatusReply()> look, Limits limits)
    : look_(std::move(look)), limits_(limits), streams_(limits.most, "the node is", [this] { ring(); }) {}

StatusStreams::~StatusStreams() {
  stop();
}

StatusStreams::Reactor* StatusStreams::open() {
  return streams_.open(nullptr);
}

void StatusStreams::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  streams_.end();
}

void StatusStreams::ring() {
  const std::lock_guard lock(mutex_);
  rung_ = true;
  if (!stopping_ && !thread_.joinable()) thread_ = std::thread([this] { run(); });
  changed_.notify_all();
}

void StatusStreams::serve() {
  const auto waiting = streams_.waiting();
  if (waiting.empty()) return;
  const MonoTime now = SystemClock().mono();
  const bool due = !seen_ || now >= next_;
  if (due) {
    seen_ = std::make_shared<const v1::StatusReply>(look_());
    next_ = now + limits_.pause;
  }
  for (const auto& stream : waiting) {
    if (stream->state && (!due || !is_news(*stream->state, *seen_))) continue;
    stream->state = seen_;
    streams_.write(*stream, seen_);
  }
}

void StatusStreams::run() {
  pthread_setname_np(pthread_self(), "gt-status");
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    rung_ = false;
    lock.unlock();
    serve();
    const bool watched = !streams_.empty();
    lock.lock();
    // A stream that is new is told at once what was seen last, others after the pause.
    const auto woken = [this] { return rung_ || stopping_; };
    if (watched) {
      changed_.wait_until(lock, std::max(next_, SystemClock().mono() + std::chrono::milliseconds(1)), woken);
    } else {
      changed_.wait(lock, woken);
      seen_ = nullptr;
    }
  }
}

}  // namespace gridtorrent::client::control
