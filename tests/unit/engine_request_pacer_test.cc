#include <gtest/gtest.h>

#include "client/engine/request_pacer.h"

namespace gridtorrent::client::engine {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint64_t kBlock = 16 * 1024, kRate = 50'000'000;

struct RequestPacerTest : testing::Test {
  RequestPacerTest() { pacer.set_rate(kRate); }

  /// What passes within a time, asked as often as that.
  std::uint64_t bytes_in(milliseconds time, microseconds gap) {
    std::uint64_t bytes = 0;
    for (const MonoTime end = now + time; now < end; now += gap) {
      while (pacer.passes(now, kBlock)) bytes += kBlock;
    }
    return bytes;
  }

  RequestPacer pacer;
  MonoTime now{seconds(100)};
};

TEST_F(RequestPacerTest, HoldsNothingUpWithoutALimit) {
  RequestPacer free;
  for (int i = 0; i < 100'000; ++i) ASSERT_TRUE(free.passes(now, kBlock));
}

TEST_F(RequestPacerTest, CountsWhatCameWithoutHavingBeenAskedForUnderIt) {
  ASSERT_TRUE(pacer.passes(now, kBlock));
  now += seconds(1);
  pacer.take(now, kRate / 2);
  EXPECT_FALSE(pacer.passes(now + milliseconds(440), kBlock));
  EXPECT_TRUE(pacer.passes(now + milliseconds(500), kBlock));
}

TEST_F(RequestPacerTest, KeepsToItsRateHoweverOftenItIsAsked) {
  for (const auto gap : {microseconds(50), microseconds(5'000), microseconds(37'000)}) {
    pacer = {};
    pacer.set_rate(kRate);
    EXPECT_NEAR(static_cast<double>(bytes_in(seconds(30), gap)), 30.0 * kRate, 0.003 * 30 * kRate) << gap.count();
  }
}

TEST_F(RequestPacerTest, MakesUpForAShortPauseAndNotForALongOne) {
  bytes_in(seconds(1), milliseconds(1));
  now += milliseconds(40);
  EXPECT_NEAR(static_cast<double>(bytes_in(milliseconds(10), milliseconds(1))), 0.05 * kRate, 0.004 * kRate);
  now += seconds(10);
  EXPECT_LE(static_cast<double>(bytes_in(milliseconds(10), milliseconds(1))), 0.065 * kRate)
      << "a burst after a pause would overflow a queue on the way";
}

TEST_F(RequestPacerTest, KeepsToItsRateThoughItChangesEachSecond) {
  constexpr std::uint64_t kSlow = 125'000;  // 1 Mbit/s: 7.6 blocks a second
  std::uint64_t bytes = 0;
  for (int second = 0; second < 60; ++second) {
    pacer.set_rate(kSlow + static_cast<std::uint64_t>(second % 2));
    bytes += bytes_in(seconds(1), milliseconds(5));
  }
  EXPECT_NEAR(static_cast<double>(bytes), 60.0 * kSlow, 0.01 * 60 * kSlow);
}

TEST_F(RequestPacerTest, TakesUpAnotherRateAtOnce) {
  pacer.set_rate(1'000);
  ASSERT_TRUE(pacer.passes(now, kBlock));
  now += seconds(1);
  ASSERT_FALSE(pacer.passes(now, kBlock)) << "sixteen seconds' worth is on its way";
  pacer.set_rate(kRate);
  EXPECT_TRUE(pacer.passes(now, kBlock));
  pacer.set_rate(0);
  for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(pacer.passes(now, kBlock));
}

TEST(LimitsOfRequests, StayInForceWhereTheRateMovesAroundTheLeast) {
  EXPECT_FALSE(paces_requests(124'000, false));
  EXPECT_TRUE(paces_requests(126'000, false));
  EXPECT_TRUE(paces_requests(121'000, true)) << "a target of 1 Mbit/s, corrected";
  EXPECT_FALSE(paces_requests(100'000, true));
  EXPECT_FALSE(paces_requests(0, true)) << "no limit";
}

}  // namespace
}  // namespace gridtorrent::client::engine
