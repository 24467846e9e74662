#include "client/engine/round_clock.h"

#include <algorithm>
#include <utility>

namespace gridtorrent::client::engine {
namespace {

using namespace std::chrono_literals;

constexpr auto kCalm = 30ms;
constexpr RoundClock::Rest kShortestRound = 500us, kLongestRound = 5ms;
constexpr int kRoundsInARoundTrip = 8;

}  // namespace

bool RoundClock::data_flows(MonoTime now, std::uint32_t round_trip_us) {
  const Rest round = std::min(Rest(round_trip_us / kRoundsInARoundTrip), kLongestRound);
  if (round < kShortestRound) {
    near_flowed_ = now;
    return false;
  }
  flowed_ = now;
  shortest_ = std::min(shortest_.value_or(round), round);
  return now - near_flowed_ > kCalm;
}

std::optional<RoundClock::Rest> RoundClock::rest(MonoTime now) {
  if (now - flowed_ > kCalm || now - near_flowed_ <= kCalm) {
    shortest_.reset();
    return std::nullopt;
  }
  round_ = std::exchange(shortest_, std::nullopt).value_or(round_);
  const Rest left = std::chrono::ceil<Rest>(looked_ + round_ - now);
  const Rest rest = std::clamp(left, Rest(0), round_);
  looked_ = now + rest;
  return rest;
}

}  // namespace gridtorrent::client::engine
