#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "common/clock.h"

namespace gridtorrent::client {

/// How fast hashing goes, from what it reports: an average over some seconds, in which the latest counts most. Pure;
/// for one run.
class HashPace {
 public:
  /// Bits a second as of `now`, when `done` bytes were hashed in all.
  std::uint64_t note(MonoTime now, std::uint64_t done) {
    if (!last_) {  // what a checkpoint knew comes with the first report and took no time
      last_ = Point{now, done};
      return 0;
    }
    const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(now - last_->at);
    if (elapsed < kSpan || done < last_->done) return bits_per_s_;
    const std::uint64_t rate = (done - last_->done) * 8000 / static_cast<std::uint64_t>(elapsed.count());
    bits_per_s_ = bits_per_s_ == 0 ? rate : (bits_per_s_ + rate) / 2;
    last_ = Point{now, done};
    return bits_per_s_;
  }

 private:
  static constexpr std::chrono::milliseconds kSpan{1000};
  struct Point {
    MonoTime at;
    std::uint64_t done = 0;
  };
  std::optional<Point> last_;
  std::uint64_t bits_per_s_ = 0;
};

}  // namespace gridtorrent::client
