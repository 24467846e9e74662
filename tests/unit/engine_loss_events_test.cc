// Loss events inferred from what the kernel counts.

#include <gtest/gtest.h>

#include "client/engine/loss_events.h"

namespace gridtorrent::client::engine {
namespace {

using namespace std::chrono_literals;

class Losses : public testing::Test {
 protected:
  /// So long after the look before.
  std::uint64_t look(std::chrono::milliseconds later, std::uint64_t retransmits, std::uint32_t ssthresh) {
    now_ += later;
    events_.look(now_, {ssthresh, retransmits, 60'000});
    return events_.count();
  }
  static constexpr std::uint32_t kNever = 0x7fffffff;
  MonoTime now_{1h};
  LossEvents events_;
};

TEST_F(Losses, AreNoneWithoutARetransmission) {
  EXPECT_EQ(look(0ms, 0, kNever), 0u);
  EXPECT_EQ(look(100ms, 0, 700), 0u) << "slow start ended by itself";
  EXPECT_EQ(look(10s, 0, 525), 0u) << "the connection was idle";
}

TEST_F(Losses, OfOneWindowAreOneEventHoweverManySegmentsAreSentAgain) {
  EXPECT_EQ(look(0ms, 0, kNever), 0u);
  EXPECT_EQ(look(30ms, 40, 350), 1u);
  EXPECT_EQ(look(30ms, 200, 350), 1u);
  EXPECT_EQ(look(30ms, 400, 350), 1u) << "a full queue dropped half a window, which takes some round trips to repair";
  EXPECT_EQ(look(30ms, 430, 350), 1u);
}

TEST_F(Losses, CountAnewWhereTheWindowWasReducedAgain) {
  look(0ms, 1, 350);
  EXPECT_EQ(look(40ms, 2, 245), 2u);
  EXPECT_EQ(look(5s, 3, 300), 3u);
}

TEST_F(Losses, CountAnewAfterAQuietRoundTripThoughTheReductionCameToTheSameWindow) {
  look(0ms, 1, 7);
  EXPECT_EQ(look(50ms, 1, 7), 1u);
  EXPECT_EQ(look(50ms, 2, 7), 2u);
}

TEST_F(Losses, OfAWindowThatIsStillRepairedAreTheSameEventHoweverLateTheyAreSentAgain) {
  const auto repairs = [&](std::chrono::milliseconds later, std::uint64_t retransmits, bool still) {
    now_ += later;
    events_.look(now_, {350, retransmits, 60'000, still});
    return events_.count();
  };
  EXPECT_EQ(repairs(0ms, 1, true), 1u);
  EXPECT_EQ(repairs(40ms, 1, true), 1u);
  EXPECT_EQ(repairs(40ms, 2, true), 1u) << "lost in the same window, and found out a round trip later";
  EXPECT_EQ(repairs(40ms, 2, false), 1u);
  EXPECT_EQ(repairs(80ms, 3, true), 2u);
}

TEST_F(Losses, OfASenderThatReducesNoWindowAreOneARoundTrip) {
  EXPECT_EQ(look(0ms, 1, kNever), 1u);
  EXPECT_EQ(look(30ms, 3, kNever), 1u);
  EXPECT_EQ(look(30ms, 4, kNever), 2u);
  EXPECT_EQ(look(60ms, 5, kNever), 3u);
}

TEST_F(Losses, AddUpTheRoundTripsThatTheyCameWith) {
  LossEvents events;
  events.look(MonoTime(1s), {350, 1, 60'000});
  events.look(MonoTime(2s), {350, 1, 90'000});
  events.look(MonoTime(3s), {245, 9, 118'000});
  EXPECT_EQ(events.count(), 2u);
  EXPECT_EQ(events.srtt_us(), 178'000u);
}

TEST_F(Losses, BeforeTheFirstLookCountAsOne) {
  EXPECT_EQ(look(0ms, 900, 350), 1u);
}

TEST(LookingForLosses, IsDoneTwiceARoundTripWithinBounds) {
  EXPECT_EQ(look_every(60'000), 30ms);
  EXPECT_EQ(look_every(0), 5ms);
  EXPECT_EQ(look_every(400), 5ms);
  EXPECT_EQ(look_every(4'000'000'000), 100ms);
}

}  // namespace
}  // namespace gridtorrent::client::engine
