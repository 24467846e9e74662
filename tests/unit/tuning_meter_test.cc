// What the lanes of one source did of late, and how a transfer's lanes follow it.
#include <gtest/gtest.h>

#include "client/tuning/path_meter.h"
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
    now_ += between_plans_;
    meter_.look(now_, seeder_);
  }
  PathFigures figures() const { return meter_.figures(now_, 10s); }

  /// Plans are made once a second; queues are judged so that it may be a little more.
  std::chrono::milliseconds between_plans_ = 1s;
  MonoTime now_{1h};
  PeerSample seeder_ = complete_seeder(1);
  PathMeter meter_;
};

TEST_F(Meter, KnowsNothingAtFirst) {
  EXPECT_EQ(figures().seconds, 0);
  EXPECT_EQ(figures().lanes, 0);
}
TEST_F(Meter, CountsNothingThatCameBeforeItsFirstLook) {
  carry(open(0), 5'000);
  meter_.look(now_, seeder_);
  second();
  EXPECT_DOUBLE_EQ(figures().bits_per_s, 8e6);
}
TEST_F(Meter, CountsNothingOfATimeInWhichItWasPaused) {
  meter_.look(now_, seeder_);
  open(7);
  for (int i = 0; i < 5; ++i) second();
  const auto least = figures().least_round_trip;
  meter_.interrupted();
  now_ += 1min;
  second(50);
  EXPECT_EQ(figures().bits_per_s, 0) << "nobody looked at these 50 MB";
  EXPECT_EQ(figures().least_round_trip, least) << "the path is what it was";
  second(), second();
  EXPECT_DOUBLE_EQ(figures().bits_per_s, 8e6);
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
TEST_F(Meter, TakesWhatSinglePacketsAreLateByForNoQueue) {
  open(0);
  seeder_.lanes.front().theirs->srtt_us = 65'000;  // delayed by 0 to 10 ms each
  second(), second();
  seeder_.lanes.front().theirs->srtt_us = 67'000;
  for (const std::uint32_t late : {64'000U, 67'000U}) lose(seeder_.lanes.front(), late);
  second();
  EXPECT_EQ(figures().random_events, 2);
  EXPECT_FALSE(figures().full());
  seeder_.lanes.front().theirs->srtt_us = 110'000;
  lose(seeder_.lanes.front(), 112'000);
  second();
  EXPECT_EQ(figures().random_events, 2) << "that one was of a full queue";
  EXPECT_TRUE(figures().full());
}
TEST_F(Meter, TakesAStandingQueueOfANearPathForNoDelays) {
  open(0);
  seeder_.lanes.front().theirs->min_rtt_us = 2'000;
  seeder_.lanes.front().theirs->srtt_us = 4'000;
  for (int i = 0; i < 5; ++i) second();
  EXPECT_TRUE(figures().full());
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
TEST_F(Meter, TellsWhichPartWasSentAgain) {
  auto& lane = open(0);
  second();
  lane.theirs->resent_bytes += 20'000;
  second();
  EXPECT_NEAR(figures().resent, 0.01, 1e-6);
}
TEST_F(Meter, ForgetsTheRoundTripOfARouteThatIsNoMore) {
  open(1);
  for (int i = 0; i < 60; ++i) second();
  auto& theirs = *seeder_.lanes.front().theirs;
  theirs.srtt_us = 70'000;  // the kernel's least of five minutes is still the old one
  for (int i = 0; i < 290; ++i) second();
  EXPECT_TRUE(figures().full()) << "for all that is known, packets wait";
  theirs.min_rtt_us = 70'000;
  for (int i = 0; i < 310; ++i) second();
  EXPECT_FALSE(figures().full()) << "ten minutes later nobody believes in the old route";
  EXPECT_EQ(figures().least_round_trip, 70ms);
  lose(seeder_.lanes.front(), 70'000);
  second();
  EXPECT_EQ(figures().random_events, 1) << "and losses are not those of a full queue";
}
TEST_F(Meter, TellsAQueueThatStandsFromPacketsThatWereDelayed) {
  between_plans_ = 1150ms;
  open(1);
  const auto smoothed = [&](std::uint32_t microseconds) { seeder_.lanes.front().theirs->srtt_us = microseconds; };
  smoothed(65'000);  // delayed by 0 to 10 ms each
  second();
  for (const std::uint32_t one : {66'000U, 64'500U, 68'000U, 65'000U, 67'000U, 64'800U, 66'500U}) {
    smoothed(one);
    second();
    EXPECT_LE(figures().standing_queue, 4ms);
    EXPECT_GT(figures().queue(), 4ms);
  }
  smoothed(95'000);
  second();
  EXPECT_LE(figures().standing_queue, 4ms) << "one look is none";
  second(), second();
  EXPECT_NEAR(static_cast<double>(figures().standing_queue.count()), 30'500, 1);
}
TEST_F(Meter, TellsAQueueThatStandsOnALaneOfTwentyPacketsASecond) {
  auto& lane = open(0);
  const auto slow_seconds = [&](int count, std::uint32_t smoothed) {
    for (int i = 0; i < count; ++i) {
      lane.theirs->sent_segments += 20;
      lane.theirs->srtt_us = smoothed;
      now_ += 1s;
      meter_.look(now_, seeder_);
    }
  };
  slow_seconds(5, 60'000);
  EXPECT_EQ(figures().standing_queue, 0us);
  slow_seconds(3, 160'000);
  EXPECT_EQ(figures().standing_queue, 100ms);
  slow_seconds(3, 60'000);
  lane.theirs->srtt_us = 160'000;
  for (int i = 0; i < 3; ++i) meter_.look(now_ += 1s, seeder_);
  EXPECT_EQ(figures().standing_queue, 0us) << "nothing was sent: that is an old figure";
}
TEST_F(Meter, TellsNoPaceWhereALaneThatCarriesSomethingHasNone) {
  open(0).theirs->paced_bytes_per_s = 250'000;
  open(1).theirs->paced_bytes_per_s = 125'000;
  second();
  EXPECT_EQ(figures().paced_bits_per_s, 3e6);
  seeder_.lanes[0].theirs->paced_bytes_per_s = 0;
  second();
  EXPECT_EQ(figures().paced_bits_per_s, 1e6) << "it carries nothing, and so may be told nothing";
  seeder_.lanes[0].receive_bits_per_s = 8'000'000;
  second();
  EXPECT_EQ(figures().paced_bits_per_s, 0) << "the other was told last when it was shared";
}
TEST_F(Meter, TellsTheCongestionControlOfTheOldestLane) {
  open(0).theirs->congestion_control = "bbr";
  open(1);
  second();
  EXPECT_EQ(figures().congestion_control, "bbr");
}
TEST_F(Meter, BeginsAnewWhereTimeGoesBack) {
  open(0);
  second(), second();
  now_ -= 1min;
  meter_.look(now_, seeder_);
  EXPECT_EQ(figures().seconds, 0);
}

}  // namespace
}  // namespace gridtorrent::client::tuning
