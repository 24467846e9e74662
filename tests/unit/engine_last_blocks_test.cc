#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "client/engine/last_blocks.h"

namespace gridtorrent::client::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr double kBlock = 16 * 1024;

/// A lane of a node of its own that brings so many blocks a second over 40 ms, and did at best.
LastBlocks lane(int asked, double blocks_per_s) {
  static std::uint8_t nodes = 0;
  LastBlocks lane;
  NodeId::Bytes bytes{};
  bytes[0] = ++nodes;
  lane.node = NodeId(bytes);
  lane.asked = asked;
  lane.bytes_per_s = lane.best_bytes_per_s = blocks_per_s * kBlock;
  lane.round_trip_s = 0.04;
  lane.depth = 500;
  lane.gives = lane.takes = true;
  return lane;
}

struct Moved {
  std::size_t from, to;
  int blocks;
  friend bool operator==(const Moved&, const Moved&) = default;
};

/// One after the other, as long as anything moves.
std::vector<Moved> all(std::vector<LastBlocks> lanes) {
  std::vector<Moved> moved;
  while (const auto next = next_reassignment(lanes)) {
    moved.push_back({next->from, next->to, next->blocks});
    LastBlocks &from = lanes[next->from], &to = lanes[next->to];
    from.asked -= next->blocks;
    to.asked += next->blocks;
    from.takes = to.takes = to.gives = false;
  }
  return moved;
}

TEST(LastBlocks, StayWhereAllLanesEndTogether) {
  EXPECT_THAT(all({}), IsEmpty());
  EXPECT_THAT(all({lane(27, 450), lane(0, 450)}), IsEmpty()) << "60 ms, as long as the other would take";
  EXPECT_THAT(all({lane(60, 450), lane(0, 450)}), IsEmpty()) << "133 ms, of which no tenth of a second is gained";
  EXPECT_THAT(all({lane(64, 15), lane(20, 450)}), IsEmpty()) << "its path is full";
  EXPECT_THAT(all({lane(0, 450), lane(0, 450)}), IsEmpty());
}

TEST(LastBlocks, OfALaneThatBecameSlowMoveSoThatBothEndTogether) {
  const auto moved = next_reassignment({lane(64, 15), lane(0, 450)});
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->from, 0U);
  EXPECT_EQ(moved->to, 1U);
  const auto ends_s = [](int blocks) { return (64 - blocks) / 15.0; };
  const auto brings_s = [](int blocks) { return 1.25 * (0.04 + 0.02 + blocks / 450.0); };
  EXPECT_LE(brings_s(moved->blocks), ends_s(moved->blocks));
  EXPECT_GT(brings_s(moved->blocks + 1), ends_s(moved->blocks + 1));
  EXPECT_DOUBLE_EQ(moved->takes_s, brings_s(moved->blocks));
}

TEST(LastBlocks, MoveToALaneThatHasRoomBesideWhatItWasAskedFor) {
  const auto moved = next_reassignment({lane(64, 15), lane(18, 450)});
  ASSERT_TRUE(moved) << "18 blocks come in 40 ms, a round trip";
  EXPECT_LE(1.25 * (0.04 + 0.02 + (18 + moved->blocks) / 450.0), (64 - moved->blocks) / 15.0);
  EXPECT_GT(1.25 * (0.04 + 0.02 + (19 + moved->blocks) / 450.0), (63 - moved->blocks) / 15.0);
  EXPECT_FALSE(next_reassignment({lane(64, 15), lane(19, 450)}));
}

TEST(LastBlocks, OfALaneThatBringsNothingAllMove) {
  EXPECT_THAT(all({lane(64, 0.1), lane(0, 450)}), ElementsAre(Moved{0, 1, 64}));
  EXPECT_THAT(all({lane(1, 0.1), lane(0, 450)}), ElementsAre(Moved{0, 1, 1}));
}

TEST(LastBlocks, MoveFromTheLaneThatWouldEndLastToTheFastestFirst) {
  const auto moved = all({lane(30, 15), lane(64, 15), lane(0, 100), lane(0, 450)});
  ASSERT_EQ(moved.size(), 2U);
  EXPECT_EQ(moved[0].from, 1U);
  EXPECT_EQ(moved[0].to, 3U);
  EXPECT_EQ(moved[1].from, 0U) << "with what is left the other ends last";
  EXPECT_EQ(moved[1].to, 2U);
}

