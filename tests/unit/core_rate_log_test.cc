// What is kept of what transfers receive and send: points of looks, and what is shown of them later.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "client/core/rate_log.h"

namespace gridtorrent::client {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr WallTime kBegun{1'700'000'000'000};

class Rates : public ::testing::Test {
 protected:
  static TransferId numbered(std::uint8_t number) {
    TransferId::Bytes bytes{};
    bytes[0] = number;
    return TransferId(bytes);
  }
  Moment now() const { return {MonoTime(seconds(1)) + elapsed_, kBegun + elapsed_}; }
  /// The next look, a second after the one before.
  void look(std::uint64_t received, std::uint64_t sent = 0, std::uint8_t transfer = 1,
            milliseconds after = seconds(1)) {
    const Moment before = now();
    elapsed_ += after;
    log_.note(numbered(transfer), WallTime{0}, {now(), before, received, sent, 4, 2});
  }
  void look_often(int times, std::uint64_t received) {
    for (int i = 0; i < times; ++i) look(received);
  }
  void rest(milliseconds time) { elapsed_ += time; }
  /// Of what is in memory alone, or with what was written down.
  std::vector<RatePoint> points(WallTime from = {}) const {
    return joined_points(kept_, log_.held(numbered(1), WallTime{0}, now()), from, now().wall);
  }
  std::vector<RateBlock> blocks(std::uint8_t transfer = 1) const { return log_.blocks_to_save(numbered(transfer)); }
  /// As a store would keep them, by kind and name.
  void save() {
    for (const auto& block : blocks()) {
      std::erase_if(kept_, [&](const RateBlock& old) {
        return old.seconds == block.seconds && old.points.front().at == block.points.front().at;
      });
      kept_.push_back(block);
    }
    log_.saved(blocks());
  }

