#include "client/engine/request_pacer.h"

#include <algorithm>
#include <chrono>

namespace gridtorrent::client::engine {
namespace {

/// What was missed within this time is made up for: timers fire late on a busy machine.
constexpr auto kMadeUp = std::chrono::milliseconds(50);

}  // namespace

void RequestPacer::set_rate(std::uint64_t bytes_per_s) {
  if (rate_ == bytes_per_s) return;
  rate_ = bytes_per_s;
  // The last block takes its time at the new rate: a rate that changes each second must not give a block away each
  // time.
  clock_ = last_began_ + duration_of(last_bytes_);
}

std::chrono::nanoseconds RequestPacer::duration_of(std::uint64_t bytes) const {
  if (rate_ == 0) return {};
  return std::chrono::nanoseconds(
      static_cast<std::int64_t>(static_cast<double>(bytes) * 1e9 / static_cast<double>(rate_)));
}

bool RequestPacer::passes(MonoTime now, std::uint64_t bytes) {
  if (!ready(now)) return false;
  take(now, bytes);
  return true;
}

void RequestPacer::take(MonoTime now, std::uint64_t bytes) {
  if (rate_ == 0) return;
  last_began_ = clock_ == MonoTime{} ? now : std::max(clock_, now - kMadeUp);
  last_bytes_ = bytes;
  clock_ = last_began_ + duration_of(bytes);
}

}  // namespace gridtorrent::client::engine
