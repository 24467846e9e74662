// Rates that are held, floors, deadlines and the way for others, over 100 Mbit/s and 40 ms with a window per lane.
#include <gtest/gtest.h>

#include <algorithm>

#include "client/tuning/registry.h"
#include "tests/sim/runner.h"

namespace gridtorrent::sim {
namespace {

constexpr double kMbit = 1e6, kPath = 96 * kMbit;
constexpr int kCome = 15, kGo = 45;  ///< seconds at which rivals come and go
constexpr int kStay = kGo - kCome;

/// So many flows of others for 30 seconds; or all the time.
Scenario shared(int rivals, bool always = false, int come = kCome, int seeders = 1) {
  Scenario scenario;
  scenario.name = "shared";
  for (int i = 0; i < seeders; ++i) {
    scenario.world.seeders.push_back({.uplink = 1e9, .round_trip = 0.04, .window_bytes = 64e6});
  }
  scenario.world.paths = {{.rate = kPath}};
  if (always) {
    scenario.world.paths[0].rivals = rivals;
    return scenario;
  }
  scenario.events = {static_cast<double>(come), static_cast<double>(come + kStay)};
  scenario.change = [rivals](int phase, World& world) { world.paths[0].rivals = phase == 0 ? rivals : 0; };
  return scenario;
}

sim::Run of(const Scenario& scenario, const Task& task, int seconds, std::uint64_t seed = 3,
            Model model = Model::kWindows) {
  const auto tuner = client::tuning::make_tuner("auto", 1);
  return run(model, scenario, *tuner, seed, seconds, task);
}

struct Case {
  Model model;
  int rivals;
  std::uint64_t mbit;
  int seeders = 1;
  int come = kCome;  ///< when others do
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto model : {Model::kWindows, Model::kRates}) {
    for (const int rivals : {0, 4, 8}) {
      for (const std::uint64_t mbit : {15U, 30U, 60U}) all.push_back({model, rivals, mbit});
    }
    // By then the lanes that nobody needed have ended, down to one to each seeder.
    for (const int seeders : {1, 2, 8}) {
      for (const std::uint64_t mbit : {30U, 60U}) all.push_back({model, 8, mbit, seeders, 100});
    }
  }
  return all;
}

class Targets : public ::testing::TestWithParam<Case> {};

TEST_P(Targets, AreHeldWithinFivePercentAndBackWithinTenSecondsAfterOthersCame) {
  const auto [model, rivals, mbit, seeders, come] = GetParam();
  const double target = static_cast<double>(mbit) * kMbit;
  const int end = come + kStay + 25;
  const auto brought = of(shared(rivals, false, come, seeders), {.target = mbit * 1'000'000}, end, 3, model);
  for (int second = 5; second + 5 <= end; second += 5) {
    const double mean = brought.mean(second, second + 5);
    EXPECT_LE(mean, 1.05 * target) << "from second " << second;
    const bool others_came = rivals > 0 && second >= come && second < come + 10;
    // Their windows still grow when the lanes are enough for the first time: a step more is due for some seconds.
    const bool late = come > kCome && second >= come && second < come + kStay;
    EXPECT_GE(mean, (others_came ? 0.7 : late ? 0.9 : 0.95) * target) << "from second " << second;
  }
  EXPECT_NEAR(brought.mean(5, come), target, 0.03 * target);
}
INSTANTIATE_TEST_SUITE_P(Beside, Targets, ::testing::ValuesIn(cases()), [](const auto& tested) {
  return model_name(tested.param.model) + std::to_string(tested.param.rivals) + "Rivals" +
         std::to_string(tested.param.mbit) + "Mbit" + std::to_string(tested.param.seeders) + "SeedersAt" +
         std::to_string(tested.param.come);
});

TEST(Floors, AreHeldInTheBackgroundBesideOthers) {
  constexpr std::uint64_t kSeeds = 12;  // with one, luck decides
  for (const int rivals : {4, 8}) {
    int held = 0, windows = 0;
    double mean = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const auto brought =
          of(shared(rivals), {.floor = 30'000'000, .mode = client::TuningMode::kBackground}, kGo, seed);
      for (int second = kCome; second + 5 <= kGo; ++second, ++windows) {
        held += brought.mean(second, second + 5) >= 30 * kMbit ? 1 : 0;
      }
      mean += brought.mean(kCome + 12, kGo) / kSeeds;
    }
    EXPECT_GE(held, 0.95 * windows) << rivals << " rivals";
    EXPECT_GE(mean, 30 * kMbit) << rivals << " rivals";
    EXPECT_LE(mean, 36 * kMbit) << "no more than that is taken from " << rivals;
  }
}

TEST(Deadlines, AreMetAndLeaveOthersWhatTheyCan) {
  for (const auto& [rivals, by] : std::vector<std::pair<int, double>>{{0, 60}, {4, 60}, {8, 120}}) {
    const auto brought = of(shared(rivals), {.bytes = 300'000'000, .by = by}, 130);
    EXPECT_LE(brought.seconds, by) << rivals << " rivals";
  }
}

TEST(Background, HasNearlyAllOfAPathThatNobodyElseUses) {
  const auto brought = of(shared(0), {.mode = client::TuningMode::kBackground}, 60);
  EXPECT_GE(brought.mean(10, 60), 0.9 * kPath);
}
TEST(Background, LeavesAPathToOneFlowButForATenth) {
  const auto brought = of(shared(1, true), {.mode = client::TuningMode::kBackground}, 60);
  EXPECT_LE(brought.mean(30, 60), 0.12 * kPath);
}

TEST(Balanced, LeavesAFlowAThirdOfThePath) {
  constexpr std::uint64_t kSeeds = 9;
  double first = 0, later = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const auto brought = of(shared(1, true), {}, 60, seed);
    first += brought.mean(0, 30) / kSeeds;
    later += brought.mean(20, 60) / kSeeds;
  }
  EXPECT_LE(first, 0.65 * kPath) << "though slow start takes nearly all of it";
  EXPECT_LE(later, 0.7 * kPath) << "0.40 of the half that it has beside another flow is a fifth";
  EXPECT_GE(later, 0.5 * kPath);
}
TEST(Greedy, TakesMoreThanBalanced) {
  const double balanced = of(shared(1, true), {}, 60).mean(20, 60);
  EXPECT_GE(of(shared(1, true), {.mode = client::TuningMode::kGreedy}, 60).mean(20, 60), 1.2 * balanced);
}

}  // namespace
}  // namespace gridtorrent::sim
