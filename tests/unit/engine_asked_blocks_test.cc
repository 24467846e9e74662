#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/engine/asked_blocks.h"

namespace gridtorrent::client::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct AskedBlocksTest : testing::Test {
  /// A lane whose blocks take so long.
  void takes(AskedBlocks::LaneKey lane, milliseconds time) {
    for (int i = 0; i < 60; ++i) {
      const Block other{1'000 + i, 0, 16'384};
      asked.ask(lane, other, now);
      asked.arrived(lane, other, now + time);
    }
  }

  AskedBlocks asked;
  int one = 1, two = 2, three = 3;  // their addresses are lanes
  const Block block{7, 16'384, 16'384};
  MonoTime now{seconds(100)};
};

TEST_F(AskedBlocksTest, LetsTheFirstLaneAskAndItselfAgain) {
  EXPECT_TRUE(asked.ask(&one, block, now));
  EXPECT_TRUE(asked.ask(&one, block, now));
  EXPECT_TRUE(asked.due(now + seconds(60)).empty());
}

TEST_F(AskedBlocksTest, KeepsASecondLaneBackUntilTheFirstIsLate) {
  takes(&one, milliseconds(200));
  ASSERT_TRUE(asked.ask(&one, block, now));
  EXPECT_FALSE(asked.ask(&two, block, now + milliseconds(200)));
  EXPECT_TRUE(asked.due(now + milliseconds(249)).empty());
  const auto due = asked.due(now + milliseconds(251));
  ASSERT_EQ(due.size(), 1U);
  EXPECT_EQ(due[0].lane, &two);
  EXPECT_EQ(due[0].block, block);
  EXPECT_TRUE(asked.due(now + seconds(60)).empty()) << "once";
}

TEST_F(AskedBlocksTest, LetsASecondLaneAskAtOnceForWhatIsLateAndThenGivesItTime) {
  takes(&one, milliseconds(200));
  takes(&two, milliseconds(100));
  ASSERT_TRUE(asked.ask(&one, block, now));
  now += milliseconds(500);
  EXPECT_TRUE(asked.ask(&two, block, now));
  EXPECT_FALSE(asked.ask(&three, block, now + milliseconds(100)));
  EXPECT_TRUE(asked.ask(&three, block, now + milliseconds(126)));
}

TEST_F(AskedBlocksTest, AsksNobodyForWhatArrivedOrIsNotWantedAnyMore) {
  ASSERT_TRUE(asked.ask(&one, block, now));
  ASSERT_FALSE(asked.ask(&two, block, now));
  ASSERT_FALSE(asked.ask(&three, block, now));
  EXPECT_THAT(asked.arrived(&three, block, now + milliseconds(10)), testing::ElementsAre(&two))
      << "libtorrent is told for all but the one that it is looking at";
  EXPECT_TRUE(asked.due(now + seconds(60)).empty());
  EXPECT_EQ(asked.outstanding_bytes(), 0U);

  ASSERT_TRUE(asked.ask(&one, block, now));
  ASSERT_FALSE(asked.ask(&two, block, now));
  EXPECT_TRUE(asked.cancelled(&two, block));
  EXPECT_FALSE(asked.cancelled(&one, block)) << "that went out";
  EXPECT_TRUE(asked.due(now + seconds(60)).empty());
}

