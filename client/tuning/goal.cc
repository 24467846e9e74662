#include "client/tuning/goal.h"

#include <algorithm>
#include <limits>

namespace gridtorrent::client::tuning {
namespace {

/// Where nobody set a limit: a rate that no network has.
constexpr double kNoLimit = 1e15;

}  // namespace

double needed_for(std::uint64_t bytes, std::chrono::nanoseconds left) {
  const double seconds = std::chrono::duration<double>(left - kToFinish).count() * kOfTheTime;
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
    goal.floor = std::min(std::max(goal.floor, needed_for(input.bytes_left, *input.deadline - input.now)), limit);
    goal.polite = input.mode != TuningMode::kGreedy;
  }
  return goal;
}

}  // namespace gridtorrent::client::tuning
