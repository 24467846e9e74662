// What the lanes of one source did of late, and how a transfer's lanes follow it.
#include <gtest/gtest.h>

#include "client/tuning/path_meter.h"
#include "client/tuning/refinement.h"
#include "tests/support/tuner_input.h"

namespace gridtorrent::client::tuning {
namespace {

using namespace std::chrono_literals;
using gridtorrent::testing::complete_seeder;
using gridtorrent::testing::numbered_node;

/// A seeder whose lanes carry so much each second, each over a round trip of 60 ms.
class Meter : public ::testing::Test {
 protected:
  LaneSample& open(int number) {
    LaneSample lane;
    lane.number = number;
    lane.theirs = TcpFigures{60'000, 60'000, 0, 10, "cubic"};
    seeder_.lanes.push_back(lane);
    return seeder_.lanes.back();
  }
  static void carry(LaneSample& lane, std::uint64_t megabytes) {
    lane.received_bytes += megabytes * 1'000'000;
    lane.theirs->sent_bytes += megabytes * 1'000'000;
    lane.theirs->sent_segments += megabytes * 1'000;
    lane.theirs->busy_us += 1'000'000;
  }
  static void lose(LaneSample& lane, std::uint32_t round_trip_us) {
    ++lane.theirs->loss_events;
    lane.theirs->loss_srtt_us += round_trip_us;
  }
  void second(std::uint64_t megabytes = 1) {
    for (auto& lane : seeder_.lanes) carry(lane, megabytes);
    now_ += 1s;
    meter_.look(now_, seeder_);
  }
  PathFigures figures() const { return meter_.figures(now_, 10s); }

