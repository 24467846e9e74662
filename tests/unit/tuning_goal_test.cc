// Rates that are held, floors, deadlines, and the way for others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "client/tuning/demand.h"
#include "client/tuning/goal.h"
#include "client/tuning/pace.h"
#include "tests/support/tuner_input.h"

namespace gridtorrent::client::tuning {
namespace {

using gridtorrent::testing::input_with;
using namespace std::chrono_literals;

constexpr double kMbit = 1e6;

TEST(Goal, IsNoneWhereNobodyAsks) {
  EXPECT_EQ(goal_of(input_with(1)), Goal());
}
TEST(Goal, NeverExceedsALimit) {
  auto input = input_with(1);
  input.limit_bits_per_s = 20'000'000;
  input.target_bits_per_s = 50'000'000;
  input.floor_bits_per_s = 30'000'000;
  EXPECT_EQ(goal_of(input).target, 20 * kMbit);
  EXPECT_EQ(goal_of(input).floor, 20 * kMbit);
}
TEST(Goal, OfADeadlineIsAFloorWithSomethingToSpare) {
  auto input = input_with(1, 100'000'000);
  input.deadline = input.now + 103s;
  const Goal goal = goal_of(input);
  EXPECT_NEAR(goal.floor / kMbit, 8 / 0.95, 0.01) << "800 Mbit in 100 s, and 3 s to verify";
  EXPECT_TRUE(goal.polite);
  input.mode = TuningMode::kGreedy;
  EXPECT_FALSE(goal_of(input).polite);
}
TEST(Goal, OfADeadlineThatIsPastIsAsFastAsItGoes) {
  auto input = input_with(1);
  input.deadline = input.now - 1h;
  EXPECT_TRUE(std::isfinite(goal_of(input).floor));
  EXPECT_GT(goal_of(input).floor, 1e12);
}

TEST(Goal, OfADeadlineInSecondsIsNotPolite) {
  auto input = input_with(1);
  input.deadline = input.now + 14s;
  EXPECT_TRUE(goal_of(input).polite);
  input.deadline = input.now + 12s;
  EXPECT_FALSE(goal_of(input).polite) << "there is no time to see that it is too slow";
}
TEST(Goal, OfADeadlineLeavesTheTimeThatFinishingTakes) {
  auto input = input_with(1, 100'000'000);
  input.deadline = input.now + 120s;
  input.to_finish = 20s;
  EXPECT_NEAR(goal_of(input).floor / kMbit, 8 / 0.95, 0.01) << "800 Mbit in 100 s";
  EXPECT_EQ(state_of(input, 20 * kMbit)->text, "in time, with 60 s to spare");
}
TEST(Goal, WantsLanesThatBringSomewhatMoreThanAFloor) {
  EXPECT_GT(kHeld * Goal{.floor = 30 * kMbit}.wanted(), 30 * kMbit);
  EXPECT_EQ((Goal{.target = 30 * kMbit}.wanted()), 30 * kMbit);
}

TEST(TargetState, IsNoneWhereNobodyAsked) {
  EXPECT_FALSE(state_of(input_with(1), 10 * kMbit).has_value());
}
TEST(TargetState, OfATargetSaysByHowMuchItIsMissed) {
  auto input = input_with(1);
  input.target_bits_per_s = 30'000'000;
  EXPECT_EQ(state_of(input, 29 * kMbit)->text, "holds 30 Mbit/s");
  EXPECT_TRUE(state_of(input, 29 * kMbit)->held);
  EXPECT_EQ(state_of(input, 21 * kMbit)->text, "30 % short of 30 Mbit/s");
  EXPECT_NEAR(state_of(input, 21 * kMbit)->shortfall, 0.3, 1e-9);
  EXPECT_EQ(state_of(input, 36 * kMbit)->text, "20 % above 30 Mbit/s");
  EXPECT_FALSE(state_of(input, 36 * kMbit)->held);
}
TEST(TargetState, OfADeadlineSaysHowLateItWillBe) {
  auto input = input_with(1, 100'000'000);
  input.deadline = input.now + 83s;
  EXPECT_EQ(state_of(input, 20 * kMbit)->text, "in time, with 40 s to spare");
  EXPECT_TRUE(state_of(input, 20 * kMbit)->held);
  EXPECT_EQ(state_of(input, 8 * kMbit)->text, "late by 20 s: 8 Mbit/s, and 10 would be in time");
  EXPECT_NEAR(state_of(input, 8 * kMbit)->shortfall, 0.2, 1e-9);
  EXPECT_EQ(state_of(input, 0)->text, "late: nothing comes, 10 Mbit/s would be in time");
  input.deadline = input.now - 1s;
  EXPECT_EQ(state_of(input, 8 * kMbit)->text, "late: the time is past");
}
TEST(TargetState, OfAFloorIsHeldAboveIt) {
  auto input = input_with(1);
  input.floor_bits_per_s = 30'000'000;
  EXPECT_TRUE(state_of(input, 90 * kMbit)->held);
  EXPECT_EQ(state_of(input, 15 * kMbit)->text, "50 % short of 30 Mbit/s");
}

TEST(TargetState, OfWhatALimitForbidsSaysWhatLacks) {
  auto input = input_with(1);
  input.limit_bits_per_s = 20'000'000;
  input.target_bits_per_s = 50'000'000;
  EXPECT_EQ(state_of(input, 20 * kMbit)->text, "60 % short of 50 Mbit/s");
  input.target_bits_per_s = 0;
  input.floor_bits_per_s = 40'000'000;
  EXPECT_EQ(state_of(input, 20 * kMbit)->text, "50 % short of 40 Mbit/s");
}
TEST(TargetState, OfAFloorThatIsMissedBesideADeadlineThatIsNot) {
  auto input = input_with(1, 100'000'000);
  input.deadline = input.now + 48h;
  input.floor_bits_per_s = 30'000'000;
  EXPECT_EQ(state_of(input, 10 * kMbit)->text, "67 % short of 30 Mbit/s");
  EXPECT_EQ(state_of(input, 40 * kMbit)->kind, TargetState::Kind::kDeadline);
}

/// A limiter that brings a little less than it is set to, or what the path leaves.
TEST(TooLate, IsAFloorThatWasMissedForTwoSecondsOnceTheTransferHasBegun) {
  const Goal goal{.floor = 30 * kMbit, .polite = true};
  MonoTime now{1h};
  Lateness lateness;
  for (int i = 0; i < 5; ++i, now += 1s) EXPECT_FALSE(lateness.step(now, goal, 0)) << "it has just begun";
  for (int i = 0; i < 20; ++i, now += 1s) EXPECT_FALSE(lateness.step(now, goal, 30 * kMbit));
  EXPECT_FALSE(lateness.step(now, goal, 20 * kMbit));
  EXPECT_FALSE(lateness.step(now += 1s, goal, 30 * kMbit)) << "one second is none";
  EXPECT_FALSE(lateness.step(now += 1s, goal, 20 * kMbit));
  EXPECT_FALSE(lateness.step(now += 1s, goal, 20 * kMbit));
  EXPECT_TRUE(lateness.step(now += 1s, goal, 20 * kMbit));
  EXPECT_TRUE(lateness.step(now += 1s, goal, 90 * kMbit)) << "or it would be late again";
  EXPECT_FALSE(lateness.step(now += 1s, Goal{.polite = true}, 1)) << "nothing is to be held any more";
}

class Pacing : public ::testing::Test {
 protected:
  double second(double path = 1e12) {
    now_ += 1s;
    facts_.bits_per_s = rate_;
    pace_now_ = pace_.step(now_, goal_, facts_);
    rate_ = std::min(path, pace_now_ > 0 ? limiter_ * pace_now_ : path);
    return pace_now_;
  }
  MonoTime now_{1h};
  Goal goal_;
  PaceFacts facts_;
  Pace pace_;
  double pace_now_ = 0, rate_ = 0, limiter_ = 0.97;
};

TEST_F(Pacing, HoldsNothingBackWhereNothingIsAsked) {
  for (int i = 0; i < 10; ++i) EXPECT_EQ(second(50 * kMbit), 0);
}
TEST_F(Pacing, HoldsATargetWithinAFewSeconds) {
  goal_.target = 30 * kMbit;
  for (int i = 0; i < 10; ++i) second(100 * kMbit);
  for (int i = 0; i < 60; ++i) {
    second(100 * kMbit);
    EXPECT_NEAR(rate_ / kMbit, 30, 0.3) << "second " << i;
  }
}
TEST_F(Pacing, DoesNotMakeUpForWhatThePathDidNotGive) {
  goal_.target = 30 * kMbit;
  for (int i = 0; i < 20; ++i) second(100 * kMbit);
  for (int i = 0; i < 20; ++i) second(10 * kMbit);
  for (int i = 0; i < 20; ++i) {
    second(100 * kMbit);
    EXPECT_LE(rate_ / kMbit, 31.5);
  }
}
TEST_F(Pacing, GivesWayWherePacketsWaitAndGoesOnWhereTheyDoNot) {
  goal_.polite = true;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(second(96 * kMbit), 0) << "nobody waits";
  facts_.queue = facts_.full_queue = 40ms;
  facts_.is_queue = true;
  for (int i = 0; i < 30; ++i) second(50 * kMbit);
  EXPECT_NEAR(rate_ / kMbit, 0.97 * 9.6, 0.1) << "others fill the path: it keeps to a tenth of its best";
  facts_.queue = 0ms;
  facts_.is_queue = false;
  for (int i = 0; i < 40; ++i) second(96 * kMbit);
  EXPECT_GT(rate_ / kMbit, 90);
}
TEST_F(Pacing, KeepsToItsFloorWhoeverWaits) {
  goal_.polite = true;
  goal_.floor = 30 * kMbit;
  facts_.queue = facts_.full_queue = 40ms;
  facts_.is_queue = true;
  for (int i = 0; i < 30; ++i) second(50 * kMbit);
  EXPECT_GE(rate_ / kMbit, 30);
  EXPECT_LE(rate_ / kMbit, 33);
}
TEST_F(Pacing, LeavesAShortQueueToTheTransferItself) {
  goal_.polite = true;
  facts_.full_queue = 40ms;
  facts_.queue = 5ms;
  facts_.is_queue = true;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(second(96 * kMbit), 0);
}

/// A transfer in the background that is alone on a path of 100 Mbit/s whose packets are delayed at random, one by one.
double alone_beside_delays(double base_ms, const std::function<double(Rng&)>& delay_ms) {
  SeededRng rng(7);
  PeerSample seeder = gridtorrent::testing::complete_seeder(1);
  gridtorrent::testing::stands(seeder, 1, "cubic");
  LaneSample& lane = seeder.lanes.front();
  PathMeter meter;
  Pace pace;
  MonoTime now{1h};
  double smoothed = base_ms + delay_ms(rng), least = smoothed, rate = 100 * kMbit, mean = 0;
  for (int second = 0; second < 120; ++second, now += 1s) {
    for (int packet = 0; packet < 1000; ++packet) {
      const double one = base_ms + delay_ms(rng);
      smoothed += (one - smoothed) / 8;  // RFC 6298
      least = std::min(least, one);
    }
    lane.received_bytes += static_cast<std::uint64_t>(rate / 8);
    lane.theirs->srtt_us = static_cast<std::uint32_t>(1000 * smoothed);
    lane.theirs->min_rtt_us = static_cast<std::uint32_t>(1000 * least);
    meter.look(now, seeder);
    const PathFigures path = meter.figures(now, 2s);
    const double allowed = pace.step(now, Goal{.polite = true}, polite_facts(path, rate));
    rate = std::min(100 * kMbit, allowed > 0 ? allowed : 1e12);
    if (second >= 30) mean += rate / 90;
  }
  return mean / (100 * kMbit);
}
double part(Rng& rng) {
  return static_cast<double>(rng.below(1'000'000) + 1) / 1e6;
}
TEST(InTheBackground, WhatDelaysSinglePacketsHoldsNothingBack) {
  EXPECT_GT(alone_beside_delays(5, [](Rng& rng) { return 10 * part(rng); }), 0.8) << "a radio link nearby";
  EXPECT_GT(alone_beside_delays(5, [](Rng& rng) { return -5 * std::log(part(rng)); }), 0.8) << "with a long tail";
  EXPECT_GT(alone_beside_delays(40, [](Rng& rng) { return 15 + 10 * part(rng); }), 0.8) << "a mobile network";
}

/// Lanes that have equal parts of a path with the flows of others.
class Demanding : public ::testing::Test {
 protected:
  int second(int others) {
    now_ += 1s;
    facts_.bits_per_s = std::min(most_, 95 * kMbit * lanes_ / (lanes_ + others));
    const int asked = demand_.step(now_, facts_);
    lanes_ = facts_.exact ? std::max(asked, 1) : std::max(facts_.lanes, asked);
    return lanes_;
  }
  int seconds(int count, int others) {
    for (int i = 1; i < count; ++i) second(others);
    return second(others);
  }
  int lanes_ = 2;
  double most_ = 30 * kMbit;
  MonoTime now_{1h};
  DemandFacts facts_{30 * kMbit, false, false, 0, 2, 16};
  Demand demand_;
};

TEST_F(Demanding, AsksForNothingWhereNothingIsWanted) {
  facts_.wanted = 0;
  EXPECT_EQ(seconds(20, 8), 2);
}
TEST_F(Demanding, WaitsUntilTheTransferHasBegun) {
  EXPECT_EQ(seconds(5, 8), 2);
}
TEST_F(Demanding, AddsLanesUntilTheRateIsHeldBesideOthers) {
  const int lanes = seconds(20, 8);
  EXPECT_GE(lanes, 4);
  EXPECT_LE(lanes, 6);
  EXPECT_GE(facts_.bits_per_s, 0.97 * 30 * kMbit);
  EXPECT_FALSE(demand_.in_vain());
}
TEST_F(Demanding, GivesThemUpAgainWhereOthersHaveGone) {
  seconds(20, 8);
  EXPECT_EQ(seconds(120, 0), 2);
}
TEST_F(Demanding, GivesUpLanesThatAnExactRateHasNoUseFor) {
  facts_.exact = true;
  facts_.lanes = lanes_ = 14;
  EXPECT_LE(seconds(150, 0), 2);
}
TEST_F(Demanding, GivesNoLanesUpWherePacketsWait) {
  facts_.exact = facts_.full = true;
  facts_.lanes = lanes_ = 6;
  EXPECT_EQ(seconds(100, 8), 6);
}
TEST_F(Demanding, TakesLanesBackThatWereMissed) {
  facts_.exact = true;
  facts_.lanes = lanes_ = 6;
  EXPECT_EQ(seconds(26, 8), 4) << "of 12 flows";
  EXPECT_EQ(seconds(5, 10), 6) << "of 14 flows 4 carry 27 Mbit/s";
  EXPECT_EQ(seconds(55, 10), 6);
}
TEST_F(Demanding, WaitsForNewLanesAsLongAsALongRoundTripTakes) {
  facts_.round_trip = 600ms;
  EXPECT_GE(seconds(9, 8), 3);
  const int asked = lanes_;
  const double before = facts_.bits_per_s;
  most_ = before;  // what is new brings nothing for ten seconds, then its part
  for (int i = 0; i < 10; ++i) EXPECT_GE(second(8), asked) << "second " << i;
  most_ = 30 * kMbit;
  EXPECT_GE(seconds(60, 8), 4);
  EXPECT_GE(facts_.bits_per_s, 0.97 * 30 * kMbit);
}
TEST_F(Demanding, StopsWhereMoreLanesBringNothing) {
  most_ = 20 * kMbit;  // the seeder has no more
  EXPECT_LE(seconds(60, 0), 5);
  EXPECT_TRUE(demand_.in_vain());
}
TEST_F(Demanding, KeepsLanesThatBringNothingWhileOthersTakeMore) {
  seconds(10, 2);
  facts_.full = true;
  int least = lanes_;
  // Each lane more is answered by five flows more: what comes stays as low as it is.
  for (int i = 0; i < 30; ++i) {
    EXPECT_GE(second(5 * lanes_), least) << "second " << i << ": without them it would be lower";
    least = lanes_;
  }
  EXPECT_GE(least, 8);
  EXPECT_TRUE(demand_.in_vain());
}
TEST_F(Demanding, DoublesTheLanesForAFloorThatOthersTookWhereAPaceHoldsIt) {
  facts_.paced = true;
  facts_.lanes = 4;
  most_ = 40 * kMbit;
  seconds(6, 2);
  facts_.full = true;
  seconds(2, 12);
  EXPECT_EQ(second(12), 8) << "a pace holds what they bring beyond it";
}
TEST_F(Demanding, AddsLanesOnceWhereOthersTookThePaceDownToAFloor) {
  facts_.paced = facts_.full = facts_.at_floor = true;
  most_ = 33 * kMbit;
  EXPECT_EQ(seconds(6, 2), 6) << "before it is missed";
  EXPECT_EQ(seconds(30, 2), 6) << "and not again while it is held";
  facts_.full = facts_.at_floor = false;
  EXPECT_EQ(seconds(180, 0), 2) << "others have gone";
  facts_.full = facts_.at_floor = true;
  EXPECT_EQ(seconds(2, 2), 6) << "and others come";
}
TEST_F(Demanding, AddsLanesForAFloorThatIsMissedThoughSomeEndedBefore) {
  facts_.paced = facts_.full = facts_.at_floor = true;
  most_ = 33 * kMbit;
  seconds(6, 2);
  facts_.full = facts_.at_floor = false;
  seconds(180, 0);
  ASSERT_EQ(lanes_, 2);
  facts_.full = facts_.at_floor = true;
  ASSERT_EQ(seconds(2, 2), 6);
  int least = lanes_;
  for (int i = 0; i < 6; ++i) least = std::min(least, second(30));
  EXPECT_EQ(least, 6) << "the four that were left for a time are history";
  EXPECT_GT(lanes_, 6);
}
TEST_F(Demanding, AddsNoneForAPaceAtItsFloorWherePacketsDoNotWait) {
  facts_.paced = facts_.at_floor = true;
  EXPECT_EQ(seconds(30, 2), 2);
}
TEST_F(Demanding, AddsNoMoreForAPaceAtItsFloorThanIsAllowed) {
  facts_.paced = facts_.full = facts_.at_floor = true;
  facts_.most = 3;
  EXPECT_EQ(seconds(10, 2), 3);
}
TEST_F(Demanding, AddsInProportionForAFloorWithoutAPace) {
  facts_.lanes = 4;
  most_ = 40 * kMbit;
  seconds(6, 2);
  facts_.full = true;
  seconds(2, 12);
  EXPECT_EQ(second(12), 7) << "what they bring beyond the floor would be taken from others";
}
TEST_F(Demanding, GivesBackWhatBringsNothingWhereTheRateNeverWas) {
  most_ = 20 * kMbit;
  facts_.full = true;
  EXPECT_LE(seconds(60, 0), 5);
}
TEST_F(Demanding, AddsLanesEverMoreSlowlyWhereTheyBringNothingThoughOthersMayHaveTheRate) {
  seconds(10, 0);
  facts_.full = true;
  facts_.most = 32;
  most_ = 20 * kMbit;  // be it that the path is narrower now
  EXPECT_LE(seconds(12, 0), 8);
  EXPECT_LE(seconds(20, 0), 16);
  EXPECT_TRUE(demand_.in_vain());
}
TEST_F(Demanding, TriesAtOnceAgainOnceTheRateWasHeldThoughItWasInVainForAnHour) {
  most_ = 20 * kMbit;
  seconds(3600, 0);
  most_ = 30 * kMbit;
  seconds(60, 0);
  const int before = lanes_;
  EXPECT_GT(seconds(10, 8), before);
}
TEST_F(Demanding, TriesAgainWithinAMinuteThoughItWasInVainForAnHour) {
  most_ = 20 * kMbit;
  seconds(3600, 0);
  most_ = 30 * kMbit;
  EXPECT_GE(seconds(90, 8), 3);
}
TEST_F(Demanding, SaysThatItIsInVainAtTheMostLanes) {
  facts_.wanted = 90 * kMbit;
  most_ = 95 * kMbit;
  EXPECT_EQ(seconds(60, 16), 16);
  EXPECT_TRUE(demand_.in_vain());
}
TEST_F(Demanding, AsksForAsManyAsThereMayBeWhereTheTimeIsPast) {
  facts_.wanted = 1e15;
  most_ = 95 * kMbit;
  EXPECT_GE(seconds(40, 8), 8);
}

TEST_F(Demanding, KeepsALaneToEachSourceAndThoseThatLossesTake) {
  facts_.exact = true;
  facts_.least = 2;
  facts_.lanes = lanes_ = 7;
  EXPECT_EQ(seconds(200, 0), 2) << "fewer are not open anyway";
  EXPECT_GE(seconds(12, 8), 4) << "of which more are counted from";
  facts_.least = 10;
  EXPECT_EQ(second(8), 10);
}
TEST_F(Demanding, IsBackWithinTenSecondsAfterALongQuiet) {
  facts_.exact = true;
  facts_.wanted = most_ = 60 * kMbit;
  facts_.lanes = lanes_ = 14;
  ASSERT_EQ(seconds(150, 0), 1);
  seconds(11, 8);
  EXPECT_GE(facts_.bits_per_s, 0.95 * 60 * kMbit) << lanes_ << " lanes";
}
TEST_F(Demanding, GoesOnAddingLanesAsADeadlineComesNearer) {
  most_ = 95 * kMbit;
  double left = 400 * kMbit;
  for (int passed = 0; passed < 10; ++passed) {
    facts_.wanted = left / (0.95 * (12 - passed));
    second(8);
    left -= facts_.bits_per_s;
  }
  EXPECT_GE(lanes_, 8) << "the rate that would be in time has doubled several times";
}
TEST_F(Demanding, WaitsAnewAfterAPause) {
  const int before = seconds(20, 8);
  demand_.interrupted();
  now_ += 600s;
  most_ = 5 * kMbit;
  EXPECT_EQ(seconds(5, 8), before) << "lanes get up speed";
  EXPECT_GT(seconds(3, 8), before);
}
TEST_F(Demanding, AddsNothingWhereOthersGoFirst) {
  facts_.held_back = true;
  EXPECT_EQ(seconds(60, 8), 2);
  facts_.held_back = false;
  EXPECT_EQ(seconds(2, 8), 2) << "it has to be too slow for a time again";
  EXPECT_GT(seconds(3, 8), 2);
}

}  // namespace
}  // namespace gridtorrent::client::tuning