TEST(LastBlocks, MoveFromASlowLaneThoughASlowerOneMayGiveNothing) {
  LastBlocks stalled = lane(3, 0.01);
  LastBlocks own = lane(0, 450);
  own.node = stalled.node;
  EXPECT_EQ(all({stalled, lane(40, 1), own}).at(0).from, 1U);
}

TEST(LastBlocks, MoveToNoLaneThatWasFastAndBringsLittleNow) {
  LastBlocks slow = lane(8, 15), slower = lane(64, 10);
  slow.best_bytes_per_s = slower.best_bytes_per_s = 450 * kBlock;
  EXPECT_THAT(all({slower, slow}), IsEmpty()) << "8 blocks would come in 18 ms at best, and do in half a second";
  slow.asked = 1;
  EXPECT_TRUE(next_reassignment({slower, slow})) << "what it brings by one block in a round trip tells nothing";
}

TEST(LastBlocks, MoveFromTwoSlowLanesToTheOneThatIsFast) {
  LastBlocks slow = lane(64, 15), slower = lane(64, 10);
  slow.best_bytes_per_s = slower.best_bytes_per_s = 450 * kBlock;
  for (const Moved& one : all({slow, slower, lane(0, 450), lane(0, 400)})) EXPECT_GE(one.to, 2U);
}

TEST(LastBlocks, MoveFromTheNextLaneWhereTheOtherEndHasNoneOfTheFirst) {
  LastBlocks partial = lane(0, 450);
  partial.not_from = {0};
  const auto moved = next_reassignment({lane(64, 10), lane(64, 15), partial});
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->from, 1U);
  partial.not_from = {0, 1};
  EXPECT_FALSE(next_reassignment({lane(64, 10), lane(64, 15), partial}));
}

TEST(LastBlocks, StayWithTheLanesOfOneNodeWhichShareItsPath) {
  const LastBlocks slow = lane(64, 15);
  LastBlocks idle = lane(0, 450);
  idle.node = slow.node;
  EXPECT_THAT(all({slow, idle}), IsEmpty());
}

TEST(LastBlocks, AreNoMoreThanALaneMayBeAskedFor) {
  LastBlocks shallow = lane(0, 450);
  shallow.depth = 10;
  EXPECT_THAT(all({lane(64, 15), shallow}), ElementsAre(Moved{0, 1, 10}));
  shallow.asked = 8;
  EXPECT_THAT(all({lane(64, 15), shallow}), ElementsAre(Moved{0, 1, 2}));
  shallow.depth = 8;
  EXPECT_THAT(all({lane(64, 15), shallow}), IsEmpty());
}

TEST(LastBlocks, StayWhereALaneMayNotGiveOrTakeOrNothingIsKnownOfIt) {
  LastBlocks from = lane(64, 15), to = lane(0, 450);
  ASSERT_TRUE(next_reassignment({from, to}));
  from.gives = false;
  EXPECT_FALSE(next_reassignment({from, to}));
  from.gives = true;
  to.takes = false;
  EXPECT_FALSE(next_reassignment({from, to}));
  to.takes = true;
  from.bytes_per_s = 0;
  EXPECT_FALSE(next_reassignment({from, to}));
  from.bytes_per_s = kBlock;
  to.best_bytes_per_s = 0;
  EXPECT_FALSE(next_reassignment({from, to}));
}

TEST(LastBlocks, OfAnyLanesComeATenthOfASecondSoonerOrStay) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto any = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(random); };
  int moves = 0;
  for (int round = 0; round < 2'000; ++round) {
    std::vector<LastBlocks> lanes;
    for (int i = 0; i < 8; ++i) {
      LastBlocks one = lane(any(0, 1) < 0.5 ? 0 : static_cast<int>(any(0, 300)), any(0, 1'000));
      one.best_bytes_per_s *= any(1, 4);
      one.round_trip_s = any(0.0001, 0.3);
      lanes.push_back(one);
    }
    const auto next = next_reassignment(lanes);
    if (!next) continue;
    ++moves;
    const LastBlocks &from = lanes[next->from], &to = lanes[next->to];
    const auto ends_s = [&](int blocks) { return blocks * kBlock / from.bytes_per_s; };
    ASSERT_NE(from.node, to.node);
    ASSERT_GT(next->blocks, 0);
    ASSERT_LE(to.asked * kBlock, to.best_bytes_per_s * to.round_trip_s);
    ASSERT_LE(next->blocks, from.asked);
    ASSERT_LE(std::max(ends_s(from.asked - next->blocks), next->takes_s), ends_s(from.asked) - 0.1 + 1e-9);
  }
  EXPECT_GT(moves, 500);
}

}  // namespace
}  // namespace gridtorrent::client::engine
