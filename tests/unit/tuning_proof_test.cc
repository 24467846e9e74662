// What a step of the lanes is compared with: what must not be taken for the doing of lanes, and how long a failed proof
// counts.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "client/tuning/refinement.h"
#include "tests/support/numbered_node.h"

namespace gridtorrent::client::tuning {
namespace {

using gridtorrent::testing::numbered_node;
using namespace std::chrono_literals;

constexpr double kMbit = 1e6;

/// Some seeders, each with what it brings by its number of lanes. Figures of sources are means of three seconds, that
/// of all one of two, as AutoController makes them.
class Proving : public ::testing::Test {
 protected:
  using Brings = std::function<double(int lanes)>;
  RefinedSource& seeder(int lanes, Brings brings) {
    RefinedSource source;
    source.node = numbered_node(static_cast<std::uint8_t>(sources_.size() + 1));
    source.start = source.path.lanes = lanes;
    source.path.seconds = 10;
    source.path.segments = 1e6;
    source.path.least_round_trip = source.path.round_trip = 40ms;
    source.path.congestion_control = "cubic";
    brings_.push_back(std::move(brings));
    past_.emplace_back();
    sources_.push_back(source);
    return sources_.back();
  }
  /// Windows hold its lanes up.
  RefinedSource& held_seeder(int lanes, Brings brings) {
    RefinedSource& source = seeder(lanes, std::move(brings));
    source.path.window_limited = 1;
    return source;
  }
  /// A full path without random losses.
  RefinedSource& full_seeder(int lanes, Brings brings) {
    RefinedSource& source = seeder(lanes, std::move(brings));
    source.path.round_trip = source.path.full_queue = 80ms;
    return source;
  }
  static double mean(const std::vector<double>& past, std::size_t seconds) {
    const std::size_t count = std::min(seconds, past.size());
    double sum = 0;
    for (std::size_t i = past.size() - count; i < past.size(); ++i) sum += past[i];
    return count == 0 ? 0 : sum / static_cast<double>(count);
  }
  void second() {
    facts_.bits_per_s = 0;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      PathFigures& path = sources_[i].path;
      past_[i].push_back(brings_[i](path.lanes));
      path.bits_per_s = mean(past_[i], 3);
      path.best_bits_per_s = std::max(path.best_bits_per_s, mean(past_[i], 2));
      facts_.bits_per_s += mean(past_[i], 2);
    }
    refined_ = refinement_.step(now_ += 1s, sources_, facts_);
    for (std::size_t i = 0; i < sources_.size(); ++i) sources_[i].path.lanes = refined_.lanes[i];
    if (!refined_.why.empty()) said_ += refined_.why + "\n";
  }
  void seconds(int count) {
    for (int i = 0; i < count; ++i) second();
  }
  int lanes(std::size_t i = 0) const { return sources_[i].path.lanes; }
  bool said(const char* words) const { return said_.find(words) != std::string::npos; }

