// The window model against what was measured: `long-6GB` of ./dev bench, a link of 1 Gbit/s (940 Mbit/s of payload), a
// round trip of 50 ms, 0.005 % of random loss, a queue of one bandwidth-delay product, CUBIC.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iostream>

#include "tests/sim/window_network.h"

namespace gridtorrent::sim {
namespace {

constexpr int kSeeds = 100;  ///< so many that their median moves by less than 2 %
constexpr double kStep = 5;  ///< seconds

World long_link() {
  World world;
  world.seeders = {{.uplink = 1e10, .round_trip = 0.05, .window_bytes = 33'554'432, .loss = 5e-5}};
  world.paths = {{.rate = 940e6}};
  return world;
}

/// Mbit/s in steps of five seconds: of each the median over the seeds.
std::vector<double> medians(int lanes, std::size_t steps) {
  const World world = long_link();
  std::vector<std::vector<double>> rates(steps);
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    WindowNetwork network(world, seed);
    std::vector<int> open;
    for (int i = 0; i < lanes; ++i) open.push_back(network.open(0, 0));
    double before = 0;
    for (auto& rate : rates) {
      network.advance(kStep);
      double bytes = 0;
      for (const int lane : open) bytes += network.figures(lane).received_bytes;
      rate.push_back((bytes - before) * 8 / kStep / 1e6);
      before = bytes;
    }
  }
  std::vector<double> medians;
  for (auto& rate : rates) {
    std::ranges::sort(rate);
    medians.push_back((rate[kSeeds / 2 - 1] + rate[kSeeds / 2]) / 2);
  }
  return medians;
}

void expect_near(const std::vector<double>& simulated, const std::vector<double>& measured) {
  for (std::size_t i = 0; i < measured.size(); ++i) {
    std::cout << "  " << kStep * static_cast<double>(i) << " s: simulated " << simulated[i] << ", measured "
              << measured[i] << " Mbit/s\n";
    // The first step holds programs' starts, which no model of TCP has.
    if (i == 0) continue;
    EXPECT_NEAR(simulated[i] / measured[i], 1.0, 0.15) << "from second " << kStep * static_cast<double>(i);
  }
}

TEST(WindowModel, CarriesWhatEightGridFtpStreamsWereMeasuredToCarry) {
  const std::vector<double> measured{741, 739, 530, 446, 416, 408, 392, 376, 386, 389, 391};
  expect_near(medians(8, measured.size()), measured);
}
TEST(WindowModel, CarriesWhatSixteenLanesWereMeasuredToCarry) {
  const std::vector<double> measured{836, 929, 940, 927, 924, 836, 881, 846, 791, 748, 760};
  expect_near(medians(16, measured.size()), measured);
}

}  // namespace
}  // namespace gridtorrent::sim
