#pragma once

#include <array>
#include <cstdint>

#include "common/clock.h"

namespace gridtorrent::client::engine {

/// How many blocks of 16 KiB a lane should have asked for and not yet got, decided block by block. libtorrent's own
/// rule climbs from 4 and, later, follows the rate of the moment: a dip then shrinks what is asked for, which keeps the
/// rate low; and a second's worth of blocks on each lane is a second's tail at the end.
///
/// Ours is the rule by which TCP sizes a receive window (dynamic right-sizing, Fisk and Feng 2001): twice what arrived
/// in the best round trip of late, so that a doubling sender is never held up, and a little for what the seeder needs
/// to find it. A rate counts with the round trip of its own time: where a link becomes slow, packets wait, and what
/// came at the rate of before in a round trip of now would be all that is left. Not thread-safe: one lane's, in the
/// network thread.
class RequestDepth {
 public:
  /// The round trip as TCP sees it, microseconds; 0: not known.
  void set_round_trip(std::uint32_t us);
  /// A block came.
  void received(MonoTime now, std::uint64_t bytes);
  /// Blocks. What waits at a slow peer can no longer be asked of one that has it meanwhile, so the depth is kept
  /// small.
  int blocks() const { return depth_; }
  /// The same where in so many seconds nothing will be left to ask for: what comes at the present rate until then and
  /// for a round trip after. A lane that holds more would go on alone when the others have nothing left to do.
  int blocks_at_the_end(double left_s) const;
  /// How many of a lane's blocks are asked for together, in one packet and one TLS record: an eighth of its depth,
  /// which leaves more than a round trip's worth outstanding; 8 at most.
  static int at_once(int depth);
  /// As they come now: of late (`end_round`), or less where the round that is not over has lasted too long; 0: not
  /// known.
  double bytes_per_s(MonoTime now) const;
  /// The most that it was of late; 0: not known.
  double sustained_bytes_per_s() const { return best_.sustained_bytes_per_s; }
  double round_trip_s() const { return static_cast<double>(round_trip_us_) / 1e6; }
  /// What it measures over, seconds: a round trip, or a little more on a short one.
  double round_s() const;

  static constexpr int kFirst = 4;  ///< before anything was measured
  static constexpr int kLeast = 2;
  /// What a seeder may take to read and send a block beyond the round trip, when speed matters less than that nobody is
  /// last, seconds.
  static constexpr double kServiceAtTheEndS = 0.02;

 private:
  struct Round {
    double bytes = 0, seconds = 0;
  };
  /// The present rate is that of four rounds, since what a lost segment held up comes all at once, or that of the last
  /// one where the lane has become slower.
  void end_round(double elapsed_s);
  Round all_rounds() const;

  /// Bytes to have asked for at this rate, as long as a round trip is now.
  double wanted(double bytes_per_s) const;

  std::uint32_t round_trip_us_ = 0;
  MonoTime round_start_{}, best_until_{};
  std::uint64_t round_bytes_ = 0;
  std::array<Round, 4> rounds_{};  ///< the last one first
  double bytes_per_s_ = 0;
  struct Best {
    double bytes_per_s = 0;
    double bytes = 0;  ///< that a rate asked for in its own time
    double sustained_bytes_per_s = 0;
    void note(const Best& other);
  };
  Best best_{}, next_{};  ///< of this span and the one before; of this one
  int depth_ = kFirst;
};

}  // namespace gridtorrent::client::engine