TEST_F(AskedBlocksTest, AsksTheSecondLaneAtOnceWhereTheFirstIsGoneOrRefuses) {
  ASSERT_TRUE(asked.ask(&one, block, now));
  ASSERT_FALSE(asked.ask(&two, block, now));
  asked.lane_closed(&one);
  EXPECT_EQ(asked.due(now).size(), 1U);

  const Block other{8, 0, 16'384};
  ASSERT_TRUE(asked.ask(&one, other, now));
  ASSERT_FALSE(asked.ask(&three, other, now));
  asked.rejected(&three, other, now);  // not the one that was asked
  EXPECT_TRUE(asked.due(now).empty());
  asked.rejected(&one, other, now);
  EXPECT_EQ(asked.due(now).size(), 1U);
}

TEST_F(AskedBlocksTest, AsksOneAfterTheOtherWhereSeveralAreKeptBack) {
  takes(&one, milliseconds(200));
  takes(&two, milliseconds(200));
  ASSERT_TRUE(asked.ask(&one, block, now));
  ASSERT_FALSE(asked.ask(&two, block, now));
  ASSERT_FALSE(asked.ask(&three, block, now));
  now += milliseconds(251);
  ASSERT_EQ(asked.due(now).size(), 1U);
  EXPECT_TRUE(asked.due(now + milliseconds(249)).empty());
  EXPECT_EQ(asked.due(now + milliseconds(251)).size(), 1U);
}

TEST_F(AskedBlocksTest, ForgetsWhatALaneThatClosedWasToAsk) {
  ASSERT_TRUE(asked.ask(&one, block, now));
  ASSERT_FALSE(asked.ask(&two, block, now));
  asked.lane_closed(&two);
  EXPECT_TRUE(asked.due(now + seconds(60)).empty());
  EXPECT_EQ(asked.outstanding_bytes(), 1U * 16384);
  asked.lane_closed(&one);
  EXPECT_EQ(asked.outstanding_bytes(), 0U);
}

TEST_F(AskedBlocksTest, CountsWhatIsOutstandingOnceWhoeverWasAsked) {
  constexpr std::uint64_t kBytes = 16384;
  const Block other{8, 0, 16'384}, last{9, 0, 100};
  takes(&one, milliseconds(200));
  EXPECT_EQ(asked.outstanding_bytes(), 0U);
  ASSERT_TRUE(asked.ask(&one, block, now));
  ASSERT_TRUE(asked.ask(&one, block, now));
  ASSERT_FALSE(asked.ask(&two, block, now));
  EXPECT_EQ(asked.outstanding_bytes(), kBytes) << "asked twice, and kept back";
  ASSERT_EQ(asked.due(now + seconds(1)).size(), 1U);
  EXPECT_EQ(asked.outstanding_bytes(), kBytes) << "asked of a second lane";
  ASSERT_TRUE(asked.ask(&one, other, now));
  ASSERT_TRUE(asked.ask(&three, last, now));
  EXPECT_EQ(asked.outstanding_bytes(), 2 * kBytes + 100);
  asked.rejected(&two, other, now);
  EXPECT_EQ(asked.outstanding_bytes(), 2 * kBytes + 100) << "refused by who was not asked";
  asked.rejected(&one, other, now);
  EXPECT_EQ(asked.outstanding_bytes(), kBytes + 100);
  ASSERT_FALSE(asked.ask(&one, last, now));
  asked.lane_closed(&three);
  EXPECT_EQ(asked.outstanding_bytes(), kBytes);
  ASSERT_EQ(asked.due(now).size(), 1U);
  EXPECT_EQ(asked.outstanding_bytes(), kBytes + 100) << "asked of who waited, for the first is gone";
  asked.arrived(&one, block, now);
  asked.arrived(&one, block, now);
  asked.arrived(&one, last, now);
  EXPECT_EQ(asked.outstanding_bytes(), 0U) << "arrived twice";
}

TEST_F(AskedBlocksTest, CountsWhatEachLaneIsToBringAndNamesTheLatestFirst) {
  const Block other{3, 0, 16'384}, last{9, 0, 100};
  EXPECT_EQ(asked.outstanding(&one), 0);
  ASSERT_TRUE(asked.ask(&one, block, now));
  ASSERT_TRUE(asked.ask(&one, other, now + milliseconds(1)));
  ASSERT_TRUE(asked.ask(&one, last, now + milliseconds(2)));
  ASSERT_FALSE(asked.ask(&two, last, now + milliseconds(3)));
  EXPECT_EQ(asked.outstanding(&one), 3);
  EXPECT_EQ(asked.outstanding(&two), 0) << "it is kept back";
  EXPECT_EQ(asked.outstanding_since(&one), now);
  EXPECT_EQ(asked.outstanding_since(&two), std::nullopt);
  EXPECT_THAT(asked.outstanding_blocks(&one), testing::ElementsAre(last, other, block));
  EXPECT_THAT(asked.outstanding_blocks(&two), testing::IsEmpty());

  asked.rejected(&one, other, now);
  ASSERT_EQ(asked.due(now + seconds(1)).size(), 1U);
  EXPECT_THAT(asked.outstanding_blocks(&one), testing::ElementsAre(block)) << "the other was late";
  EXPECT_THAT(asked.outstanding_blocks(&two), testing::ElementsAre(last));
  asked.arrived(&one, last, now + seconds(1));
  EXPECT_EQ(asked.outstanding(&two), 0) << "whoever brought it";
  asked.lane_closed(&one);
  EXPECT_EQ(asked.outstanding(&one), 0);
  EXPECT_EQ(asked.outstanding_bytes(), 0U);
}

TEST_F(AskedBlocksTest, KnowsSinceWhenALaneHasBeenBusyThoughItWasIdleForAMoment) {
  const MonoTime first = now;
  ASSERT_TRUE(asked.ask(&one, block, now));
  asked.arrived(&one, block, now += milliseconds(50));
  EXPECT_EQ(asked.outstanding_since(&one), std::nullopt);
  ASSERT_TRUE(asked.ask(&one, block, now));
  EXPECT_EQ(asked.outstanding_since(&one), first);
  asked.arrived(&one, block, now += milliseconds(50));
  ASSERT_TRUE(asked.ask(&one, block, now += milliseconds(20)));
  EXPECT_EQ(asked.outstanding_since(&one), now);
}

TEST_F(AskedBlocksTest, GivesWhoeverItWasReassignedToItsOwnTime) {
  takes(&one, milliseconds(200));
  takes(&two, milliseconds(100));
  ASSERT_TRUE(asked.ask(&one, block, now));
  now += milliseconds(500);
  asked.reassigned(block, &two, now);
  EXPECT_EQ(asked.outstanding_since(&two), now);
  EXPECT_EQ(asked.outstanding(&one), 0);
  EXPECT_EQ(asked.outstanding(&two), 1);
  asked.rejected(&one, block, now);
  EXPECT_EQ(asked.outstanding(&two), 1) << "the first lane refuses what was cancelled there";
  EXPECT_FALSE(asked.ask(&one, block, now + milliseconds(100)));
  EXPECT_THAT(asked.due(now + milliseconds(124)), testing::IsEmpty());
  EXPECT_EQ(asked.due(now + milliseconds(126)).size(), 1U);
  const Block own{9, 0, 16'384};
  ASSERT_TRUE(asked.ask(&two, own, now));
  ASSERT_TRUE(asked.ask(&three, block, now + seconds(1)));
  asked.reassigned(block, &two, now + seconds(1));
  EXPECT_THAT(asked.outstanding_blocks(&two), testing::ElementsAre(block, own)) << "it was asked for that last";
  asked.lane_closed(&two);
  asked.reassigned(Block{8, 0, 1}, &two, now);
  EXPECT_EQ(asked.outstanding(&two), 0) << "of what nobody was asked for nothing is reassigned";
}

TEST_F(AskedBlocksTest, HasBoundsForVeryFastAndVerySlowLanes) {
  takes(&one, milliseconds(1));
  takes(&two, milliseconds(60'000));
  ASSERT_TRUE(asked.ask(&one, block, now));
  EXPECT_FALSE(asked.ask(&three, block, now + milliseconds(90))) << "a moment of scheduling is no stall";
  const Block other{8, 0, 16'384};
  ASSERT_TRUE(asked.ask(&two, other, now));
  EXPECT_TRUE(asked.ask(&three, other, now + milliseconds(5'001)));
}

}  // namespace
}  // namespace gridtorrent::client::engine
