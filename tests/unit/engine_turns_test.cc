#include "client/engine/turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "tests/support/numbered_node.h"

namespace gridtorrent::client::engine {
namespace {

using gridtorrent::testing::numbered_node;

std::vector<NodeId> nodes(std::uint8_t count) {
  std::vector<NodeId> all;
  for (std::uint8_t i = 1; i <= count; ++i) all.push_back(numbered_node(i));
  return all;
}

TEST(Turns, LeaveEverythingToAnybodyWhereOneFetchesAlone) {
  for (std::uint32_t piece = 0; piece < 100; ++piece) {
    EXPECT_EQ(Turns().of(piece), Turns::kAnybodys);
    EXPECT_EQ(Turns(numbered_node(7), {}).of(piece), Turns::kAnybodys);
    EXPECT_EQ(Turns(numbered_node(7), std::vector{numbered_node(7)}).of(piece), Turns::kAnybodys);
  }
}

TEST(Turns, AreTheSameWhateverTheOrderAndHoweverOftenANodeIsNamed) {
  const std::vector named{numbered_node(9), numbered_node(3), numbered_node(9), numbered_node(7)};
  EXPECT_EQ(Turns(numbered_node(7), named), Turns(numbered_node(7), std::vector{numbered_node(3), numbered_node(9)}));
}

TEST(Turns, GiveEachOfAPiecesFirstTurnsToOneNodeAndAllAboutAsMany) {
  const auto all = nodes(5);
  std::vector<Turns> turns;
  for (const NodeId& node : all) turns.emplace_back(node, all);
  std::vector<std::array<int, Turns::kAnybodys + 1>> held(all.size());
  for (std::uint32_t piece = 0; piece < 5'000; ++piece) {
    std::vector<int> of_piece;
    for (std::size_t i = 0; i < all.size(); ++i) {
      of_piece.push_back(turns[i].of(piece));
      ++held[i][static_cast<std::size_t>(of_piece.back())];
    }
    ASSERT_THAT(of_piece, ::testing::UnorderedElementsAre(0, 1, 2, 3, 3)) << piece;
  }
  for (const auto& counts : held) {
    for (int turn = 0; turn < Turns::kAnybodys; ++turn) {
      EXPECT_NEAR(counts[static_cast<std::size_t>(turn)], 1'000, 150);
    }
  }
}

TEST(Turns, HaveTheOthersHelpASlowNodeWithDifferentPieces) {
  const auto all = nodes(6);
  const Turns slow(all[0], all);
  std::vector<int> second(all.size());
  int slow_ones = 0;
  for (std::uint32_t piece = 0; piece < 6'000; ++piece) {
    if (slow.of(piece) != 0) continue;
    ++slow_ones;
    for (std::size_t i = 1; i < all.size(); ++i) second[i] += Turns(all[i], all).of(piece) == 1 ? 1 : 0;
  }
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_NEAR(second[i], slow_ones / 5, 60);
}

TEST(Turns, ChangeForNobodyElseWhenANodeLeaves) {
  const auto all = nodes(6);
  const std::vector without(all.begin(), all.end() - 1);
  const Turns before(all[0], all), after(all[0], without), leaving(all.back(), all);
  for (std::uint32_t piece = 0; piece < 1'000; ++piece) {
    if (leaving.of(piece) > before.of(piece)) {
      EXPECT_EQ(after.of(piece), before.of(piece)) << piece;
    }
    EXPECT_LE(after.of(piece), before.of(piece)) << piece;
  }
}

TEST(TurnsInForce, StayWhereNoOthersAreDue) {
  TurnsInForce turns;
  for (int round = 0; round < 100; ++round) EXPECT_FALSE(turns.change(Turns(), 10, /*at_once=*/true));
}

TEST(TurnsInForce, ChangeInTheSecondRoundAndThoseOfManyPiecesInTheThirtieth) {
  const auto all = nodes(3);
  const Turns due(all[0], all);
  TurnsInForce few, many;
  EXPECT_FALSE(few.change(due, 10, false));
  const auto changed = few.change(due, 10, false);
  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->first, Turns());
  EXPECT_EQ(changed->second, due);
  EXPECT_FALSE(few.change(due, 10, false));
  for (int round = 1; round < 30; ++round) EXPECT_FALSE(many.change(due, 1'000'000, false));
  EXPECT_TRUE(many.change(due, 1'000'000, false));
}

TEST(TurnsInForce, ChangeAtOnceWhereNoLaneStands) {
  const auto all = nodes(3);
  EXPECT_TRUE(TurnsInForce().change(Turns(all[0], all), 1'000'000, /*at_once=*/true));
}

}  // namespace
}  // namespace gridtorrent::client::engine
