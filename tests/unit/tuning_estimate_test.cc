// How long a transfer takes: by handshakes and slow start where it is small, by the long run where it is large.
#include "client/tuning/estimate.h"

#include <gtest/gtest.h>

#include "tests/support/numbered_node.h"

namespace gridtorrent::client::tuning {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr double kMbit = 1e6;

EstimatedPath path(double mbit, int lanes = 12, int round_trip_ms = 60) {
  return {
      microseconds(round_trip_ms * 1000), lanes, mbit * kMbit, 0.9 * mbit * kMbit, 1.1 * mbit * kMbit, Limit::kLoss, 0};
}
EstimateFacts of(std::uint64_t bytes, std::vector<EstimatedPath> paths) {
  EstimateFacts facts;
  facts.bytes = bytes;
  facts.paths = std::move(paths);
  return facts;
}
double seconds(milliseconds time) {
  return static_cast<double>(time.count()) / 1e3;
}
double likely(const EstimateFacts& facts) {
  return seconds(estimate(facts).likely);
}
PathMemory memory(double mbit, int transfers = 3, milliseconds age = {}) {
  PathMemory made;
  made.facts.node = gridtorrent::testing::numbered_node(1);
  made.facts.round_trip = milliseconds(60);
  made.facts.lanes = 12;
  made.facts.bits_per_s = made.facts.total_bits_per_s = static_cast<std::uint64_t>(mbit * kMbit);
  made.facts.limit = Limit::kLoss;
  made.transfers = transfers;
  made.age = age;
  return made;
}

TEST(Estimate, OfNothingIsNoTime) {
  EXPECT_EQ(likely(of(0, {path(100)})), 0);
}
TEST(Estimate, WithoutARateIsLongAndStillANumber) {
  EXPECT_GT(likely(of(1, {path(0)})), 1e8);
  EXPECT_GT(likely(of(~std::uint64_t{0}, {path(1e-6)})), 1e8);
}
TEST(Estimate, OfASmallTransferIsThatOfTheHandshakesAndOfSlowStart) {
  // 0.5 s until the dial, three round trips, and one for all that the first windows hold.
  EXPECT_NEAR(likely(of(170'000, {path(187)})), 0.5 + 4 * 0.06, 0.03);
  // Four times as much takes another round trip or two, not four times as long.
  EXPECT_NEAR(likely(of(680'000, {path(187)})), 0.5 + 5.3 * 0.06, 0.05);
}
TEST(Estimate, OfALargeOneIsThatOfItsRate) {
  EXPECT_NEAR(likely(of(1'200'000'000, {path(187)})), 1.2e9 * 8 / 187e6, 1.0);
  const auto judged = estimate(of(1'200'000'000, {path(187)}));
  EXPECT_NEAR(judged.bits_per_s, 187e6, 1);
  EXPECT_EQ(judged.limit, Limit::kLoss);
  EXPECT_NEAR(seconds(judged.least), 1.2e9 * 8 / 187e6 / 1.1, 1.0);
  EXPECT_NEAR(seconds(judged.most), 1.2e9 * 8 / 187e6 / 0.9, 1.0);
}
TEST(Estimate, GrowsWithTheBytes) {
  double before = 0;
  for (std::uint64_t bytes = 1000; bytes < 20'000'000'000; bytes = bytes * 5 / 4) {
    const double now = likely(of(bytes, {path(187)}));
    EXPECT_GE(now, before) << bytes;
    before = now;
  }
}
TEST(Estimate, OfSeveralSeedersIsWithWhatTheyBringTogether) {
  EXPECT_NEAR(estimate(of(1'000'000'000, {path(80), path(40), path(20)})).bits_per_s, 140e6, 1);
}
TEST(Estimate, OfSeveralSeedersKnowsWhatTheLinkHasCarried) {
  auto facts = of(1'000'000'000, {path(100), path(100)});
  facts.link_bits_per_s = 118 * kMbit;
  const auto judged = estimate(facts);
  EXPECT_NEAR(judged.bits_per_s, 118e6, 1);
  EXPECT_EQ(judged.limit, Limit::kPath);
  EXPECT_NEAR(seconds(judged.least), 1e9 * 8 / 220e6, 1.5) << "the link may carry more than was ever asked of it";
  facts.paths.pop_back();
  facts.link_bits_per_s = 50 * kMbit;
  EXPECT_NEAR(estimate(facts).bits_per_s, 100e6, 1) << "one path alone has carried what it has carried";
}
TEST(Estimate, IsBoundByALimitThatSomebodySet) {
  auto facts = of(1'000'000'000, {path(100), path(100)});
  facts.limit_bits_per_s = 50 * kMbit;
  const auto judged = estimate(facts);
  EXPECT_EQ(judged.limit, Limit::kCap);
  EXPECT_NEAR(seconds(judged.likely), 160, 2);
  EXPECT_NEAR(seconds(judged.least), 160, 2);
}
TEST(Estimate, CountsTheTimeToFinish) {
  auto facts = of(1'000'000'000, {path(100)});
  const double without = likely(facts);
  facts.finish_bytes_per_s = 50e6;
  EXPECT_NEAR(likely(facts), without + 20, 0.1);
}

TEST(EstimateByHistory, IsTheSurerTheMoreTransfersAndTheYoungerTheyAre) {
  const auto width = [](const PathMemory& remembered) {
    const auto known = path_of(remembered, 1);
    EXPECT_NEAR(known.bits_per_s, 187e6, 1);
    return known.most_bits_per_s / known.least_bits_per_s;
  };
  EXPECT_LT(width(memory(187, 4)), width(memory(187, 1)));
  EXPECT_LT(width(memory(187, 4)), width(memory(187, 4, hours(24 * 14))));
  EXPECT_NEAR(width(memory(187, 1000)), 1.21, 0.01);
}
TEST(EstimateByHistory, AllowsForALinkThatOthersNoLongerShare) {
  auto third = memory(55);
  third.facts.sources = 3;
  third.facts.total_bits_per_s = 165'000'000;
  const auto alone = path_of(third, 1), again = path_of(third, 3);
  EXPECT_NEAR(alone.bits_per_s, 55e6, 1);
  EXPECT_NEAR(alone.most_bits_per_s, 165e6, 1);
  EXPECT_LT(again.most_bits_per_s, 70e6);
}

SourceFindings probed(std::uint64_t lane_bits_per_s) {
  SourceFindings found;
  found.least_round_trip = milliseconds(60);
  found.long_run_lane_bits_per_s = lane_bits_per_s;
  found.held_by = Limit::kPath;
  return found;
}

TEST(EstimateByProbe, IsNotFlatteredBySlowStartsWindows) {
  const auto found = path_of(probed(2'500'000), 190e6);
  EXPECT_NEAR(found.bits_per_s, 80e6, 1) << "32 lanes come to no more at these losses";
  EXPECT_EQ(found.limit, Limit::kLoss);
  const double ten_minutes = likely(of(6'000'000'000, {found})), ten_seconds = likely(of(200'000'000, {found}));
  EXPECT_NEAR(ten_minutes, 10 + (6e9 * 8 - 1.9e9) / 80e6, 3);
  EXPECT_NEAR(ten_seconds, 200e6 * 8 / 190e6 + 1, 1) << "a short transfer ends before these windows are gone";
}
TEST(EstimateByProbe, IsWhatTheProbeBroughtWhereLanesCanKeepItUp) {
  EXPECT_NEAR(path_of(probed(17'000'000), 190e6).bits_per_s, 190e6, 1);
  EXPECT_NEAR(path_of(probed(0), 190e6).bits_per_s, 190e6, 1);
}
TEST(EstimateByProbe, IsLessSureThanHistory) {
  const auto found = path_of(probed(0), 190e6), known = path_of(memory(190, 1), 1);
  EXPECT_LT(found.least_bits_per_s, known.least_bits_per_s);
  EXPECT_GT(found.most_bits_per_s, known.most_bits_per_s);
}

TEST(About, IsAsExactAsAnEstimateIs) {
  EXPECT_EQ(about(milliseconds(300)), "1 s");
  EXPECT_EQ(about(milliseconds(52'400)), "52 s");
  EXPECT_EQ(about(milliseconds(123'000)), "2 min");
  EXPECT_EQ(about(milliseconds(127'000)), "2 min 10 s");
  EXPECT_EQ(about(milliseconds(7'000'000)), "1 h 57 min");
}

}  // namespace
}  // namespace gridtorrent::client::tuning
