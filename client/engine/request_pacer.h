#pragma once

#include <chrono>
#include <cstdint>

#include "common/clock.h"

namespace gridtorrent::client::engine {

/// Below this, bytes a second, a block on each of 16 lanes is two seconds' worth, of 32 four, and requests would time
/// out: libtorrent's limiter takes over. Who paces requests does so down to nine tenths: a target's limit moves by some
/// percent each second, and what was held back would go out at once at each change of the limiter.
inline constexpr int kLeastPacedBytes = 125'000, kLeastStillPacedBytes = kLeastPacedBytes * 9 / 10;
constexpr bool paces_requests(int limit_bytes_per_s, bool paced_before) {
  return limit_bytes_per_s >= (paced_before ? kLeastStillPacedBytes : kLeastPacedBytes);
}

/// When blocks may be asked for so that what comes back keeps to a rate: a virtual clock (Zhang, SIGCOMM 1990), which
/// each block sets forward by the time that it takes at that rate. Limiting what is asked for leaves nothing waiting in
/// buffers on the way, and no lane's window shrinks; libtorrent's own limiter leaves received bytes in the sockets and
/// hands out its quota in ticks, which costs up to a tenth of a high rate. Not thread-safe.
class RequestPacer {
 public:
  /// Bytes a second; 0: no limit.
  void set_rate(std::uint64_t bytes_per_s);
  bool limits() const { return rate_ > 0; }
  /// Whether so many bytes may be asked for now; where they may, they are taken as asked for.
  bool passes(MonoTime now, std::uint64_t bytes);
  /// The two halves of `passes`, for whoever has to ask somebody else in between.
  bool ready(MonoTime now) const { return rate_ == 0 || clock_ <= now; }
  void take(MonoTime now, std::uint64_t bytes);

 private:
  std::chrono::nanoseconds duration_of(std::uint64_t bytes) const;

  std::uint64_t rate_ = 0;
  MonoTime clock_{};
  MonoTime last_began_{};  ///< the last block, on that clock
  std::uint64_t last_bytes_ = 0;
};

}  // namespace gridtorrent::client::engine