  MonoTime now_{1h};
  PeerSample seeder_ = complete_seeder(1);
  PathMeter meter_;
};

TEST_F(Meter, KnowsNothingAtFirst) {
  EXPECT_EQ(figures().seconds, 0);
  EXPECT_EQ(figures().lanes, 0);
}
TEST_F(Meter, AddsUpLanesThatComeAndGo) {
  meter_.look(now_, seeder_);
  open(7);
  second(), second();
  open(8);
  second(), second();
  seeder_.lanes.erase(seeder_.lanes.begin());
  second();
  EXPECT_EQ(figures().lanes, 1);
  EXPECT_EQ(figures().segments, 7'000);
  EXPECT_NEAR(figures().bits_per_s, 7e6 * 8 / 5, 1);
  EXPECT_EQ(figures().segment_bytes, 1'000);
}
TEST_F(Meter, TellsTheBestTwoSecondsAndForgetsThemAfterHalfAMinute) {
  open(0);
  second(), second();
  second(5), second(5);
  for (int i = 0; i < 20; ++i) second();
  EXPECT_NEAR(figures().best_bits_per_s, 40e6, 1);
  for (int i = 0; i < 20; ++i) second();
  EXPECT_NEAR(figures().best_bits_per_s, 8e6, 1);
}
TEST_F(Meter, TellsWhatAFullQueueDropsFromWhatGetsLostOtherwise) {
  auto& lane = open(0);
  second();
  lane.theirs->srtt_us = 115'000;
  lose(lane, 118'000);
  second();
  lane.theirs->srtt_us = 70'000;
  lose(lane, 62'000);
  second();
  EXPECT_EQ(figures().loss_events, 2);
  EXPECT_EQ(figures().random_events, 1);
  EXPECT_EQ(figures().queue(), 10ms);
  EXPECT_EQ(figures().full_queue, 58ms);
}
TEST_F(Meter, TakesAllLossesForRandomWhereNothingEverWaits) {
  auto& lane = open(0);
  second();
  lose(lane, 60'900), lose(lane, 60'100);
  second();
  EXPECT_EQ(figures().random_events, 2);
}
TEST_F(Meter, TellsForWhichShareOfTheTimeWindowsHeldTheSenderUp) {
  auto& lane = open(0);
  second();
  lane.theirs->window_limited_us += 1'500'000;
  lane.theirs->buffer_limited_us += 200'000;
  second();
  EXPECT_NEAR(figures().window_limited, 0.75, 0.01);
  EXPECT_NEAR(figures().buffer_limited, 0.1, 0.01);
}
TEST_F(Meter, BeginsAnewWhereTimeGoesBack) {
  open(0);
  second(), second();
  now_ -= 1min;
  meter_.look(now_, seeder_);
  EXPECT_EQ(figures().seconds, 0);
}

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
    refined_ = refinement_.step(now_, {source_}, rate, 0, reader_busy_);
    source_.path.lanes = refined_.lanes.at(0);
    return source_.path.lanes;
  }
  int steps(int count, double rate) {
    for (int i = 1; i < count; ++i) step(rate);
    return step(rate);
  }
  MonoTime now_{1h};
  bool reader_busy_ = false;
  RefinedSource source_;
  Refinement refinement_;
  Refined refined_;
};

TEST_F(Refining, KeepsTheStartWhereNothingIsKnown) {
  EXPECT_EQ(steps(30, 100e6), 16);
  EXPECT_TRUE(refined_.why.empty());
}
TEST_F(Refining, GivesLanesUpByAThirdATimeWhereNoneGetsLost) {
  source_.path.segments = 1e6;
  EXPECT_EQ(step(95e6), 10);
  EXPECT_EQ(step(95e6), 10) << "the last step has not settled yet";
  EXPECT_EQ(step(95e6), 6);
  EXPECT_EQ(steps(20, 95e6), 2);
  EXPECT_NE(refined_.why.find("next to none of 1000000 packets lost"), std::string::npos) << refined_.why;
}
TEST_F(Refining, TakesLanesBackThatWereMissedAndDoesNotTryAgainForAMinute) {
  source_.path.segments = 1e6;
  EXPECT_EQ(step(95e6), 10);
  EXPECT_EQ(steps(2, 60e6), 16);
  EXPECT_NE(refined_.why.find("instead of 95 Mbit/s"), std::string::npos) << refined_.why;
  EXPECT_EQ(steps(58, 95e6), 16);
  EXPECT_LT(steps(3, 95e6), 16);
}
TEST_F(Refining, TakesBackMoreLanesThatBroughtNothingThoughWindowsHeldThemUp) {
  source_.start = source_.path.lanes = 8;
  source_.path.segments = 1e6;
  source_.path.window_limited = 1;
  EXPECT_EQ(step(64e6), 12);
  EXPECT_EQ(steps(5, 65e6), 8) << "who reads is what limits";
  EXPECT_NE(refined_.why.find("more lanes brought"), std::string::npos) << refined_.why;
  EXPECT_EQ(steps(40, 65e6), 1) << "each lane costs the reader something";
}
TEST_F(Refining, AddsNoLanesToANodeThatHasNoTimeToRead) {
  reader_busy_ = true;
  source_.start = source_.path.lanes = 8;
  source_.path.segments = 1e6;
  source_.path.window_limited = 1;
  EXPECT_EQ(step(64e6), 5);
  EXPECT_NE(refined_.why.find("never rests"), std::string::npos) << refined_.why;
  EXPECT_EQ(steps(3, 50e6), 8) << "fewer brought less";
}
TEST_F(Refining, KeepsMoreLanesThatBringMore) {
  source_.start = source_.path.lanes = 8;
  source_.path.segments = 1e6;
  source_.path.window_limited = 1;
  EXPECT_EQ(step(64e6), 12);
  EXPECT_GT(steps(6, 90e6), 12);
}
TEST_F(Refining, AddsLanesWhereLossesHoldThemUp) {
  source_.start = 2;
  source_.path.segments = 1e6;
  source_.path.random_events = 1000;
  EXPECT_EQ(step(50e6), 4) << "at most twice as many at a time";
  EXPECT_GT(steps(4, 100e6), 8);
  EXPECT_EQ(refined_.held_by, Limit::kLoss);
}

}  // namespace
}  // namespace gridtorrent::client::tuning