  MonoTime now_{1h};
  RefinementFacts facts_;
  std::vector<RefinedSource> sources_;
  std::vector<Brings> brings_;
  std::vector<std::vector<double>> past_;
  Refinement refinement_;
  Refined refined_;
  std::string said_;
};

double ten_each(int lanes) {
  return 10 * kMbit * lanes;
}

TEST_F(Proving, GoesBackOverAllStepsThatLedBehindAShaperByConnection) {
  full_seeder(16, [](int lanes) { return 25 * kMbit * lanes; });
  seconds(40);
  EXPECT_GE(lanes(), 14) << said_;
}
TEST_F(Proving, GivesNoLanesUpBitByBitWhereEachStepLosesLittle) {
  seeder(16, [](int lanes) { return 25 * kMbit * lanes; });
  seconds(900);
  EXPECT_GE(lanes(), 13) << said_;
}
TEST_F(Proving, MeasuresTheLanesOfASlowSourceByWhatItBringsItself) {
  held_seeder(4, ten_each);
  for (int i = 0; i < 7; ++i) seeder(2, [](int) { return 100 * kMbit; });
  seconds(8);
  EXPECT_GE(lanes(), 8) << said_;
  seconds(20);
  EXPECT_EQ(lanes(), 32) << said_;
}
TEST_F(Proving, TriesAgainAfterAMinuteWhatCrossTrafficHidOnce) {
  double part = 1;
  held_seeder(4, [&](int lanes) { return part * 10 * kMbit * lanes; });
  seconds(3);
  part = 4.0 / lanes();
  seconds(6);
  part = 1;
  seconds(75);
  EXPECT_GE(lanes(), 8) << "neither two nor four minutes: " << said_;
}
TEST_F(Proving, BelievesNoLongerWhereSeveralSourcesFailInTurn) {
  constexpr int kSeeders = 8;
  bool held = true;
  for (int i = 0; i < kSeeders; ++i) {
    held_seeder(2, [&held](int lanes) { return held ? 20 * kMbit : 10 * kMbit * lanes; }).path.window_limited = 0;
  }
  for (auto& source : sources_) {
    source.path.window_limited = 1;
    seconds(6);
    source.path.window_limited = 0;
  }
  held = false;
  for (auto& source : sources_) source.path.window_limited = 1;
  seconds(9 * 60);
  EXPECT_GT(lanes(kSeeders - 1), 2) << said_;
}
TEST_F(Proving, BelievesForEightMinutesAtMost) {
  bool held = true;
  held_seeder(4, [&held](int lanes) { return held ? 40 * kMbit : 10 * kMbit * lanes; });
  seconds(3600);
  held = false;
  seconds(9 * 60);
  EXPECT_EQ(lanes(), 32) << "once its disk was the limit, for an hour";
}
TEST_F(Proving, RemembersWhatBrokeForMinutesNotForEver) {
  RefinedSource& source = seeder(4, ten_each);
  source.path.loss_events = source.path.random_events = 1000;
  bool stalled = false;
  brings_[0] = [&stalled](int lanes) { return stalled ? 0 : 12 * kMbit * lanes; };
  seconds(2);
  const int more = lanes();
  ASSERT_GT(more, 4);
  stalled = true;
  seconds(3);
  ASSERT_LT(lanes(), more) << said_;
  stalled = false;
  seconds(6 * 60);
  EXPECT_GE(lanes(), more) << said_;
}
TEST_F(Proving, BreaksWhatBearsNineLanesAFewTimesOnly) {
  RefinedSource& source = seeder(4, ten_each);
  source.path.loss_events = source.path.random_events = 1000;
  int broken = 0, stalls = 0;
  brings_[0] = [&](int lanes) {
    broken = lanes > 9 ? 3 : std::max(0, broken - 1);  // for some seconds
    return broken > 0 ? 0 : 12 * kMbit * lanes;
  };
  for (int i = 0; i < 4 * 60; ++i) {
    const bool stalled = broken > 0;
    seconds(1);
    if (!stalled && broken > 0) ++stalls;
  }
  EXPECT_GE(lanes(), 8) << said_;
  EXPECT_LE(stalls, 3) << said_;
}
TEST_F(Proving, TakesAPauseForNoDoingOfLanes) {
  seeder(4, ten_each).path.random_events = 1000;
  seconds(2);
  const int more = lanes();
  ASSERT_GT(more, 4);
  now_ += 10s;
  refinement_.interrupted();
  brings_[0] = [](int) { return 0; };
  past_[0].clear();
  second();
  EXPECT_GE(lanes(), more) << said_;
  EXPECT_FALSE(said("brought")) << said_;
}
TEST_F(Proving, CountsABreakdownAsTheFirstWhereAPauseHidThatOfBefore) {
  RefinedSource& source = seeder(4, ten_each);
  source.path.loss_events = source.path.random_events = 1000;
  bool stalled = false;
  brings_[0] = [&stalled](int lanes) { return stalled ? 0 : 12 * kMbit * lanes; };
  const auto break_down = [&] {
    stalled = true;
    seconds(3);
    stalled = false;
  };
  seconds(2);
  const int more = lanes();
  ASSERT_GT(more, 4);
  break_down();
  ASSERT_LT(lanes(), more) << said_;
  refinement_.interrupted();
  facts_.reader = Limit::kReceiverCpu;  // no lanes are added
  seconds(200);
  facts_.reader = Limit::kUnknown;
  seconds(2);
  ASSERT_GE(lanes(), more) << said_;
  break_down();
  ASSERT_TRUE(said("17 lanes brought 0")) << said_;
  seconds(150);
  EXPECT_EQ(lanes(), 10) << "between 4 and 17, for five minutes: " << said_;
}
TEST_F(Proving, WaitsUntilItShowsWhetherOneOfTwoIsLost) {
  seeder(16, [](int) { return 50 * kMbit; });
  seeder(16, [](int) { return 50 * kMbit; });
  seconds(1);
  ASSERT_EQ(lanes(), 15);
  brings_[1] = [](int) { return 0; };
  seconds(40);
  EXPECT_FALSE(said("fewer lanes brought")) << said_;
  EXPECT_EQ(lanes(), 2);
}
TEST_F(Proving, KeepsMoreLanesToOneThatBringMoreWhileAnotherStalls) {
  held_seeder(2, [](int lanes) { return 20 * kMbit * lanes; });
  held_seeder(2, [](int lanes) { return 20 * kMbit * lanes; });
  seconds(2);
  ASSERT_EQ(lanes(), 4);
  brings_[1] = [](int) { return 0; };
  seconds(10);
  EXPECT_GE(lanes(), 4) << said_;
  EXPECT_FALSE(said("more lanes brought")) << said_;
}
TEST_F(Proving, KeepsMoreLanesToOneThatBringMoreWhileAnotherLeaves) {
  held_seeder(2, [](int lanes) { return 20 * kMbit * lanes; });
  held_seeder(2, [](int lanes) { return 20 * kMbit * lanes; });
  seconds(2);
  sources_.pop_back();
  seconds(10);
  EXPECT_GE(lanes(), 4) << said_;
}
TEST_F(Proving, TakesMoreLanesBackThatBringNothingFromTheOneThatIsLeft) {
  held_seeder(2, [](int) { return 40 * kMbit; });
  held_seeder(2, [](int) { return 40 * kMbit; });
  seconds(2);
  ASSERT_EQ(lanes(), 4);
  sources_.pop_back();
  seconds(5);
  EXPECT_LE(lanes(), 2) << said_;
}
TEST_F(Proving, BlamesNoNumberOfLanesForTheRateThatWentWithASource) {
  seeder(2, [](int) { return 20 * kMbit; });
  seeder(2, [](int) { return 60 * kMbit; });
  for (auto& source : sources_) source.path.random_events = source.path.loss_events = 1000;
  seconds(2);
  const int more = lanes();
  ASSERT_GT(more, 2);
  brings_[1] = [](int) { return 0; };
  seconds(10);
  EXPECT_GE(lanes(), more) << said_;
  EXPECT_FALSE(said("had brought")) << said_;
}
TEST_F(Proving, BlamesNoLanesForWhatASeederGivesLessMeanwhile) {
  held_seeder(4, ten_each);
  seconds(2);
  ASSERT_EQ(lanes(), 8);
  sources_[0].path.paced_bits_per_s = 20 * kMbit;
  brings_[0] = [](int) { return 20 * kMbit; };
  seconds(6);
  EXPECT_FALSE(said("more lanes brought")) << said_;
  sources_[0].path.paced_bits_per_s = 0;
  brings_[0] = ten_each;
  seconds(8);
  EXPECT_EQ(lanes(), 32) << said_;
}
TEST_F(Proving, LeavesOthersAFullPathThoughASeederThatIsListedBringsNothing) {
  full_seeder(4, [](int lanes) { return lanes > 2 ? 77 * kMbit : 64 * kMbit; });
  seeder(1, [](int) { return 0; }).path = {};
  seconds(15);
  EXPECT_EQ(lanes(), 2) << said_;
}
TEST_F(Proving, TakesALimitThatIsSetForNoDoingOfLanes) {
  full_seeder(16, [](int) { return 95 * kMbit; });
  seconds(1);
  ASSERT_EQ(lanes(), 8);
  facts_.limit = 20 * kMbit;
  brings_[0] = [](int) { return 20 * kMbit; };
  seconds(20);
  EXPECT_FALSE(said("brought")) << said_;
}
TEST_F(Proving, TakesAPaceForOthersSakeForNoDoingOfLanes) {
  full_seeder(16, [](int) { return 95 * kMbit; });
  seconds(1);
  facts_.pace = 20 * kMbit;
  brings_[0] = [](int) { return 20 * kMbit; };
  seconds(20);
  EXPECT_FALSE(said("brought")) << said_;
}
TEST_F(Proving, AddsNoLanesWhereTheirRateFellWithFewer) {
  double rate = 64 * kMbit;
  held_seeder(8, [&rate](int) { return rate; });
  seconds(10);
  ASSERT_LT(lanes(), 8) << said_;
  const int few = lanes();
  rate /= 2.2;
  sources_[0].path.window_limited = 0;
  seconds(8);
  EXPECT_LE(lanes(), few) << said_;
  EXPECT_FALSE(said("had brought")) << said_;
}
TEST_F(Proving, TriesNoFewerForAMinuteWhereLossesProveThatTheyAreNeeded) {
  RefinedSource& source = seeder(8, [](int lanes) { return std::min(80.0, 25.0 * lanes) * kMbit; });
  source.path.random_events = 80;  // of a million packets
  source.path.full_queue = 40ms;
  int before = lanes(), grown = 0;
  for (int i = 0; i < 60; ++i) {
    // Four lanes fill the path. With three none waits on it, and it may have more.
    sources_[0].path.round_trip = lanes() > 3 ? 70ms : 40ms;
    second();
    grown += lanes() > before ? 1 : 0;
    before = lanes();
  }
  EXPECT_EQ(grown, 1) << said_;
  EXPECT_EQ(lanes(), 4) << said_;
}
TEST_F(Proving, ComparesFewerLanesWithWhatAsManyBringNow) {
  facts_.reader = Limit::kDisk;
  double rate = 100 * kMbit;
  held_seeder(16, [&rate](int) { return rate; });
  second();
  ASSERT_EQ(lanes(), 10);
  rate = 93 * kMbit;
  seconds(2);
  ASSERT_EQ(lanes(), 16);
  rate = 90 * kMbit;
  seconds(90);
  EXPECT_LE(lanes(), 2) << said_;
}
TEST_F(Proving, GoesBackOverAllStepsTheSecondTimeToo) {
  seeder(16, [](int lanes) { return 25 * kMbit * lanes; });
  seconds(80);
  EXPECT_EQ(lanes(), 16) << said_;
}
TEST_F(Proving, KeepsNoStepThatAPauseKeptFromProvingItself) {
  full_seeder(16, [](int lanes) { return 25 * kMbit * lanes; });
  seconds(3);
  ASSERT_LE(lanes(), 4);
  now_ += 1min;
  refinement_.interrupted();
  past_[0].clear();
  sources_[0].path.seconds = 1;  // its meter begins anew
  seconds(3);
  sources_[0].path.seconds = 10;
  seconds(40);
  EXPECT_GE(lanes(), 14) << said_;
}
TEST_F(Proving, WaitsEachTimeUntilItShowsWhetherOneOfTwoIsLost) {
  bool stalls = false;
  seeder(16, [](int) { return 50 * kMbit; });
  seeder(16, [&stalls](int) { return stalls ? 0 : 50 * kMbit; });
  second();
  ASSERT_EQ(lanes(), 15);
  stalls = true;
  seconds(2);
  stalls = false;
  seconds(12);
  stalls = true;
  seconds(40);
  EXPECT_FALSE(said("fewer lanes brought")) << said_;
  EXPECT_EQ(lanes(), 2);
}
TEST_F(Proving, GoesBackFromWhatBrokeThoughASmallSourceLeft) {
  facts_.most_lanes = 7;
  bool breaks = false, gone = false;
  seeder(4, [&breaks](int lanes) { return breaks && lanes > 4 ? 10 * kMbit : 10 * kMbit * lanes; });
  seeder(1, [&gone](int) { return gone ? 0 : 0.5 * kMbit; });
  sources_[0].path.loss_events = sources_[0].path.random_events = 1000;
  second();
  ASSERT_EQ(lanes(), 6);
  gone = true;
  seconds(4);
  breaks = true;
  seconds(4);
  EXPECT_LE(lanes(), 5) << said_;
  EXPECT_TRUE(said("had brought")) << said_;
}
TEST_F(Proving, TakesAsManyBackAsTheSourceItselfMissed) {
  seeder(16, [](int lanes) { return 25 * kMbit * lanes; });
  seeder(2, [](int) { return 560 * kMbit; });
  seconds(20);
  EXPECT_GE(lanes(), 15) << said_;
}
TEST_F(Proving, BlamesNoLanesForAnOwnersPaceThoughASeederThatIsListedBringsNothing) {
  held_seeder(4, ten_each);
  seeder(1, [](int) { return 0; }).path = {};
  seconds(2);
  ASSERT_EQ(lanes(), 8);
  sources_[0].path.paced_bits_per_s = 20 * kMbit;
  brings_[0] = [](int) { return 20 * kMbit; };
  seconds(8);
  EXPECT_FALSE(said("more lanes brought")) << said_;
}
TEST_F(Proving, BlamesNoLanesThatAreNoLongerThere) {
  double rate = 50 * kMbit;
  PathFigures& path = seeder(4, [&rate](int) { return rate; }).path;
  path.random_events = path.loss_events = 1000;
  seconds(2);
  ASSERT_GT(lanes(), 4);
  path.random_events = path.loss_events = 0;
  path.round_trip = path.full_queue = 80ms;
  seconds(19);
  ASSERT_EQ(lanes(), 2) << said_;
  rate = 20 * kMbit;
  seconds(6);
  EXPECT_EQ(lanes(), 2) << said_;
  EXPECT_FALSE(said("had brought")) << said_;
}
TEST_F(Proving, ProvesNoLanesThatAreNotOpened) {
  for (int i = 0; i < 16; ++i) held_seeder(8, [](int) { return 50 * kMbit; });
  seconds(20);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(lanes(i), 8);
  EXPECT_FALSE(said("more lanes")) << said_;
}
TEST_F(Proving, OpensAsManyAsThereMayBe) {
  facts_.most_lanes = 20;
  for (int i = 0; i < 4; ++i) held_seeder(4, ten_each);
  seconds(10);
  int all = 0;
  for (std::size_t i = 0; i < 4; ++i) all += lanes(i);
  EXPECT_EQ(all, 20) << said_;
}

}  // namespace
}  // namespace gridtorrent::client::tuning
