#include "client/tuning/goal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "client/tuning/demand.h"
#include "client/tuning/wording.h"

namespace gridtorrent::client::tuning {
namespace {

/// Where nobody set a limit: a rate that no network has.
constexpr double kNoLimit = 1e15;

/// What is promised of a target.
constexpr double kBand = 0.05;

/// Until the last byte has to be here; there is a deadline.
std::chrono::nanoseconds time_to_fetch(const ControllerInput& input) {
  return *input.deadline - input.now - std::max<std::chrono::nanoseconds>(kToFinish, input.to_finish);
}

/// "8 s", "12 min", "3.5 h".
std::string duration_text(double seconds) {
  if (seconds < 100) return formatted("%.0f s", seconds);
  if (seconds < 6000) return formatted("%.0f min", seconds / 60);
  return formatted("%.1f h", seconds / 3600);
}

TargetState state_of_target(double target, double rate) {
  TargetState state{TargetState::Kind::kTarget, false, target, std::max(0.0, 1 - rate / target), {}};
  state.held = std::abs(rate - target) <= kBand * target;
  if (state.held) {
    state.text = formatted("holds %.3g Mbit/s", mbit(target));
  } else if (rate < target) {
    state.text = formatted("%.0f %% short of %.3g Mbit/s", 100 * state.shortfall, mbit(target));
  } else {
    state.text = formatted("%.0f %% above %.3g Mbit/s", 100 * (rate / target - 1), mbit(target));
  }
  return state;
}

TargetState state_of_deadline(const ControllerInput& input, double rate) {
  const double bits = static_cast<double>(input.bytes_left) * 8;
  const double usable = std::max(std::chrono::duration<double>(time_to_fetch(input)).count(), 0.0);
  TargetState state{TargetState::Kind::kDeadline, false, usable > 0 ? bits / usable : kNoLimit, 0, {}};
  state.shortfall = std::clamp(1 - rate / state.wanted_bits_per_s, 0.0, 1.0);
  if (*input.deadline <= input.now) {
    state.text = "late: the time is past";
  } else if (rate <= 0) {
    state.text = formatted("late: nothing comes, %.3g Mbit/s would be in time", mbit(state.wanted_bits_per_s));
  } else if (bits / rate <= usable) {
    state.held = true;
    state.text = "in time, with " + duration_text(usable - bits / rate) + " to spare";
  } else {
    state.text = "late by " + duration_text(bits / rate - usable) +
                 formatted(": %.3g Mbit/s, and %.3g would be in time", mbit(rate), mbit(state.wanted_bits_per_s));
  }
  return state;
}

TargetState state_of_floor(double floor, double rate) {
  TargetState state{TargetState::Kind::kFloor, rate >= kHeld * floor, floor, std::max(0.0, 1 - rate / floor), {}};
  state.text = state.held ? formatted("at least %.3g Mbit/s", mbit(floor))
                          : formatted("%.0f %% short of %.3g Mbit/s", 100 * state.shortfall, mbit(floor));
  return state;
}

}  // namespace

double needed_for(std::uint64_t bytes, std::chrono::nanoseconds time) {
  const double seconds = std::chrono::duration<double>(time).count() * kOfTheTime;
  if (bytes == 0) return 0;
  return seconds > 0 ? static_cast<double>(bytes) * 8 / seconds : std::numeric_limits<double>::infinity();
}

Goal goal_of(const ControllerInput& input) {
  const double limit = input.limit_bits_per_s > 0 ? static_cast<double>(input.limit_bits_per_s) : kNoLimit;
  Goal goal;
  goal.target = std::min(static_cast<double>(input.target_bits_per_s), limit);
  goal.floor = std::min(static_cast<double>(input.floor_bits_per_s), limit);
  goal.polite = input.mode == TuningMode::kBackground;
  if (input.deadline) {
    goal.floor = std::min(std::max(goal.floor, needed_for(input.bytes_left, time_to_fetch(input))), limit);
    goal.polite = input.mode != TuningMode::kGreedy && time_to_fetch(input) >= kNoTimeForOthers;
  }
  return goal;
}

bool Lateness::step(MonoTime now, const Goal& goal, double bits_per_s) {
  if (goal.floor <= 0) *this = Lateness();
  if (goal.floor <= 0 || late_) return late_;
  if (now - stepped_ > kPausedAfter) begun_.reset();
  stepped_ = now;
  if (!begun_) begun_ = now;
  if (now - *begun_ < kBegun || bits_per_s >= kHeld * goal.floor) {
    low_since_.reset();
    return false;
  }
  if (!low_since_) low_since_ = now;
  late_ = now - *low_since_ >= kTooLow;
  return late_;
}

std::optional<TargetState> state_of(const ControllerInput& input, double bits_per_s) {
  if (input.target_bits_per_s > 0) return state_of_target(static_cast<double>(input.target_bits_per_s), bits_per_s);
  std::optional<TargetState> floor, deadline;
  if (input.floor_bits_per_s > 0) floor = state_of_floor(static_cast<double>(input.floor_bits_per_s), bits_per_s);
  if (input.deadline && input.bytes_left > 0) deadline = state_of_deadline(input, bits_per_s);
  const bool only_floor_missed = deadline && deadline->held && floor && !floor->held;
  return deadline && !only_floor_missed ? deadline : floor;
}

}  // namespace gridtorrent::client::tuning
