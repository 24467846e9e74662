#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "common/result.h"

namespace gridtorrent {

/// Wall-clock time in milliseconds since the Unix epoch, UTC. For records and what people read; never for intervals.
struct WallTime {
  std::int64_t ms = 0;
  friend auto operator<=>(const WallTime&, const WallTime&) = default;
  WallTime operator+(std::chrono::milliseconds d) const { return {ms + d.count()}; }
  WallTime operator-(std::chrono::milliseconds d) const { return {ms - d.count()}; }
  std::chrono::milliseconds operator-(WallTime o) const { return std::chrono::milliseconds(ms - o.ms); }
};

/// A point of the monotonic clock. For intervals and timers; meaningless across processes.
using MonoTime = std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>;

/// Where time comes from. Passed in, so that tests turn the hands themselves. Implementations are thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallTime wall() const = 0;
  virtual MonoTime mono() const = 0;
};

class SystemClock final : public Clock {
 public:
  WallTime wall() const override;
  MonoTime mono() const override;
};

/// Stands still until told otherwise.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(WallTime start = {1'700'000'000'000}) : wall_ms_(start.ms) {}
  WallTime wall() const override { return {wall_ms_.load()}; }
  MonoTime mono() const override { return MonoTime(std::chrono::nanoseconds(mono_ns_.load())); }
  /// Both clocks go on by `d`.
  void advance(std::chrono::nanoseconds d) {
    mono_ns_ += d.count();
    wall_ms_ += std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
  }
  /// Only the wall clock is set, as an administrator or NTP would.
  void set_wall(WallTime t) { wall_ms_ = t.ms; }

 private:
  std::atomic<std::int64_t> wall_ms_;
  std::atomic<std::int64_t> mono_ns_{1'000'000'000};
};

/// RFC 3339 in UTC with milliseconds: "2026-11-20T19:15:50.123Z".
std::string to_rfc3339(WallTime t);
/// Accepts what `to_rfc3339` writes, with or without the fraction, in another zone ("2026-11-20T20:15:50+01:00"), and a
/// bare date "2026-11-20", which is its first moment in UTC.
Result<WallTime> parse_rfc3339(std::string_view text);

}  // namespace gridtorrent
