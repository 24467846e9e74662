#include "client/control/status_streams.h"

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
    : look_(std::move(look)),
      limits_(limits),
      streams_(limits.most, "the node is", [this] { thread_.ring(); }),
      thread_("gt-status", [this] { return serve(); }) {}

StatusStreams::~StatusStreams() {
  stop();
}

StatusStreams::Reactor* StatusStreams::open() {
  return streams_.open(nullptr);
}

void StatusStreams::stop() {
  thread_.stop();
  streams_.end();
}

void StatusStreams::tell() {
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

std::optional<MonoTime> StatusStreams::serve() {
  tell();
  if (streams_.empty()) {
    seen_ = nullptr;
    return std::nullopt;
  }
  // A stream that is new is told at once what was seen last, others after the pause.
  return std::max(next_, SystemClock().mono() + std::chrono::milliseconds(1));
}

}  // namespace gridtorrent::client::control
