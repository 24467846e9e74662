#include <gtest/gtest.h>

#include "client/engine/request_depth.h"

namespace gridtorrent::client::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint64_t kBlock = 16 * 1024;

/// A lane whose blocks come evenly at a rate, by a clock of its own.
struct Arrivals {
  RequestDepth depth;
  MonoTime now{seconds(100)};

  void last(milliseconds time, double blocks_per_s) {
    const MonoTime end = now + time;
    const auto gap = std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 / blocks_per_s));
    for (; now < end; now += gap) depth.received(now, kBlock);
  }
};

TEST(RequestDepth, AsksForEnoughToBeginWithAndForLittleOfASlowPeer) {
  RequestDepth depth;
  EXPECT_EQ(depth.blocks(), RequestDepth::kFirst);
  Arrivals slow;
  slow.depth.set_round_trip(50'000);
  slow.last(seconds(60), 1);
  EXPECT_GE(slow.depth.blocks(), RequestDepth::kLeast);
  EXPECT_LE(slow.depth.blocks(), RequestDepth::kLeast + 3);
}

TEST(RequestDepth, HasFewBlocksAskedForOneByOneAndManyTogether) {
  EXPECT_EQ(RequestDepth::at_once(1), 1);
  EXPECT_EQ(RequestDepth::at_once(RequestDepth::kFirst), 1);
  EXPECT_EQ(RequestDepth::at_once(15), 1);
  EXPECT_EQ(RequestDepth::at_once(16), 2);
  EXPECT_EQ(RequestDepth::at_once(64), 8);
  EXPECT_EQ(RequestDepth::at_once(2000), 8);
}

TEST(RequestDepth, NeverHoldsUpASenderThatDoublesEachRoundTrip) {
  Arrivals lane;
  lane.depth.set_round_trip(50'000);
  for (double blocks_a_round = 1; blocks_a_round < 500; blocks_a_round *= 2) {
    lane.last(milliseconds(50), blocks_a_round / 0.05);
    // What the sender could send in the next round trip, while the requests for the one after it are on their way.
    EXPECT_GE(lane.depth.blocks(), 2 * blocks_a_round) << blocks_a_round;
  }
}

TEST(RequestDepth, IsTwoRoundTripsOfTheRateAndALittle) {
  Arrivals lane;
  lane.depth.set_round_trip(100'000);
  lane.last(seconds(3), 400);
  EXPECT_NEAR(lane.depth.blocks(), RequestDepth::kLeast + 400 * 0.25, 8);
}

TEST(RequestDepth, IsNotShrunkByADipButByALastingFall) {
  Arrivals lane;
  lane.depth.set_round_trip(50'000);
  lane.last(seconds(9), 1000);
  const int before = lane.depth.blocks();
  lane.last(seconds(3), 50);
  EXPECT_GE(lane.depth.blocks(), before * 9 / 10);
  lane.last(seconds(6), 50);
  EXPECT_LE(lane.depth.blocks(), before / 3);
}

TEST(RequestDepth, DoesNotGrowWhereALinkBecomesSlowAndPacketsWait) {
  Arrivals lane;
  lane.depth.set_round_trip(40'000);
  lane.last(seconds(5), 460);
  const int before = lane.depth.blocks();
  for (const std::uint32_t round_trip_us : {200'000U, 800'000U, 1'500'000U}) {
    lane.depth.set_round_trip(round_trip_us);
    lane.last(seconds(1), 15);
    EXPECT_LE(lane.depth.blocks(), before + 1) << round_trip_us;
  }
}

TEST(RequestDepth, FollowsALongerWayAtTheSameRate) {
  Arrivals lane;
  lane.depth.set_round_trip(40'000);
  lane.last(seconds(5), 460);
  lane.depth.set_round_trip(150'000);
  lane.last(milliseconds(300), 460 * 0.87);  // as many as were asked for in 130 ms
  EXPECT_GE(lane.depth.blocks(), 460 * 0.3);
}

TEST(RequestDepth, ShrinksAtOnceWithTheRoundTrip) {
  Arrivals lane;
  lane.depth.set_round_trip(200'000);
  lane.last(seconds(5), 400);
  lane.depth.set_round_trip(50'000);
  lane.last(milliseconds(100), 400);
  EXPECT_LE(lane.depth.blocks(), RequestDepth::kLeast + 400 * 0.15 + 8);
}

TEST(RequestDepth, ForgetsASilence) {
  Arrivals lane;
  lane.depth.set_round_trip(50'000);
  lane.last(seconds(5), 100);
  const int before = lane.depth.blocks();
  lane.now += seconds(30);
  lane.last(milliseconds(200), 100);
  EXPECT_LE(lane.depth.blocks(), before + 2) << "a silence is no rate, and what comes after it no jump";
  EXPECT_GE(lane.depth.blocks(), RequestDepth::kLeast);
}

TEST(RequestDepth, AtTheEndIsWhatComesUntilThenAndForARoundTripAfter) {
  Arrivals lane;
  lane.depth.set_round_trip(50'000);
  lane.last(seconds(3), 400);
  EXPECT_NEAR(lane.depth.blocks_at_the_end(0), 400 * 0.07, 2);
  EXPECT_NEAR(lane.depth.blocks_at_the_end(0.05), 400 * 0.12, 3);
  EXPECT_EQ(lane.depth.blocks_at_the_end(10), lane.depth.blocks()) << "never more than otherwise";
  lane.last(seconds(4), 1);
  EXPECT_EQ(lane.depth.blocks_at_the_end(0), 1) << "never nothing: what was foreseen may be wrong";
}

TEST(RequestDepth, AtTheEndKnowsALaneThatBecameSlowAndIsNotDeceivedByWhatWasHeldUp) {
  Arrivals slowed;
  slowed.depth.set_round_trip(50'000);
  slowed.last(seconds(3), 400);
  slowed.last(milliseconds(150), 100);
  EXPECT_LE(slowed.depth.blocks_at_the_end(0), 10);

  Arrivals held_up;
  held_up.depth.set_round_trip(50'000);
  held_up.last(seconds(3), 400);
  held_up.now += milliseconds(100);  // a segment was lost; what came after it comes all at once
  held_up.last(milliseconds(2), 20'000);
  held_up.last(milliseconds(60), 400);
  EXPECT_LE(held_up.depth.blocks_at_the_end(0), 400 * 0.09);
}

TEST(RequestDepth, SaysWhatALaneBringsNowAndWhatItDidOfLate) {
  EXPECT_EQ(RequestDepth().bytes_per_s(MonoTime(seconds(100))), 0);
  EXPECT_EQ(RequestDepth().sustained_bytes_per_s(), 0);
  Arrivals lane;
  lane.depth.set_round_trip(50'000);
  lane.last(seconds(3), 400);
  EXPECT_NEAR(lane.depth.bytes_per_s(lane.now + milliseconds(20)), 400 * kBlock, 60 * kBlock) << "a round is not over";
  EXPECT_LT(lane.depth.bytes_per_s(lane.now + seconds(1)), 90 * kBlock) << "80 blocks and what came since, in 1.2 s";
  EXPECT_NEAR(lane.depth.sustained_bytes_per_s(), 400 * kBlock, 20 * kBlock);
  lane.now += milliseconds(100);  // a segment was lost; what came after it comes all at once
  lane.last(milliseconds(2), 20'000);
  lane.last(milliseconds(60), 400);
  EXPECT_LT(lane.depth.sustained_bytes_per_s(), 480 * kBlock);
  lane.last(seconds(1), 15);
  EXPECT_LT(lane.depth.bytes_per_s(lane.now), 25 * kBlock);
  EXPECT_GT(lane.depth.sustained_bytes_per_s(), 380 * kBlock);
}

TEST(RequestDepth, AtTheEndOfSomethingSmallIsTheFirst) {
  RequestDepth depth;
  depth.set_round_trip(50'000);
  EXPECT_EQ(depth.blocks_at_the_end(0), RequestDepth::kFirst);
}

TEST(RequestDepth, HasRoomForALocalNetworkAndForTenGigabit) {
  Arrivals local;  // no round trip known yet
  local.last(seconds(2), 6000);
  EXPECT_NEAR(local.depth.blocks(), RequestDepth::kLeast + 300, 40);
  Arrivals fast;
  fast.depth.set_round_trip(200'000);
  fast.last(seconds(2), 76'000);
  EXPECT_GT(fast.depth.blocks(), 30'000);
  fast.depth.set_round_trip(4'000'000'000U);
  fast.last(seconds(5), 76'000);
  EXPECT_LE(fast.depth.blocks(), 65'535) << "what libtorrent's counter holds";
}

}  // namespace
}  // namespace gridtorrent::client::engine
