// What `auto` comes to in simulation, as parts of the best fixed plan of the same world; medians of five seeds. What
// was wanted and is not reached stands in tests/sim/README.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "client/tuning/registry.h"
#include "tests/sim/baselines/baselines.h"
#include "tests/sim/held_links.h"
#include "tests/sim/random_links.h"
#include "tests/sim/table.h"

namespace gridtorrent::sim {
namespace {

constexpr int kSeeds = 5;    // 1 to 5
constexpr int kLinks = 200;  // seeds 1 to 200

struct Outcome {
  Scenario scenario;
  Optimum optimum{};
  Score median{};
  std::vector<Run> runs{};  ///< one for each seed
};

std::vector<Outcome> play(Model model, double noise = 0) {
  std::vector<Outcome> outcomes;
  auto all = scenarios();
  all.push_back(long_link());
  for (auto& scenario : all) {
    scenario.world.noise = noise;
    Outcome outcome{.scenario = scenario};
    outcome.optimum = find_optimum(model, scenario, 1);
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const auto tuner = client::tuning::make_tuner("auto", seed);
      outcome.runs.push_back(run(model, outcome.scenario, *tuner, seed));
    }
    outcome.median = median_score(outcome.runs, outcome.optimum);
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

/// Played once for all assertions.
const std::vector<Outcome>& outcomes(Model model) {
  static std::map<Model, std::vector<Outcome>> played;
  if (!played.contains(model)) played[model] = play(model);
  return played[model];
}
const Outcome& outcome(Model model, std::string_view name) {
  return *std::ranges::find_if(outcomes(model), [&](const Outcome& one) { return one.scenario.name == name; });
}

double mean_whole(const std::vector<Outcome>& outcomes) {
  double sum = 0;
  for (const auto& one : outcomes) sum += one.median.whole;
  return sum / static_cast<double>(outcomes.size());
}

/// 1 Gbit/s, 40 ms, no losses but those of the full queue.
Scenario clean_link() {
  Scenario scenario;
  scenario.name = "clean";
  scenario.world.seeders = {{.uplink = 1e10, .round_trip = 0.04}};
  return scenario;
}

template <typename Number>
Number median(std::vector<Number> numbers) {
  std::ranges::sort(numbers);
  return numbers[numbers.size() / 2];
}

/// Jain's index: 1 where all have the same.
double fairness(const std::vector<double>& rates) {
  const double sum = std::accumulate(rates.begin(), rates.end(), 0.0);
  const double squares = std::inner_product(rates.begin(), rates.end(), rates.begin(), 0.0);
  return sum * sum / (static_cast<double>(rates.size()) * squares);
}

/// Two are missed; README.md says why.
double wanted(std::string_view scenario) {
  return scenario == "gtf_lan" ? 0.7 : scenario == "futuregrid" ? 0.85 : 0.9;
}

class AutoInSimulation : public ::testing::TestWithParam<Model> {};

TEST_P(AutoInSimulation, ComesToNearlyWhatTheBestFixedPlanBrings) {
  for (const auto& one : outcomes(GetParam())) {
    const double least = wanted(one.scenario.name);
    EXPECT_GE(one.median.first, least) << one.scenario.name << ", first 120 s";
    EXPECT_GE(one.median.whole, least) << one.scenario.name << ", 300 s";
  }
  EXPECT_GE(mean_whole(outcomes(GetParam())), GetParam() == Model::kWindows ? 0.96 : 0.95);
}
TEST_P(AutoInSimulation, IsAheadOfWhatWasPublished) {
  std::map<std::string, double> means;
  for (const auto& one : outcomes(GetParam())) {
    for (const auto& name : baseline_names()) {
      const auto tuner = make_controller(name, one.scenario.world, 1);
      const double rate = run(GetParam(), one.scenario, *tuner, 1).mean(0, 300);
      means[name] += rate / one.optimum.whole / static_cast<double>(outcomes(GetParam()).size());
    }
  }
  for (const auto& [name, mean] : means) {
    EXPECT_GE(mean_whole(outcomes(GetParam())), mean + 0.01) << name;
  }
}
TEST_P(AutoInSimulation, HoldsNineTenthsSoon) {
  for (const auto& one : outcomes(GetParam())) {
    if (one.scenario.name == "gtf_lan") continue;
    EXPECT_LE(one.median.t90, 15) << one.scenario.name;
  }
}
TEST_P(AutoInSimulation, EndsWithFewMoreLanesThanItTakes) {
  for (const auto& one : outcomes(GetParam())) {
    const double seeders = static_cast<double>(one.scenario.world.seeders.size());
    EXPECT_LE(one.median.sockets, std::max(2.0 * one.optimum.sockets, 3 * seeders) + 2) << one.scenario.name;
  }
}
TEST_P(AutoInSimulation, IsBackSoonAfterAChange) {
  constexpr int kAnswer = 2;  // what is still on its way just after a change tells nothing
  const auto& one = outcome(GetParam(), "change");
  for (std::size_t phase = 1; phase < one.optimum.bits_per_s.size(); ++phase) {
    std::vector<int> seconds;
    for (const auto& result : one.runs) {
      const double wanted = 0.9 * one.optimum.bits_per_s[phase];
      seconds.push_back(seconds_until(result, wanted, static_cast<int>(one.scenario.events[phase - 1]) + kAnswer));
    }
    EXPECT_LE(kAnswer + median(seconds), 15) << "change " << phase;
  }
}
TEST_P(AutoInSimulation, GivesSeedersThatHaveLittleFewLanes) {
  const auto& one = outcome(GetParam(), "hetero");
  for (std::size_t i = 0; i < one.scenario.world.seeders.size(); ++i) {
    if (one.scenario.world.seeders[i].uplink > 25e6) continue;
    std::vector<int> lanes;
    for (const auto& result : one.runs) lanes.push_back(result.seeder_sockets.back()[i]);
    EXPECT_LE(median(lanes), 2) << "seeder " << i;
  }
}
TEST_P(AutoInSimulation, RestsOnceItHasFoundItsPlace) {
  constexpr std::ptrdiff_t kFound = 60;
  for (const auto& one : outcomes(GetParam())) {
    if (!one.scenario.events.empty()) continue;
    std::vector<double> shares;
    for (const auto& result : one.runs) {
      const int rest = median(std::vector<int>(result.sockets.begin() + kFound, result.sockets.end()));
      const auto off = std::count_if(result.sockets.begin() + kFound, result.sockets.end(),
                                     [&](int sockets) { return std::abs(sockets - rest) > std::max(1, rest / 5); });
      shares.push_back(static_cast<double>(off) / static_cast<double>(result.sockets.size() - kFound));
    }
    // Of "long", where a lane loses a packet in 20,000, some twenty lanes are right, and which number the losses of 20
    // s tell.
    const bool varies = one.scenario.name == "futuregrid" || one.scenario.name == "long";
    EXPECT_LE(median(shares), varies ? 0.4 : 0.15) << one.scenario.name;
  }
}
TEST_P(AutoInSimulation, StaysWithinBoundsAndSteps) {
  for (const auto& one : outcomes(GetParam())) {
    for (const auto& result : one.runs) {
      int most = 0;  // it may go back at once to what it had
      for (std::size_t second = 1; second < result.sockets.size(); ++second) {
        const auto& lanes = result.seeder_sockets[second];
        const auto& before = result.seeder_sockets[second - 1];
        const int all = std::accumulate(lanes.begin(), lanes.end(), 0);
        EXPECT_LE(all, client::kMaxLanesInAll) << one.scenario.name;
        EXPECT_LE(*std::ranges::max_element(lanes), client::kMaxLanesPerPeer) << one.scenario.name;
        most = std::max(most, 4 * std::accumulate(before.begin(), before.end(), 0));
        EXPECT_LE(all, most) << one.scenario.name << ", " << second;
      }
    }
  }
}
TEST_P(AutoInSimulation, NeedsTwoLanesWhereMoreBringNothing) {
  for (const auto& scenario : no_gain_links()) {
    std::vector<int> lanes;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const auto tuner = client::tuning::make_tuner("auto", seed);
      lanes.push_back(run(GetParam(), scenario, *tuner, seed, 60).sockets.back());
    }
    EXPECT_LE(median(lanes), 2) << scenario.name;
  }
}
TEST_P(AutoInSimulation, SharesAPathWithAnotherOne) {
  std::vector<double> fair;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const auto one = client::tuning::make_tuner("auto", seed), other = client::tuning::make_tuner("auto", seed);
    const auto runs = run_together(GetParam(), clean_link(), {one.get(), other.get()}, seed, 300);
    fair.push_back(fairness({runs[0].mean(60, 300), runs[1].mean(60, 300)}));
    EXPECT_LE(runs[0].sockets.back() + runs[1].sockets.back(), 80) << "seed " << seed;
  }
  EXPECT_GE(median(fair), 0.95);
}
TEST_P(AutoInSimulation, SharesAPathWithFalcon) {
  std::vector<double> ours;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const auto one = client::tuning::make_tuner("auto", seed);
    const auto other = make_controller("falcon", clean_link().world, seed);
    const auto runs = run_together(GetParam(), clean_link(), {one.get(), other.get()}, seed, 300);
    ours.push_back(runs[0].mean(60, 300) / (runs[0].mean(60, 300) + runs[1].mean(60, 300)));
  }
  // Two lanes are what it comes to there, and what Falcon takes beside them is more with each loss of theirs.
  EXPECT_GE(median(ours), 0.15);
  EXPECT_LE(median(ours), 0.6);
}
TEST_P(AutoInSimulation, DecidesTheSameWithTheSameSeed) {
  for (const auto& scenario : scenarios()) {
    const auto one = client::tuning::make_tuner("auto", 1), other = client::tuning::make_tuner("auto", 1);
    EXPECT_EQ(run(GetParam(), scenario, *one, 5, 60).log, run(GetParam(), scenario, *other, 5, 60).log)
        << scenario.name << ", seed 5";
  }
}
TEST_P(AutoInSimulation, LeavesNoLanesWithSeedersThatDied) {
  const auto& one = outcome(GetParam(), "change");
  ASSERT_EQ(one.scenario.events.front(), 100);
  const auto& before = one.runs.front().seeder_sockets.at(95);
  const auto& after = one.runs.front().seeder_sockets.at(110);
  int left = 0;
  for (std::size_t i = 0; i < after.size(); ++i) left += before[i] > 0 && after[i] == 0 ? 1 : 0;
  EXPECT_EQ(left, 6) << "six of twelve die";
}
TEST_P(AutoInSimulation, ComesToNearlyTheBestOnLinksThatNobodyChose) {
  const auto rows = compare_links(GetParam(), "auto", 1, kLinks);
  double sum = 0;
  for (const auto& row : rows) {
    sum += std::min(row.ratio, 1.0);
    EXPECT_GE(row.ratio, row.rivals ? 0.65 : 0.83) << row.text;
  }
  EXPECT_GE(sum / kLinks, 0.95);
}
INSTANTIATE_TEST_SUITE_P(Models, AutoInSimulation, ::testing::Values(Model::kWindows, Model::kRates),
                         [](const auto& tested) { return std::string(model_name(tested.param)); });

