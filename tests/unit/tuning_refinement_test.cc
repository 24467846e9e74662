// How the lanes of a transfer move on from its start.
#include <gtest/gtest.h>

#include "client/tuning/bottleneck.h"
#include "client/tuning/refinement.h"
#include "tests/support/numbered_node.h"

namespace gridtorrent::client::tuning {
namespace {

using gridtorrent::testing::numbered_node;
using namespace std::chrono_literals;

/// One seeder with 16 lanes at the start.
class Refining : public ::testing::Test {
 protected:
  Refining() {
    source_.node = numbered_node(1);
    source_.start = 16;
    source_.path.seconds = 10;
    source_.path.lanes = 16;
    source_.path.least_round_trip = source_.path.round_trip = 40ms;
    source_.path.congestion_control = "cubic";
  }
  int step(double rate) {
    now_ += 1s;
    source_.path.bits_per_s = rate;
    source_.path.best_bits_per_s = std::max(source_.path.best_bits_per_s, rate);
    facts_.bits_per_s = rate;
    refined_ = refinement_.step(now_, {source_}, facts_);
    source_.path.lanes = refined_.lanes.at(0);
    return source_.path.lanes;
  }
  int steps(int count, double rate) {
    for (int i = 1; i < count; ++i) step(rate);
    return step(rate);
  }
  /// Two lanes, and a queue that is too short to tell why packets get lost.
  void loses_on_a_near_path() {
    source_.start = source_.path.lanes = 2;
    source_.path.least_round_trip = 2ms;
    source_.path.round_trip = 3600us;
    source_.path.full_queue = 2ms;
    source_.path.segments = 1e5;
    source_.path.loss_events = 100;
    source_.path.random_events = 60;
  }
  /// So many lanes, a queue as long as the round trip, and no random losses.
  void fills_a_path(int lanes) {
    source_.start = source_.path.lanes = lanes;
    source_.path.segments = 1e6;
    source_.path.round_trip = source_.path.full_queue = 80ms;
  }
  /// Four lanes that 0.04 % of random losses hold up.
  void loses_at_random() {
    source_.start = source_.path.lanes = 4;
    source_.path.segments = 1e5;
    source_.path.loss_events = source_.path.random_events = 40;
  }
  MonoTime now_{1h};
  RefinementFacts facts_;
  RefinedSource source_;
  Refinement refinement_;
  Refined refined_;
};

TEST_F(Refining, KeepsTheStartWhereNothingIsKnown) {
  EXPECT_EQ(steps(30, 100e6), 16);
  EXPECT_TRUE(refined_.why.empty());
}
TEST_F(Refining, LeavesLanesAloneWhereSomethingElseIsBeingTried) {
  source_.path.segments = 1e6;
  source_.stays = true;
  EXPECT_EQ(steps(30, 95e6), 16);
}
TEST_F(Refining, GivesHalfOfTheLanesUpATimeWhereNoneGetsLostAndTheQueueBridgesIt) {
  source_.path.round_trip = 120ms;
  source_.path.segments = 1e6;
  EXPECT_EQ(step(95e6), 8);
  EXPECT_EQ(step(95e6), 4) << "packets still wait: a second is enough";
  EXPECT_EQ(steps(20, 95e6), 2);
  EXPECT_NE(refined_.why.find("next to none of 1000000 packets lost"), std::string::npos) << refined_.why;
}
TEST_F(Refining, WaitsForTwentyRoundTripsFromOneStepForFewerToTheNext) {
  source_.path.least_round_trip = 75ms;
  source_.path.round_trip = 150ms;
  source_.path.segments = 1e6;
  EXPECT_EQ(step(95e6), 8);
  EXPECT_EQ(step(95e6), 8) << "the last step has not settled yet";
  EXPECT_EQ(step(95e6), 4);
}
TEST_F(Refining, WaitsLongerAfterAStepThatEmptiedTheQueue) {
  source_.path.round_trip = 80ms;
  source_.path.segments = 1e6;
  EXPECT_EQ(step(95e6), 8);
  source_.path.round_trip = source_.path.least_round_trip;
  EXPECT_EQ(step(95e6), 8);
  EXPECT_EQ(step(95e6), 7);
}
TEST_F(Refining, WaitsLongerAfterAStepThatMayHaveBroughtLess) {
  source_.path.round_trip = 80ms;
  source_.path.segments = 1e6;
  EXPECT_EQ(step(95e6), 8);
  EXPECT_EQ(step(55e6), 8) << "packets wait, but not enough of them are ours";
  EXPECT_EQ(step(55e6), 16);
}
TEST_F(Refining, GivesNoMoreLanesUpThanTheQueueBridges) {
  source_.path.round_trip = 60ms;
  source_.path.segments = 1e6;
  EXPECT_EQ(step(95e6), 11) << "16 lanes at 40 of 60 ms";
}
TEST_F(Refining, GivesLanesUpOnceSlowStartHasFilledThePath) {
  source_.path.round_trip = 80ms;
  source_.path.segments = 1e6;
  source_.path.seconds = 1.9;
  EXPECT_EQ(step(95e6), 16);
  source_.path.seconds = 2;
  EXPECT_EQ(step(95e6), 8) << "40 round trips are less";
}
TEST_F(Refining, WaitsForFortyRoundTripsOfALongPath) {
  source_.path.least_round_trip = 75ms;
  source_.path.round_trip = 150ms;
  source_.path.segments = 1e6;
  source_.path.seconds = 2.9;
  EXPECT_EQ(step(95e6), 16);
  source_.path.seconds = 3;
  EXPECT_EQ(step(95e6), 8);
}
TEST_F(Refining, WaitsLongerWhereNothingShowsThatThePathIsFull) {
  source_.path.segments = 1e6;
  source_.path.seconds = 3.9;
  EXPECT_EQ(step(95e6), 16);
  source_.path.seconds = 4;
  EXPECT_EQ(step(95e6), 15);
}
TEST_F(Refining, GivesLanesUpByAThirdATimeUnderBbrThoughNothingWaits) {
  source_.path.segments = 1e6;
  source_.path.congestion_control = "bbr";
  EXPECT_EQ(step(95e6), 10);
}
TEST_F(Refining, TakesLanesBackUnderBbrOnlyWhereTheRateStaysLow) {
  source_.path.segments = 1e6;
  source_.path.congestion_control = "bbr";
  EXPECT_EQ(step(95e6), 10);
  EXPECT_EQ(steps(2, 78e6), 10) << "BBR may be emptying the queue";
  EXPECT_EQ(step(95e6), 6);
  EXPECT_EQ(steps(3, 78e6), 6);
  EXPECT_EQ(step(78e6), 10);
}
TEST_F(Refining, GivesLanesUpOneByOneWhereNothingWouldBridgeMore) {
  source_.path.segments = 1e6;
  EXPECT_EQ(step(95e6), 15);
  EXPECT_EQ(steps(2, 95e6), 14);
}
TEST_F(Refining, TakesLanesBackThatWereMissedAndDoesNotTryAgainForAMinute) {
  source_.path.round_trip = 80ms;
  source_.path.segments = 1e6;
  EXPECT_EQ(step(95e6), 8);
  EXPECT_EQ(steps(2, 55e6), 16);
  EXPECT_NE(refined_.why.find("instead of 95 Mbit/s"), std::string::npos) << refined_.why;
  EXPECT_EQ(steps(58, 95e6), 16);
  EXPECT_LT(steps(3, 95e6), 16);
}
TEST_F(Refining, GoesOnWhereAFlowBesideItRegainsWhatSlowStartTook) {
  source_.path.round_trip = 80ms;
  source_.path.segments = 1e6;
  source_.start = source_.path.lanes = 5;
  facts_.no_fewer = true;
  EXPECT_EQ(step(93e6), 5);
  facts_.no_fewer = false;
  source_.path.round_trip = 50ms;
  EXPECT_EQ(step(93e6), 4);
  EXPECT_EQ(step(85e6), 3) << "packets still wait";
  EXPECT_EQ(steps(2, 66.5e6), 2) << "a shaper by connection would leave 56 Mbit/s";
}
TEST_F(Refining, TriesAsManyAgainWherePacketsGetLostAndTheQueueIsTooShortToTellWhy) {
  loses_on_a_near_path();
  EXPECT_EQ(step(150e6), 4);
  EXPECT_EQ(steps(2, 250e6), 8) << "they brought nearly as much each";
  EXPECT_EQ(steps(2, 290e6), 8) << "a greater part of a full path would look like this";
  EXPECT_EQ(steps(2, 290e6), 4) << refined_.why;
  EXPECT_EQ(steps(40, 250e6), 4) << "what was proved stays, and what brought nothing is not tried again";
}
TEST_F(Refining, TakesLanesForLossesBackWhereTheQueueIsTooShortToTellAndTheyBroughtNothing) {
  loses_on_a_near_path();
  source_.path.round_trip = 2200us;  // as it is now and then on a full path
  EXPECT_EQ(step(150e6), 7) << "losses seem to hold them up";
  EXPECT_EQ(steps(3, 152e6), 7);
  EXPECT_EQ(step(152e6), 2) << refined_.why;
  for (int second = 0; second < 59; ++second) ASSERT_EQ(step(150e6), 2) << "for a minute, not " << second << " s";
  EXPECT_EQ(steps(3, 150e6), 7) << "then the path may be another one";
}
TEST_F(Refining, KeepsLanesForLossesWhereTheQueueIsTooShortToTellAndTheyBroughtTheirPart) {
  loses_on_a_near_path();
  source_.path.round_trip = 2200us;
  ASSERT_EQ(step(150e6), 7);
  EXPECT_GT(steps(6, 300e6), 7) << "a third of what 3.5 times the lanes should bring: " << refined_.why;
}
TEST_F(Refining, AsksLanesForLossesForNoProofWhereNoPacketWaitedNorOnALongerPath) {
  loses_on_a_near_path();
  source_.path.round_trip = 2200us;
  source_.path.full_queue = 200us;  // what machines add
  ASSERT_EQ(step(150e6), 7);
  EXPECT_GT(steps(8, 152e6), 4) << refined_.why;
  refinement_ = Refinement();
  source_.path.lanes = 2;
  source_.path.least_round_trip = 20ms;
  source_.path.round_trip = 20'200us;
  source_.path.full_queue = 2ms;
  ASSERT_GT(step(50e6), 4);
  EXPECT_GT(steps(8, 52e6), 4) << refined_.why;
}
TEST_F(Refining, KeepsAsManyLanesForLossesAsWhatTheyBroughtTakes) {
  loses_on_a_near_path();
  source_.path.round_trip = 2200us;
  ASSERT_EQ(step(150e6), 7);
  EXPECT_EQ(steps(4, 200e6), 3) << refined_.why;
}
TEST_F(Refining, ComparesLanesForLossesWithTheLastSecondWhereTheQueueIsTooShortToTell) {
  loses_on_a_near_path();
  source_.path.round_trip = 2200us;
  source_.path.seconds = 2;
  facts_.last_second = 195e6;  // the mean of two holds slow start
  ASSERT_EQ(step(150e6), 7);
  EXPECT_EQ(steps(4, 200e6), 2) << refined_.why;
}
TEST_F(Refining, TriesMoreBelowALimitThatIsFarAndNoneAtOneThatIsReached) {
  loses_on_a_near_path();
  facts_.limit = 155e6;
  EXPECT_EQ(steps(5, 150e6), 2) << "more is not wanted";
  facts_.limit = 300e6;
  EXPECT_EQ(step(150e6), 4);
  EXPECT_EQ(steps(2, 250e6), 8);
  EXPECT_EQ(steps(10, 290e6), 8) << "the limit is reached with them, so nothing more was to be proved: "
                                 << refined_.why;
}
TEST_F(Refining, GivesMoreLanesTheTimeThatALongRoundTripTakes) {
  source_.start = source_.path.lanes = 4;
  source_.path.least_round_trip = source_.path.round_trip = 600ms;
  source_.path.segments = 1e4;
  source_.path.window_limited = 0.9;
  EXPECT_EQ(step(20e6), 8) << "windows hold them up";
  EXPECT_EQ(steps(11, 20e6), 8) << "a lane has its first bytes after 3 s, and then only some";
  EXPECT_LT(steps(3, 20e6), 8) << "20 round trips: " << refined_.why;
}
TEST_F(Refining, TriesNoMoreInAStepInWhichAnotherSourceGivesLanesUp) {
  loses_on_a_near_path();
  source_.path.bits_per_s = source_.path.best_bits_per_s = 150e6;
  RefinedSource clean = source_;
  clean.node = numbered_node(2);
  clean.start = clean.path.lanes = 16;
  clean.path.loss_events = clean.path.random_events = 0;
  clean.path.segments = 1e6;
  facts_.bits_per_s = 300e6;
  const auto first = refinement_.step(now_ += 1s, {source_, clean}, facts_).lanes;
  EXPECT_EQ(first[0], 2) << "nobody could tell what it brought";
  EXPECT_LT(first[1], 16);
}
TEST_F(Refining, TriesNoMoreBesideOthersThatGoFirstNorWhereTheQueueTells) {
  source_.start = source_.path.lanes = 2;
  source_.path.segments = 1e6;
  source_.path.loss_events = source_.path.random_events = 20;
  source_.path.least_round_trip = 2ms;
  source_.path.round_trip = 8ms;
  source_.path.full_queue = 8ms;
  EXPECT_EQ(steps(20, 150e6), 2);
  source_.path.full_queue = 2ms;
  facts_.polite = true;
  EXPECT_EQ(steps(20, 150e6), 2);
}
TEST_F(Refining, RulesFewerLanesOutOnlyWhereTakingThemBackBroughtTheRateBack) {
  source_.path.round_trip = 80ms;
  source_.path.segments = 1e6;
  EXPECT_EQ(step(95e6), 8);
  EXPECT_EQ(steps(2, 45e6), 16) << "the path carries less since then";
  EXPECT_EQ(steps(3, 45e6), 16);
  EXPECT_EQ(step(45e6), 8) << "it was not for want of lanes";
}
TEST_F(Refining, DoublesLanesEachTwoSecondsWhileWindowsHoldThemUpAndMoreBringMore) {
  source_.start = source_.path.lanes = 2;
  source_.path.segments = 1e6;
  source_.path.window_limited = 1;
  EXPECT_EQ(step(16e6), 4);
  EXPECT_EQ(steps(2, 31e6), 8);
  EXPECT_EQ(steps(2, 62e6), 16);
}
TEST_F(Refining, TakesBackMoreLanesThatBroughtNothingThoughWindowsHeldThemUp) {
  source_.start = source_.path.lanes = 8;
  source_.path.segments = 1e6;
  source_.path.window_limited = 1;
  EXPECT_EQ(step(64e6), 16);
  EXPECT_EQ(steps(5, 65e6), 8) << "who reads is what limits";
  EXPECT_NE(refined_.why.find("more lanes brought"), std::string::npos) << refined_.why;
  EXPECT_EQ(steps(40, 65e6), 1) << "each lane costs the reader something";
}
TEST_F(Refining, KeepsAsManyLanesAsWhatMoreBroughtTakes) {
  source_.start = source_.path.lanes = 4;
  source_.path.segments = 1e6;
  source_.path.window_limited = 1;
  ASSERT_EQ(step(40e6), 8);
  EXPECT_EQ(steps(4, 50e6), 5) << "a lane carried 10 of 40 Mbit/s, so five bring 50";
  EXPECT_NE(refined_.why.find("more lanes brought 50 instead of 40 Mbit/s, for which fewer will do"), std::string::npos)
      << refined_.why;
  EXPECT_EQ(steps(40, 50e6), 5) << "neither more nor fewer are tried for a minute";
}
TEST_F(Refining, AddsLanesToOneSourceThoughMoreToAnotherBroughtNothing) {
  source_.start = source_.path.lanes = 8;
  source_.path.segments = 1e6;
  source_.path.window_limited = 1;
  RefinedSource other = source_;
  other.node = numbered_node(2);
  other.path.window_limited = 0;
  const auto both = [&] {
    for (auto* source : {&source_, &other}) source->path.bits_per_s = source->path.best_bits_per_s = 64e6;
    facts_.bits_per_s = 128e6;
    return refinement_.step(now_ += 1s, {source_, other}, facts_).lanes;
  };
  other.stays = true;
  ASSERT_EQ(both().at(0), 16);
  for (int i = 0; i < 4; ++i) both();
  ASSERT_LE(both().at(0), 8) << "it brought nothing";
  other.stays = false;
  other.path.window_limited = 1;
  int most = 0;
  for (int i = 0; i < 10; ++i) most = std::max(most, both().at(1));
  EXPECT_EQ(most, 16);
}
TEST_F(Refining, AddsNoLanesToANodeThatHasNoTimeToRead) {
  facts_.reader = Limit::kReceiverCpu;
  source_.start = source_.path.lanes = 8;
  source_.path.segments = 1e6;
  source_.path.window_limited = 1;
  EXPECT_EQ(step(64e6), 5);
  EXPECT_NE(refined_.why.find("lacks processor time"), std::string::npos) << refined_.why;
  EXPECT_EQ(steps(3, 50e6), 8) << "fewer brought less";
}
TEST_F(Refining, AddsNoLanesToANodeWhoseDiskTakesNoMore) {
  facts_.reader = reader_limit({.busiest_thread = 0.3, .held_by_disk = 0.8});
  source_.start = source_.path.lanes = 8;
  source_.path.segments = 1e6;
  source_.path.window_limited = 1;
  EXPECT_EQ(step(64e6), 5);
  EXPECT_NE(refined_.why.find("disk takes no more"), std::string::npos) << refined_.why;
}
TEST_F(Refining, KeepsMoreLanesThatBringMore) {
  source_.start = source_.path.lanes = 8;
  source_.path.segments = 1e6;
  source_.path.window_limited = 1;
  EXPECT_EQ(step(64e6), 16);
  EXPECT_GE(steps(5, 110e6), 16);
}
TEST_F(Refining, AddsLanesWhereLossesHoldThemUp) {
  source_.start = source_.path.lanes = 2;
  source_.path.segments = 1e6;
  source_.path.random_events = 1000;
  source_.path.seconds = 1;
  EXPECT_EQ(step(50e6), 7) << "what it takes, at once";
  source_.path.seconds = 10;
  EXPECT_GT(steps(4, 100e6), 7);
  EXPECT_EQ(refined_.held_by, Limit::kLoss);
}
TEST_F(Refining, AddsAtMostFourTimesTheLanesInAStep) {
  source_.start = 2;
  source_.path.segments = 1e6;
  source_.path.random_events = 1000;
  EXPECT_EQ(step(200e6), 8);
}
TEST_F(Refining, GivesNoLanesUpWhereTheTransferEndsSoon) {
  source_.path.segments = 1e6;
  facts_.seconds_left = 8;
  EXPECT_EQ(steps(8, 95e6), 16);
}
TEST_F(Refining, GoesBackAndRemembersTheNumberWhereMoreLanesMadeTheRateCollapse) {
  source_.start = source_.path.lanes = 4;
  source_.path.segments = 1e6;
  source_.path.random_events = 1000;
  EXPECT_EQ(step(50e6), 7);
  EXPECT_EQ(steps(2, 20e6), 4);
  EXPECT_NE(refined_.why.find("7 lanes brought 20 Mbit/s, where 4 had brought 50"), std::string::npos) << refined_.why;
  EXPECT_EQ(steps(120, 50e6), 5) << "half-way between those that held and those that broke";
}
TEST_F(Refining, GoesBackWhereMoreLanesBrokeTheDisk) {
  source_.start = source_.path.lanes = 4;
  source_.path.segments = 1e6;
  source_.path.random_events = 1000;
  ASSERT_EQ(step(50e6), 7);
  facts_.reader = Limit::kDisk;
  EXPECT_EQ(steps(2, 20e6), 4);
}
TEST_F(Refining, TriesNothingAtAPaceThatItSetsItself) {
  loses_on_a_near_path();
  facts_.pace = 160e6;
  EXPECT_EQ(steps(30, 150e6), 2);
}
TEST_F(Refining, BlamesNoLanesForARateThatStaysLowWithoutThem) {
  source_.start = source_.path.lanes = 4;
  source_.path.segments = 1e6;
  source_.path.random_events = 1000;
  EXPECT_EQ(step(50e6), 7);
  EXPECT_EQ(steps(2, 20e6), 4);
  EXPECT_GE(steps(20, 20e6), 7) << "the path itself has become slower";
}
TEST_F(Refining, TakesAGreaterPartOfAFullPathWhereItIsGreedy) {
  source_.start = source_.path.lanes = 2;
  source_.path.segments = 1e6;
  source_.path.round_trip = source_.path.full_queue = 60ms;
  facts_.greedy = true;
  EXPECT_EQ(step(50e6), 3);
  EXPECT_EQ(steps(4, 60e6), 5);
  EXPECT_EQ(steps(4, 61e6), 3) << "two more brought next to nothing";
}
TEST_F(Refining, LeavesOthersWhatTheyTakeOfAPathThatStaysFull) {
  fills_a_path(4);
  EXPECT_EQ(step(77e6), 2);
  EXPECT_EQ(steps(12, 64e6), 2) << "2 of 3 flows instead of 4 of 5";
}
TEST_F(Refining, TakesLanesBackBehindAShaperByConnection) {
  fills_a_path(4);
  EXPECT_EQ(step(40e6), 2);
  EXPECT_EQ(steps(3, 20e6), 4) << "each lane has a rate and a queue of its own";
}
TEST_F(Refining, TriesAsManyAgainOnceWhereEachConnectionMayHaveARateOfItsOwn) {
  fills_a_path(2);
  EXPECT_EQ(step(100e6), 4);
  EXPECT_EQ(refined_.why, "each lane may have a rate of its own: more are tried");
  EXPECT_EQ(steps(2, 200e6), 8) << "each has";
  EXPECT_EQ(steps(2, 400e6), 16);
  EXPECT_EQ(steps(20, 800e6), 16);
}
TEST_F(Refining, TriesFourTimesTheLanesAfterASecondThatShowsRatesOfTheirOwn) {
  fills_a_path(2);
  EXPECT_EQ(step(100e6), 4);
  facts_.last_second = 150e6;
  EXPECT_EQ(step(110e6), 4) << "less than each has";
  facts_.last_second = 190e6;
  EXPECT_EQ(step(150e6), 16) << "the mean of two seconds is not needed";
  facts_.last_second = 700e6;
  EXPECT_EQ(steps(20, 700e6), 16);
}
TEST_F(Refining, WaitsForTwentyRoundTripsUntilASecondShowsRatesOfTheirOwn) {
  fills_a_path(2);
  source_.path.least_round_trip = 75ms;
  source_.path.round_trip = 150ms;
  EXPECT_EQ(step(100e6), 4);
  facts_.last_second = 200e6;
  EXPECT_EQ(step(150e6), 4);
  EXPECT_EQ(step(150e6), 16);
}
TEST_F(Refining, KeepsAsManyOfFourTimesTheLanesAsWhatTheyBringTakes) {
  fills_a_path(2);
  EXPECT_EQ(step(50e6), 4);
  facts_.last_second = 100e6;
  EXPECT_EQ(step(75e6), 16);
  facts_.last_second = 0;
  EXPECT_EQ(steps(4, 200e6), 8) << "of 400: " << refined_.why;
  EXPECT_EQ(steps(50, 200e6), 8) << "it knows by now";
}
TEST_F(Refining, TakesOneGoodSecondForNoProof) {
  fills_a_path(2);
  EXPECT_EQ(step(100e6), 4);
  facts_.last_second = 200e6;
  EXPECT_EQ(step(130e6), 4) << "beside two others as many lanes again bring a third more";
  facts_.last_second = 130e6;
  EXPECT_EQ(steps(4, 130e6), 2);
}
TEST_F(Refining, TriesNothingForAShaperWhileTheRateGrowsByItself) {
  fills_a_path(2);
  facts_.last_second = 100e6;
  EXPECT_EQ(step(80e6), 2);
  EXPECT_EQ(step(95e6), 4);
}
TEST_F(Refining, TriesForAShaperOnceSlowStartIsOverAndAsLongAsItPays) {
  fills_a_path(2);
  source_.path.seconds = 1.9;
  EXPECT_EQ(step(100e6), 2) << "40 round trips are 1.6 s, but what a second look tells counts";
  source_.path.seconds = 2.1;
  facts_.seconds_left = 1.5;
  EXPECT_EQ(step(100e6), 2) << "it ends soon";
  facts_.seconds_left = 3;
  EXPECT_EQ(step(100e6), 4);
}
TEST_F(Refining, TriesNoMoreForAShaperWhereLanesHaveHardlyASegmentOnTheWay) {
  fills_a_path(2);
  source_.path.least_round_trip = 500us;
  source_.path.congestion_control = "bbr";
  EXPECT_EQ(steps(20, 11e6), 2) << "11 Mbit/s for 0.5 ms are 0.47 segments";
  EXPECT_EQ(step(12e6), 4);
}
TEST_F(Refining, TriesForAShaperFromEightLanesOnlyWhereLanesCouldBeGivenUpAgain) {
  fills_a_path(8);
  facts_.seconds_left = 9;
  EXPECT_EQ(step(100e6), 8) << "it has lost too much by the end if they bring nothing";
  refinement_ = Refinement();
  fills_a_path(7);
  EXPECT_EQ(step(100e6), 14);
}
TEST_F(Refining, TriesForAShaperLaterWhereNothingShowsThatSlowStartIsOver) {
  source_.start = source_.path.lanes = 2;
  source_.path.segments = 1e6;
  source_.path.seconds = 3.9;
  EXPECT_EQ(step(100e6), 2);
  source_.path.congestion_control = "bbr";
  EXPECT_EQ(step(100e6), 4) << "BBR has no queue to show it by";
}
TEST_F(Refining, TriesNoMoreForAShaperWhereMoreBroughtWhatTheyTookFromOthers) {
  fills_a_path(2);
  EXPECT_EQ(step(40e6), 4);
  EXPECT_EQ(steps(4, 57e6), 2) << "4 of 7 flows instead of 2 of 5";
  for (int second = 0; second < 1000; ++second) ASSERT_EQ(step(40e6), 2) << "second " << second;
}
TEST_F(Refining, TriesNoMoreForAShaperWhereItHadMoreOrASeederHasNoMore) {
  source_.path.segments = 1e6;
  source_.path.round_trip = source_.path.full_queue = 80ms;
  EXPECT_EQ(step(95e6), 8) << "of 16";
  for (int second = 0; second < 100; ++second) ASSERT_LE(step(95e6), 8) << "second " << second;
  refinement_ = Refinement();
  source_.start = source_.path.lanes = 2;
  source_.path.empty = 0.9;
  EXPECT_EQ(steps(20, 95e6), 2);
  source_.path.empty = 0;
  facts_.polite = true;
  EXPECT_EQ(steps(20, 95e6), 2);
}
TEST_F(Refining, AddsNoLanesWhereTheSeederPacesThem) {
  loses_at_random();
  source_.path.paced_bits_per_s = 33e6;
  EXPECT_LE(steps(60, 30e6), 4);
  facts_.greedy = true;
  source_.path.round_trip = source_.path.full_queue = 60ms;
  EXPECT_LE(steps(60, 30e6), 4) << "though somebody is greedy";
}
TEST_F(Refining, AddsLanesWhereTheSeederGivesMoreThanTheyCarry) {
  loses_at_random();
  source_.path.paced_bits_per_s = 60e6;
  EXPECT_GT(steps(4, 30e6), 4);
}
TEST_F(Refining, BlamesNoNumberOfLanesForWhatASeederGivesLess) {
  source_.start = source_.path.lanes = 4;
  source_.path.segments = 1e6;
  source_.path.random_events = 1000;
  EXPECT_EQ(step(50e6), 7);
  source_.path.paced_bits_per_s = 20e6;
  EXPECT_EQ(steps(30, 20e6), 7) << refined_.why;
  source_.path.paced_bits_per_s = 0;
  EXPECT_GT(steps(4, 50e6), 7) << "seven did not break it";
}
TEST_F(Refining, NamesWhichOfSeveralSourcesItIsAbout) {
  loses_at_random();
  RefinedSource other = source_;
  other.node = gridtorrent::testing::numbered_node(2);
  other.path.loss_events = other.path.random_events = 0;
  source_.node = gridtorrent::testing::numbered_node(1);
  facts_.bits_per_s = 100e6;
  for (auto* source : {&source_, &other}) source->path.bits_per_s = source->path.best_bits_per_s = 50e6;
  Refined refined;
  for (int i = 0; i < 10 && refined.why.empty(); ++i) refined = refinement_.step(now_ += 1s, {source_, other}, facts_);
  ASSERT_GT(refined.lanes.at(0), 4) << refined.why;
  EXPECT_TRUE(refined.why.starts_with(source_.node.str() + " 4 → " + std::to_string(refined.lanes.at(0)) + ": "))
      << refined.why;
  ASSERT_NE(refined.lanes.at(1), 4) << "without losses fewer will do";
  const std::string of_other = "; " + other.node.str() + " 4 → " + std::to_string(refined.lanes.at(1)) + ": ";
  EXPECT_NE(refined.why.find(of_other), std::string::npos) << refined.why;
}
TEST_F(Refining, TriesNothingWhileAnotherTransferOverThePathDoes) {
  source_.start = source_.path.lanes = 2;
  source_.path.segments = 1e6;
  source_.path.round_trip = source_.path.full_queue = 60ms;
  facts_.greedy = facts_.others_try = true;
  EXPECT_EQ(steps(10, 50e6), 2);
  EXPECT_FALSE(refinement_.tries());
  facts_.others_try = false;
  EXPECT_EQ(step(50e6), 3);
  EXPECT_TRUE(refinement_.tries()) << "now others wait";
  EXPECT_EQ(steps(4, 51e6), 2) << "one more brought next to nothing";
  EXPECT_FALSE(refinement_.tries());
}
TEST_F(Refining, AddsLanesForWindowsThoughAnotherTransferTriesSomething) {
  source_.start = source_.path.lanes = 4;
  source_.path.segments = 1e6;
  source_.path.window_limited = 1;
  facts_.others_try = true;
  EXPECT_EQ(step(64e6), 8) << "windows hold each lane up by itself";
  EXPECT_FALSE(refinement_.tries());
}
TEST_F(Refining, GivesNoLanesUpWhileAnotherTransferOverThePathTriesSomething) {
  source_.path.round_trip = 120ms;
  source_.path.segments = 1e6;
  facts_.others_try = true;
  EXPECT_EQ(steps(10, 95e6), 16);
  facts_.others_try = false;
  EXPECT_EQ(step(95e6), 8);
}
TEST_F(Refining, AddsLanesForLossesThoughAnotherTransferTriesSomething) {
  source_.start = source_.path.lanes = 2;
  source_.path.segments = 1e6;
  source_.path.random_events = 1000;
  facts_.others_try = true;
  EXPECT_EQ(step(50e6), 7) << "losses are measured, not tried";
}
TEST_F(Refining, GivesNoLanesUpWhereARateIsToBeHeld) {
  source_.path.segments = 1e6;
  facts_.no_fewer = true;
  EXPECT_EQ(steps(20, 95e6), 16);
}
TEST_F(Refining, LeavesAFullPathToOthersWhereItIsNotGreedy) {
  source_.start = source_.path.lanes = 2;
  source_.path.segments = 1e6;
  source_.path.round_trip = source_.path.full_queue = 60ms;
  EXPECT_EQ(steps(20, 50e6), 2);
}

}  // namespace
}  // namespace gridtorrent::client::tuning
