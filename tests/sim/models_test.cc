// What both models owe to a tuner before its figures mean anything.
#include <gtest/gtest.h>

#include <array>

#include "client/tuning/tcp_rate.h"
#include "tests/sim/optimum.h"
#include "tests/sim/window_network.h"

namespace gridtorrent::sim {
namespace {

class Models : public ::testing::TestWithParam<Model> {
 protected:
  static Scenario link(double bits_per_s, double round_trip) {
    Scenario scenario;
    scenario.name = "link";
    scenario.world.seeders = {{.uplink = 1e11, .round_trip = round_trip}};
    scenario.world.paths = {{.rate = bits_per_s}};
    return scenario;
  }
};

TEST_P(Models, CarryNoMoreThanTheLinkDoes) {
  for (const double bits_per_s : {1e6, 1e8, 2.5e9}) {
    for (const double round_trip : {0.0003, 0.02, 0.3}) {
      FixedLanes fixed({16});
      const auto result = run(GetParam(), link(bits_per_s, round_trip), fixed, 1, 20);
      // The rate model's noise is as often above as below.
      EXPECT_LE(result.mean(0, 20), 1.03 * bits_per_s) << bits_per_s << " bit/s, " << round_trip << " s";
    }
  }
}
TEST_P(Models, HoldATransferBelowItsLimit) {
  FixedLanes fixed({4});
  Task limited;
  limited.limit = 20'000'000;
  const auto result = run(GetParam(), link(1e8, 0.02), fixed, 1, 30, limited);
  EXPECT_NEAR(result.mean(5, 30) / 20e6, 1.0, 0.05);
}
TEST_P(Models, EndWhenAllIsThere) {
  FixedLanes fixed({4});
  Task small;
  small.bytes = 50'000'000;
  const auto result = run(GetParam(), link(1e8, 0.02), fixed, 1, 60, small);
  EXPECT_EQ(result.bytes, 50e6);
  EXPECT_GT(result.seconds, 4);
  EXPECT_LT(result.seconds, 7);
}
INSTANTIATE_TEST_SUITE_P(Both, Models, ::testing::Values(Model::kWindows, Model::kRates),
                         [](const auto& tested) { return std::string(model_name(tested.param)); });

TEST(WindowModel, ALaneComesToWhatTheRfcSaysOverAnyRoundTrip) {
  constexpr double kBegin = 10, kEnd = 40;
  for (const double round_trip : {0.0003, 0.001, 0.01, 0.05}) {
    for (const double loss : {1e-4, 1e-3}) {
      World world;
      world.seeders = {{.uplink = 1e11, .round_trip = round_trip, .window_bytes = 1e9, .loss = loss}};
      world.paths = {{.rate = 1e11}};
      double bytes = 0;
      constexpr int kSeeds = 10;
      for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        WindowNetwork network(world, seed);
        const int lane = network.open(0, 0);
        network.advance(kBegin);
        bytes -= network.figures(lane).received_bytes;
        network.advance(kEnd - kBegin);
        bytes += network.figures(lane).received_bytes;
      }
      const auto micros = std::chrono::microseconds(static_cast<std::int64_t>(round_trip * 1e6));
      const double said = client::tuning::long_run_bits_per_s({micros, loss, kSegmentBytes}, "cubic");
      EXPECT_NEAR(bytes * 8 / kSeeds / (kEnd - kBegin) / said, 1.0, 0.25) << round_trip << " s, " << loss;
    }
  }
}

}  // namespace
}  // namespace gridtorrent::sim
