#include "client/engine/request_pacer.h"

#include <algorithm>
#include <chrono>

namespace gridtorrent::client::engine {
namespace {

/// What was missed within this time is made up for: a busy machine wakes nobody on the millisecond.
constexpr auto kMadeUp = std::chrono::milliseconds(50);

}  // namespace

void RequestPacer::set_rate(std::uint64_t bytes_per_s) {
  if (rate_ != bytes_per_s) clock_ = {};
  rate_ = bytes_per_s;
}

bool RequestPacer::passes(MonoTime now, std::uint64_t bytes) {
  if (!ready(now)) return false;
  take(now, bytes);
  return true;
}

void RequestPacer::take(MonoTime now, std::uint64_t bytes) {
  if (rate_ == 0) return;
  if (clock_ == MonoTime{}) clock_ = now;
  const auto takes = static_cast<std::int64_t>(static_cast<double>(bytes) * 1e9 / static_cast<double>(rate_));
  clock_ = std::max(clock_, now - kMadeUp) + std::chrono::nanoseconds(takes);
}

}  // namespace gridtorrent::client::engine
