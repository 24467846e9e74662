#pragma once

#include <chrono>
#include <optional>

#include "client/plan/controller.h"
#include "client/plan/findings.h"

/// What a transfer is held to: a rate, a floor, a deadline, and whether others go first. Pure.
namespace gridtorrent::client::tuning {

/// Of the time until a deadline so much is planned with; the rest is for what nobody foresees.
inline constexpr double kOfTheTime = 0.95;
/// Before a transfer is done its files are verified and moved.
inline constexpr std::chrono::seconds kToFinish{3};
/// Where the rate is far below the target, this part of it counts as held: half of the promised ±5 %, so that lanes are
/// added before the promise is broken.
inline constexpr double kHeld = 0.97;

/// Rates in bits of payload a second; 0: none.
struct Goal {
  double target = 0;    ///< to be held, neither more nor less
  double floor = 0;     ///< not to fall below, for a person's sake or a deadline's
  bool polite = false;  ///< others on a shared path go first, down to the floor
  /// What the rate must not fall below: the target, else the floor.
  double wanted() const { return target > 0 ? target : floor; }
  friend bool operator==(const Goal&, const Goal&) = default;
};

/// The rate that brings so many bytes in so much time, with something to spare; infinite where there is no time left.
double needed_for(std::uint64_t bytes, std::chrono::nanoseconds left);

/// A deadline is a floor that changes with what is left to do; but for the mode "greedy", a transfer that has one is
/// polite as long as it is in time. A person's limit binds all of it.
Goal goal_of(const ControllerInput& input);

/// Whether the rate that is not to fall below a floor did: from then on a transfer that lets others go first does so by
/// its pace alone, and no longer does without BBR for their sake. Once it was too slow so, it would be again.
/// A value: no thread, no clock.
class Lateness {
 public:
  /// About once a second, over the last two, while data comes or lanes stand that could bring some; a pause between
  /// calls is none of the floor's. True from the first time on, until nothing is to be held.
  bool step(MonoTime now, const Goal& goal, double bits_per_s);

 private:
  std::optional<MonoTime> begun_, low_since_;
  MonoTime stepped_{};
  bool late_ = false;
};

/// Whether it is kept, for people: the target ±5 %, the deadline at the rate of the last seconds, or the floor, in this
/// order. `bits_per_s`: payload, over some five seconds. Nothing where nobody asked for any.
std::optional<TargetState> state_of(const ControllerInput& input, double bits_per_s);

}  // namespace gridtorrent::client::tuning
