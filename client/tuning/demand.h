#pragma once

#include <chrono>
#include <optional>

#include "common/clock.h"

/// How many lanes it takes to hold a rate on a path where others are.
namespace gridtorrent::client::tuning {

/// Until then a transfer's lanes are dialled and have left slow start.
inline constexpr std::chrono::seconds kBegun{5};
/// A rate that is too low for so long is answered with more lanes.
inline constexpr std::chrono::seconds kTooLow{2};
/// So much later the new lanes have shown what they bring: they stand within a second, and slow start takes some round
/// trips more, the waits on the path included.
inline constexpr std::chrono::seconds kNewLanes{3};
inline constexpr int kNewLanesRoundTrips = 20;
inline constexpr std::chrono::seconds kLongestNewLanes{20};
/// A fifth more than what the lanes now would have to bring alike: others lose a part, but not all of it, to new ones.
inline constexpr double kMoreThanInProportion = 1.2;
/// At most so many times the lanes in one step, and so many where they bring less than half of what is wanted: after a
/// long time alone on the path one lane is left, and a target has to be back within ten seconds. Where others
/// took the rate of a transfer that gives way to them down to a floor, it gets kGrowAtMost times the lanes at once:
/// they are still taking, and its pace keeps it near the floor. Emulated, 30 Mbit/s beside eight flows from 15 s on,
/// three runs each: 3, 2 and 3 windows of five seconds were below it with the factor above, 2, 2 and 1 so.
inline constexpr int kGrowAtMost = 2, kGrowFarBelow = 4;
/// Likewise once, before the floor is missed, where others have taken the pace of such a transfer down to it: lanes
/// that a pace holds back lose their windows to the others' losses, and the rate shows it when they are gone.
/// Simulated, floors of 15, 30 and 45 of 96 Mbit/s beside 4, 8 and 16 flows, 12 seeds, windows of five seconds that
/// reach the floor: 0.89 without, 0.93 with twice, 0.96 with three times, 0.97 with four times the lanes. In all the
/// transfer brings at most a tenth more than without.
inline constexpr int kAtFloor = 3;
/// More lanes that bring less than this part of what they would bring in proportion bring nothing, and end. Not where
/// the path is full and the rate was held before: others took it, so without these lanes it would be lower still. Those
/// stay, until the pause below is at its longest.
inline constexpr double kBroughtNothing = 0.1;
/// Then no more are tried for so long, twice as long each time, to kMostTryAgain. The rate may have fallen meanwhile
/// for others' sake: with 20 s instead, the same simulation beside 8 flows held the floor in 78 instead of 86 % of the
/// windows.
inline constexpr std::chrono::seconds kTryAgain{5}, kMostTryAgain{60};
/// The rate was held for so long on a path that is not full: two thirds of the lanes may do. Where they do not, the
/// number is kept for a minute, then two, and so on.
inline constexpr std::chrono::seconds kHeldFor{20}, kKept{60};
inline constexpr double kFewer = 2.0 / 3;

struct DemandFacts {
  double wanted = 0;                        ///< bits of payload a second; 0: nothing is to be held
  bool exact = false;                       ///< no more than that is wanted, either
  bool full = false;                        ///< packets wait on the path: fewer lanes would leave the rate to others
  double bits_per_s = 0;                    ///< payload, over the last two seconds
  int lanes = 0;                            ///< in all, that the transfer would have otherwise
  int most = 0;                             ///< in all, as it is allowed
  std::chrono::microseconds round_trip{0};  ///< the longest now, of a source; 0: not known
  int least = 1;           ///< in all: a lane to each source stands, and losses prove that it takes some
  bool held_back = false;  ///< it is slower for others' sake: more lanes would not make it faster
  bool paced = false;      ///< a pace keeps it near what is wanted while packets wait (pace.h)
  bool at_floor = false;   ///< that pace is as low as it gets, since packets wait
};

/// Adds lanes while a rate that is to be held is missed, and gives some up while it is held. A value: no thread, no
/// clock.
class Demand {
 public:
  /// About once a second. Lanes in all: exactly so many where the rate is to be held exactly, else at least; 0: it asks
  /// for none.
  int step(MonoTime now, const DemandFacts& facts);
  /// Nothing came for a time: lanes have to get up speed again.
  void interrupted();
  /// The rate is missed, and more lanes bring nothing or are not allowed.
  bool in_vain() const { return in_vain_; }

 private:
  struct Grown {
    double bits_per_s = 0;
    int lanes = 0;
  };
  /// Another rate is another question. What the lanes now bring is not.
  void want(double bits_per_s);
  /// The path has carried what is wanted, and packets wait on it.
  bool others_took_it(const DemandFacts& facts) const;
  void grow(MonoTime now, const DemandFacts& facts);
  void grow_at_floor(MonoTime now, const DemandFacts& facts);
  int wished(int lanes, const DemandFacts& facts) const;
  void shrink(MonoTime now, const DemandFacts& facts);
  void change(MonoTime now, int lanes);

  double wanted_ = 0;
  double best_ = 0;  ///< rate so far
  int lanes_ = 0;
  std::optional<MonoTime> begun_, low_since_, held_since_;
  std::optional<MonoTime> met_since_;  ///< the rate is held, be the path full or not
  std::optional<Grown> grown_;
  std::optional<int> given_up_;  ///< lanes before some were given up
  MonoTime changed_{}, not_before_{}, kept_until_{};
  std::chrono::seconds try_again_ = kTryAgain, kept_ = kKept;
  bool in_vain_ = false;
  bool grown_at_floor_ = false;  ///< lanes were added for it, and packets have waited ever since
};

}  // namespace gridtorrent::client::tuning