/// 0.6 where the steps, each of which has to prove itself, are a great part of the transfer. With 32 lanes nearly all
/// of these links are full at once; a start has 16 at the most.
TEST(AutoOnHeldLinks, AddsLanesThatNeitherLossesNorReceiveWindowsAskForPlainly) {
  double sum = 0;
  for (const auto& link : held_links()) {
    const LinkRow row = compare_link(Model::kWindows, "auto", link, 1);
    EXPECT_GE(row.ratio, 0.55) << row.text;
    sum += std::min(row.ratio, 1.0);
  }
  EXPECT_GE(sum / static_cast<double>(held_links().size()), 0.75);
}

TEST(AutoBesideLosses, SeldomGivesLanesUpThatAreNeeded) {
  constexpr int kSeconds = 120, kFound = 20;
  int grown = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Seeder lossy{.uplink = 40e6, .round_trip = 0.04, .window_bytes = 64e6, .loss = 5e-4};
    Scenario scenario{.name = "lossy", .world = {.seeders = {lossy, lossy}, .paths = {{40e6}, {40e6}}}};
    scenario.world.seeders[1].path = 1;
    const auto tuner = client::tuning::make_tuner("auto", seed);
    const auto done = run(Model::kWindows, scenario, *tuner, seed, kSeconds);
    EXPECT_GE(done.mean(kFound, kSeconds), 0.98 * 80e6) << "seed " << seed;
    for (std::size_t i = kFound; i < kSeconds; ++i) grown += done.sockets[i] > done.sockets[i - 1] ? 1 : 0;
  }
  EXPECT_LE(grown, 6 * kSeeds) << "six steps up in a hundred seconds, which were eight";
}
TEST(AutoInNoise, ComesToNineTenthsWhereRatesVaryByASixth) {
  EXPECT_GE(mean_whole(play(Model::kRates, 0.15)), 0.9);
}

}  // namespace
}  // namespace gridtorrent::sim