  milliseconds elapsed_{0};
  RateLog log_{now()};
  std::vector<RateBlock> kept_;
};

TEST_F(Rates, WhatNeverMovesCostsNothing) {
  look_often(100, 0);
  EXPECT_EQ(log_.points(), 0u);
  EXPECT_THAT(log_.unsaved(), IsEmpty());
}

TEST_F(Rates, OfWhatNeverMovedItIsKnownThatNothingCame) {
  rest(minutes(3));
  ASSERT_THAT(points(), SizeIs(1));
  EXPECT_EQ(points()[0], (RatePoint{kBegun + minutes(3), minutes(3), 0, 0, 0, 0}));
}

TEST_F(Rates, OfATransferThatBeganLaterNothingIsKnownBefore) {
  rest(minutes(3));
  const auto held = log_.held(numbered(1), kBegun + minutes(2), now());
  ASSERT_THAT(held, SizeIs(1));
  EXPECT_EQ(held[0].points[0].span, minutes(1));
}

TEST_F(Rates, ASecondIsOnePointWhateverTheLooks) {
  for (int i = 0; i < 5; ++i) look(1000, 500, 1, milliseconds(200));
  ASSERT_THAT(points(), SizeIs(1));
  EXPECT_EQ(points()[0], (RatePoint{kBegun + seconds(1), seconds(1), 40'000, 20'000, 4, 2}));
}

TEST_F(Rates, ATimeOfRestIsOnePoint) {
  look(1000);
  look(0);
  for (int i = 0; i < 600; ++i) look(0);
  EXPECT_EQ(log_.points(), 2u);
  look(1000);
  const auto all = points();
  ASSERT_THAT(all, SizeIs(4));
  EXPECT_EQ(all[2].span, seconds(600));
  EXPECT_TRUE(all[2].idle());
  EXPECT_EQ(all[3].down_bits_per_s, 8000u);
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_EQ(all[i].from(), all[i - 1].at) << "they join";
}

TEST_F(Rates, WhatIsNotInTheEngineForAWhileHasReceivedNothing) {
  look(1000);
  elapsed_ += milliseconds(400);
  log_.note(numbered(1), WallTime{0}, {now(), {now().mono - milliseconds(200), now().wall - milliseconds(200)}, 500});
  rest(minutes(10));
  look(2000);
  const auto all = points();
  ASSERT_THAT(all, SizeIs(4));
  EXPECT_EQ(all[0].down_bits_per_s, 8000u);
  EXPECT_NEAR(static_cast<double>(all[1].down_bits_per_s), 4000, 300) << "not spread over ten minutes";
  EXPECT_TRUE(all[2].idle());
  EXPECT_EQ(all[3].down_bits_per_s, 16'000u);
}

TEST_F(Rates, NothingIsToldTwiceWhereSecondsBegin) {
  for (int i = 0; i < 90; ++i) {
    look_often(30, 1000);
    save();
  }
  const auto all = points();
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_EQ(all[i].from(), all[i - 1].at) << i;
  EXPECT_EQ(all.front().from(), kBegun);
  EXPECT_EQ(all.back().at, now().wall);
  EXPECT_EQ(std::ranges::count_if(all, [](const auto& point) { return point.span == seconds(1); }), 15 * 60);
  EXPECT_EQ(std::ranges::count_if(all, [](const auto& point) { return point.span == seconds(15); }), 30 * 4);
}

TEST_F(Rates, OnlyWhatEndedLaterIsTold) {
  look_often(10, 1000);
  EXPECT_THAT(points(kBegun + seconds(8)), SizeIs(2));
  EXPECT_THAT(points(now().wall), IsEmpty());
  look(0);
  rest(minutes(2));
  const auto later = points(now().wall - minutes(1));
  ASSERT_THAT(later, SizeIs(1));
  EXPECT_EQ(later[0].span, minutes(1)) << "of a rest that began before";
}

TEST_F(Rates, ATimeBetweenTwoProcessesIsAGap) {
  look_often(20, 1000);
  save();
  rest(minutes(5));
  log_ = RateLog(now());
  rest(seconds(30));
  look(1000);
  const auto all = points();
  const auto gap =
      std::ranges::adjacent_find(all, [](const auto& one, const auto& next) { return next.from() > one.at; });
  ASSERT_NE(gap, all.end());
  EXPECT_EQ((gap + 1)->from() - gap->at, minutes(5));
  EXPECT_EQ((gap + 1)->span, seconds(30));
}

TEST_F(Rates, OnlyWhatIsNewIsToBeWritten) {
  look_often(10, 1000);
  EXPECT_THAT(log_.unsaved(), ElementsAre(numbered(1)));
  ASSERT_THAT(blocks(), SizeIs(1));
  save();
  EXPECT_THAT(log_.unsaved(), IsEmpty());
  EXPECT_THAT(blocks(), IsEmpty());
  look(1000);
  ASSERT_THAT(blocks(), SizeIs(1));
  EXPECT_THAT(blocks()[0].points, SizeIs(11)) << "the block that is added to, anew";
}

TEST_F(Rates, WhatCameWhileItWasWrittenIsStillToBeWritten) {
  look_often(10, 1000);
  const auto written = blocks();
  look(1000);
  log_.saved(written);
  EXPECT_THAT(log_.unsaved(), ElementsAre(numbered(1)));
}

TEST_F(Rates, ADiskThatTakesNothingDoesNotFillTheMemory) {
  look_often(7200, 1000);
  EXPECT_LT(log_.points(), 2000u);
}

TEST_F(Rates, WhatRestsKeepsNoPointsOnceTheyAreWritten) {
  look_often(20, 1000);
  look(0);
  save();
  rest(hours(2));
  log_.let_go(now());
  save();
  log_.let_go(now());
  EXPECT_EQ(log_.points(), 0u);
  EXPECT_EQ(points().back().span, hours(2));
  EXPECT_EQ(points().front().from(), kBegun) << "the last seconds are among those of 15 s";
}

TEST_F(Rates, AtTheBoundNoPointsAreMadeUntilSomeAreWritten) {
  log_ = RateLog(now(), 100);
  look_often(300, 1000);
  EXPECT_LE(log_.points(), 102u);
}

TEST_F(Rates, WhatIsForgottenTakesItsPointsAlong) {
  look_often(400, 1000);
  log_.forget(numbered(1));
  EXPECT_EQ(log_.points(), 0u);
  EXPECT_THAT(log_.unsaved(), IsEmpty());
}

TEST_F(Rates, AClockThatIsSetBackKeepsTheOrder) {
  look_often(10, 1000);
  elapsed_ -= seconds(5);
  log_.note(numbered(1), WallTime{0}, {{MonoTime(seconds(12)), now().wall}, {MonoTime(seconds(11)), now().wall}, 1000});
  const auto all = points();
  EXPECT_TRUE(std::ranges::is_sorted(all, {}, &RatePoint::at));
}

TEST_F(Rates, ARestIsNoLongerThanTheTimeThatWentBy) {
  look(1000);
  look(0);
  const Moment before = now();
  Moment after{before.mono + seconds(10), before.wall + hours(5)};
  const auto held = log_.held(numbered(1), WallTime{0}, after);
  EXPECT_EQ(held.back().points.back().span, seconds(10)) << "the wall clock was set";
}

}  // namespace
}  // namespace gridtorrent::client
