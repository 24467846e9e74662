#include "gui/session/retry.h"

#include <algorithm>

namespace gridtorrent::gui {

std::chrono::seconds pause_after(int failures) {
  return std::chrono::seconds(1 << std::clamp(failures - 1, 0, 3));
}

void Attempts::be(LinkState state, std::int64_t since_ms) {
  if (link_.state == state) return;
  link_.state = state;
  link_.since_ms = since_ms;
}

void Attempts::begin() {
  if (link_.state == LinkState::kNone && failures_ == 0) link_.state = LinkState::kConnecting;
  link_.again.reset();
}

void Attempts::answered(std::int64_t now_ms) {
  failures_ = 0;
  be(LinkState::kConnected, now_ms);
  link_.again.reset();
}

void Attempts::failed(std::int64_t now_ms, bool absent) {
  const bool answered_before = link_.state == LinkState::kConnected || link_.state == LinkState::kSilent;
  be(absent && !answered_before ? LinkState::kNone : LinkState::kSilent, now_ms);
  link_.again = pause_after(++failures_);
}

void Attempts::silent(std::int64_t since_ms) {
  be(LinkState::kSilent, since_ms);
  link_.again.reset();
}

bool Attempts::second() {
  if (!link_.again) return false;
  if (*link_.again > std::chrono::seconds(0)) --*link_.again;
  return *link_.again == std::chrono::seconds(0);
}

}  // namespace gridtorrent::gui
