#pragma once

#include <cstdint>

#include "common/clock.h"

namespace gridtorrent::client::engine {

/// How many blocks of 16 KiB a lane should have asked for and not yet got, decided block by block. libtorrent's own
/// rule climbs from 4 and, later, follows the rate of the moment: a dip then shrinks what is asked for, which keeps the
/// rate low; and a second's worth of blocks on each lane is a second's tail at the end (lanes.md).
///
/// Ours is the rule by which TCP sizes a receive window (dynamic right-sizing, Fisk and Feng 2001): twice what arrived
/// in the best round trip of late, so that a doubling sender is never held up, and a little for what the seeder needs
/// to find it. Not thread-safe: one lane's, in the network thread.
class RequestDepth {
 public:
  /// The round trip as TCP sees it, microseconds; 0: not known.
  void set_round_trip(std::uint32_t us);
  /// A block came.
  void received(MonoTime now, std::uint64_t bytes);
  /// Blocks. What waits at a slow peer can no longer be asked of one that has it meanwhile, so that is little.
  int blocks() const { return depth_; }

  static constexpr int kFirst = 8;  ///< before anything was measured
  static constexpr int kLeast = 2;

 private:
  std::uint32_t round_trip_us_ = 0;
  MonoTime round_start_{}, best_until_{};
  std::uint64_t round_bytes_ = 0;
  double best_bytes_per_s_ = 0, next_bytes_per_s_ = 0;  ///< of this span, and of the one before it ended
  int depth_ = kFirst;
};

}  // namespace gridtorrent::client::engine
