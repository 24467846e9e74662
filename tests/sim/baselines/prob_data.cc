#include <algorithm>
#include <cmath>
#include <random>

#include "tests/sim/baselines/baselines.h"

namespace gridtorrent::sim {
namespace {

/// The logarithms of channels and streams, so that a step is a factor.
struct Point {
  double channels = 1, streams = 1;
  Setting setting() const {
    return {static_cast<int>(std::round(std::exp2(channels))), static_cast<int>(std::round(std::exp2(streams)))};
  }
};

Point beside(const Point& point, double channels, double streams) {
  return {std::clamp(point.channels + channels, 0.0, 5.0), std::clamp(point.streams + streams, 0.0, 4.0)};
}

}  // namespace

/// θ += aₖ·(y(θ + cₖΔ) − y(θ − cₖΔ))/(2cₖΔ), Δ = ±1, aₖ = a/(A + k + 1)^0.602, cₖ = c/(k + 1)^0.101 (Spall, 1998);
/// y in parts of the path's rate.
Script prob_data(PathFacts facts, std::uint64_t seed) {
  constexpr double kSample = 5, kSettle = 1, kA = 4, kStability = 5, kC = 0.5;
  std::mt19937_64 random(seed);
  Point point;
  for (int k = 0;; ++k) {
    const double a = kA / std::pow(kStability + k + 1, 0.602), c = kC / std::pow(k + 1, 0.101);
    const std::uint64_t bits = random();
    const double one = (bits & 1) != 0 ? 1 : -1, other = (bits & 2) != 0 ? 1 : -1;
    const double above =
        (co_await hold(beside(point, c * one, c * other).setting(), kSample, kSettle)).bits_per_s / facts.bits_per_s;
    const double below =
        (co_await hold(beside(point, -c * one, -c * other).setting(), kSample, kSettle)).bits_per_s / facts.bits_per_s;
    const double step = a * (above - below) / (2 * c);
    point = beside(point, step * one, step * other);
  }
}

}  // namespace gridtorrent::sim
