#include "client/engine/round_clock.h"

#include <gtest/gtest.h>

#include <chrono>

namespace gridtorrent::client::engine {
namespace {

using namespace std::chrono_literals;

const MonoTime kStart = MonoTime{} + 1h;

TEST(Rounds, AreNoneWhereNoDataFlows) {
  RoundClock clock;
  EXPECT_FALSE(clock.rest(kStart));
}

TEST(Rounds, AreNoneOnShortPathsOrWhereTheRoundTripIsNotKnown) {
  RoundClock clock;
  EXPECT_FALSE(clock.data_flows(kStart, 0));
  EXPECT_FALSE(clock.rest(kStart));
  EXPECT_FALSE(clock.data_flows(kStart, 3'900));
  EXPECT_FALSE(clock.rest(kStart));
}

TEST(Rounds, LastAnEighthOfTheRoundTripAndNoMoreThanFiveMilliseconds) {
  RoundClock near, far;
  EXPECT_TRUE(near.data_flows(kStart, 16'000));
  EXPECT_EQ(near.rest(kStart), 0ms) << "the last look was long ago";
  EXPECT_EQ(near.rest(kStart), 2ms);
  EXPECT_TRUE(far.data_flows(kStart, 300'000));
  EXPECT_EQ(far.rest(kStart), 0ms);
  EXPECT_EQ(far.rest(kStart), 5ms);
}

TEST(Rounds, CountWhatHandlingTookAndNeverRestWhereItTookAsLong) {
  RoundClock clock;
  clock.data_flows(kStart, 16'000);
  clock.rest(kStart);
  ASSERT_EQ(clock.rest(kStart), 2ms);
  EXPECT_EQ(clock.rest(kStart + 2ms + 500us), 1'500us);
  EXPECT_EQ(clock.rest(kStart + 4ms + 3ms), 0us);
}

TEST(Rounds, AreAsShortAsTheNearestLaneThatHadDataSinceTheLast) {
  RoundClock clock;
  clock.data_flows(kStart, 32'000);
  clock.data_flows(kStart, 8'000);
  clock.data_flows(kStart, 32'000);
  clock.rest(kStart);
  ASSERT_EQ(clock.rest(kStart), 1ms);
  clock.data_flows(kStart + 1ms, 32'000);
  EXPECT_EQ(clock.rest(kStart + 1ms), 4ms);
}

TEST(Rounds, AreNoneAsLongAsOneOnAShortPathHasDataAndGoOnAfterIt) {
  RoundClock clock;
  ASSERT_TRUE(clock.data_flows(kStart, 32'000));
  ASSERT_TRUE(clock.rest(kStart));
  EXPECT_FALSE(clock.data_flows(kStart + 5ms, 200));
  EXPECT_FALSE(clock.data_flows(kStart + 6ms, 32'000));
  EXPECT_FALSE(clock.rest(kStart + 6ms));
  EXPECT_FALSE(clock.data_flows(kStart + 30ms, 32'000)) << "another block of the near one may be about to come";
  EXPECT_TRUE(clock.data_flows(kStart + 40ms, 32'000));
  EXPECT_TRUE(clock.rest(kStart + 40ms));
}

TEST(Rounds, GoOnThroughAShortPauseAndEndWithALongOne) {
  RoundClock clock;
  clock.data_flows(kStart, 16'000);
  ASSERT_TRUE(clock.rest(kStart));
  EXPECT_TRUE(clock.rest(kStart + 20ms));
  EXPECT_FALSE(clock.rest(kStart + 31ms));
  EXPECT_FALSE(clock.rest(kStart + 32ms));
  clock.data_flows(kStart + 40ms, 16'000);
  EXPECT_TRUE(clock.rest(kStart + 40ms));
}

}  // namespace
}  // namespace gridtorrent::client::engine
