#pragma once

#include <chrono>
#include <optional>

#include "client/plan/controller.h"
#include "client/plan/findings.h"

/// What a transfer is held to: a rate, a floor, a deadline, and whether others go first. Pure.
namespace gridtorrent::client::tuning {

/// Of the time until a deadline so much is planned with; the rest is for what nobody foresees.
inline constexpr double kOfTheTime = 0.95;
/// Before a transfer is done its files are verified, synced and moved: so long at least.
inline constexpr std::chrono::seconds kToFinish{3};
/// A rate counts as held from this part of what is wanted on: inside the promised 5 %, so that lanes are added before
/// the promise is broken.
inline constexpr double kHeld = 0.97;
/// Nothing is promised below a floor, so lanes are added as if so much more were wanted: below 1.01 of it.
inline constexpr double kOverFloor = 1.04;
/// A deadline that is nearer than this leaves no time to see that being polite is too slow.
inline constexpr std::chrono::seconds kNoTimeForOthers{10};

/// Rates in bits of payload a second; 0: none.
struct Goal {
  double target = 0;    ///< to be held, neither more nor less
  double floor = 0;     ///< not to fall below, for a person's sake or a deadline's
  bool polite = false;  ///< others on a shared path go first, down to the floor
  /// What lanes are to bring at least: the target, else somewhat more than the floor.
  double wanted() const { return target > 0 ? target : kOverFloor * floor; }
  friend bool operator==(const Goal&, const Goal&) = default;
};

/// The rate that brings so many bytes in so much time, with something to spare; infinite where there is no time.
double needed_for(std::uint64_t bytes, std::chrono::nanoseconds time);

/// A deadline is a floor that changes with what is left to do; but for the mode "greedy", a transfer that has one is
/// polite as long as it is in time, and but for its last seconds. A person's limit binds all of it.
Goal goal_of(const ControllerInput& input);

/// Whether the rate that is not to fall below a floor did: from then on a transfer that lets others go first does so by
/// its pace alone, and no longer does without BBR for their sake. Once it was too slow so, it would be again.
/// A value: no thread, no clock.
class Lateness {
 public:
  /// About once a second while data comes, with the rate of the last two; a time without calls is none of the floor's.
  /// True from the first time on, until nothing is to be held.
  bool step(MonoTime now, const Goal& goal, double bits_per_s);

 private:
  std::optional<MonoTime> begun_, low_since_;
  MonoTime stepped_{};
  bool late_ = false;
};

/// Whether it is kept, for people: the target ±5 %, the deadline at the rate of the last seconds, or the floor, in this
/// order; of a deadline and a floor the one that is missed. A limit that is lower than what was asked for is no excuse.
/// `bits_per_s`: payload, over some five seconds. Nothing where nobody asked for any.
std::optional<TargetState> state_of(const ControllerInput& input, double bits_per_s);

}  // namespace gridtorrent::client::tuning
