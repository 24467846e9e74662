// The second-order model of parallel streams, and the end-to-end tool's search.
#include <gtest/gtest.h>

#include <cmath>

#include "client/tuning/e2e.h"
#include "common/rng.h"
#include "tests/support/search_run.h"

namespace gridtorrent::client::tuning {
namespace {

using gridtorrent::testing::each_lane;
using gridtorrent::testing::says;
using gridtorrent::testing::SearchRun;

constexpr double kMbit = 1e6;

std::vector<StreamSample> samples_of(const SecondOrder& model, const std::vector<double>& numbers) {
  std::vector<StreamSample> samples;
  for (const double n : numbers) samples.push_back({n, model.at(n)});
  return samples;
}

TEST(SecondOrderModel, IsFoundAgainFromThreeSamples) {
  const SecondOrder planted{0.002, -0.03, 0.5};
  const auto samples = samples_of(planted, {1, 4, 16});
  const auto found = through(samples[0], samples[1], samples[2]);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->a, planted.a, 1e-9);
  EXPECT_NEAR(found->b, planted.b, 1e-9);
  EXPECT_NEAR(found->c, planted.c, 1e-9);
}
TEST(SecondOrderModel, IsNotMadeOfDegenerateSamples) {
  EXPECT_FALSE(through({2, 10}, {2, 11}, {4, 12})) << "twice the same number";
  EXPECT_FALSE(through({1, 0}, {2, 11}, {4, 12})) << "nothing came";
  EXPECT_FALSE(fit_second_order({{1, 10}, {2, 20}}));
  EXPECT_FALSE(fit_second_order({{2, 10}, {2, 20}, {2, 30}}));
  EXPECT_FALSE(fit_second_order({}));
}
TEST(SecondOrderModel, IsThatOfTheTripleWithTheLeastError) {
  const SecondOrder planted{0.002, -0.03, 0.5};
  auto samples = samples_of(planted, {1, 2, 4, 8, 16});
  samples[1].bits_per_s *= 0.7;  // a bad sample
  const auto model = fit_second_order(samples);
  ASSERT_TRUE(model);
  EXPECT_NEAR(model->b, planted.b, 1e-9) << "of a triple without it";
}
TEST(SecondOrderModel, PeaksWhereItsDerivativeVanishes) {
  const SecondOrder model{0.002, -0.03, 0.12};
  EXPECT_DOUBLE_EQ(*peak_of(model), 8);
  EXPECT_FALSE(peak_of({0.002, 0.01, 0.12})) << "it rises throughout";
  EXPECT_FALSE(peak_of({0.002, -0.01, -0.12}));
}
TEST(SecondOrderModel, WithAPriceOfAStreamPeaksWhereBruteForceSays) {
  SeededRng rng(12);
  const auto uniform = [&](double from, double to) {
    return from + (to - from) * static_cast<double>(rng.below(1'000'000)) / 1e6;
  };
  for (int i = 0; i < 200; ++i) {
    const SecondOrder model{uniform(0.0005, 0.005), uniform(-0.005, 0.05), uniform(0.2, 1)};
    for (const double eta : {0.05, 0.15, 0.25}) {
      const auto peak = peak_of(model, eta);
      ASSERT_TRUE(peak) << "also on a plateau, seed 12, model " << i;
      double best = 1;
      const auto worth = [&](double n) { return model.at(n) / std::pow(n, eta); };
      for (double n = 1; n <= 256; ++n) {
        if (worth(n) > worth(best)) best = n;
      }
      EXPECT_NEAR(std::clamp(*peak, 1.0, 256.0), best, 1) << "eta " << eta << ", seed 12, model " << i;
    }
  }
}

TEST(BestNumber, IsTheModelsPeakWithinBounds) {
  const auto samples = samples_of({0.002, -0.03, 0.12}, {1, 2, 4, 8, 16});
  EXPECT_EQ(best_number(samples, 16), 8);
  EXPECT_EQ(best_number(samples, 5), 5);
}
TEST(BestNumber, OfACurveWithoutAPeakIsTheLeastThatBringsNearlyAll) {
  const SecondOrder flat{1, 0.5, 0.1};
  const auto samples = samples_of(flat, {1, 2, 4, 8, 16});
  const int n = best_number(samples, 16);
  EXPECT_GE(flat.at(n), 0.95 * flat.at(16));
  EXPECT_LT(flat.at(n - 1), 0.95 * flat.at(16));
}
TEST(BestNumber, OfTooFewSamplesIsTheBestOne) {
  EXPECT_EQ(best_number({}, 16), 1);
  EXPECT_EQ(best_number({{1, 10}, {2, 9}}, 16), 1);
  EXPECT_EQ(best_number({{1, 0}, {2, 0}, {4, 0}}, 16), 1);
}

TEST(E2eSearch, ThrowsItsFirstSampleAway) {
  E2eSearch search;
  SearchRun run(search, each_lane(20 * kMbit, 200 * kMbit));
  run.seconds(10);
  EXPECT_EQ(run.plan.why, "1 streams to 1 nodes, a first sample that is thrown away");
  run.seconds(3);
  EXPECT_EQ(run.plan.why, "1 streams to 1 nodes, the first sample");
}
TEST(E2eSearch, DoublesStreamsUntilFewerAreBetterAndAsksTheModel) {
  E2eSearch search;
  // The paper's figure: 8 streams bring less than 4.
  const SecondOrder path{2.5e-18, -1.5e-17, 4e-17};
  SearchRun run(search, [&](const SearchPlan& plan) { return path.at(plan.channels.at(0).lanes); });
  run.seconds(120);
  EXPECT_EQ(run.plan.channels, (std::vector{Channel{5, 0}})) << run.plan.why;
  EXPECT_TRUE(run.plan.why.starts_with("5 streams to 1 nodes, the best by the model; streams 1: ")) << run.plan.why;
  EXPECT_TRUE(says(run.plan.why, "(a 2.5e-18, b -1.5e-17, c 4e-17)")) << run.plan.why;
}
TEST(E2eSearch, AddsNodesWithTheStreamsThatItFound) {
  E2eSearch search;
  SearchRun run(
      search,
      [](const SearchPlan& plan) {
        const auto nodes = static_cast<double>(plan.channels.size());
        return std::min({20.0 * plan.channels.at(0).lanes, 80.0}) * std::min(nodes, 3.0) * kMbit;
      },
      {10'000'000'000}, 16);
  run.seconds(200);
  EXPECT_TRUE(says(run.plan.why, "the best by the model")) << run.plan.why;
  EXPECT_GE(run.plan.channels.size(), 3U) << run.plan.why;
  EXPECT_LE(run.plan.channels.size(), 8U);
  EXPECT_GE(run.plan.channels[0].lanes, 4);
}
TEST(E2eSearch, StopsWhereTheCardIsFull) {
  E2eSearch search;
  SearchRun run(search, each_lane(480 * kMbit, 950 * kMbit), {100'000'000'000}, 1);
  run.seconds(60);
  EXPECT_EQ(run.plan.channels, (std::vector{Channel{2, 0}})) << run.plan.why;
}

}  // namespace
}  // namespace gridtorrent::client::tuning
