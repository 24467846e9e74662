#pragma once

#include <cstdint>

#include "common/clock.h"

namespace gridtorrent::client::engine {

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
  std::uint64_t rate_ = 0;
  MonoTime clock_{};
};

}  // namespace gridtorrent::client::engine
