#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "client/tuning/fixed.h"
#include "tests/support/tuner_input.h"

namespace gridtorrent::client::tuning {
namespace {

using gridtorrent::testing::input_with;
using gridtorrent::testing::stands;

TEST(FixedController, SpreadsThirtyTwoLanesOverAllPeersAndGivesNoneMoreThanFour) {
  FixedController controller;
  const std::vector<std::array<int, 3>> expected = {{1, 1, 4},   {3, 3, 4},   {8, 8, 4},
                                                    {12, 12, 2}, {20, 20, 1}, {40, 32, 1}};
  for (const auto& [seeders, peers, lanes] : expected) {
    const auto plan = controller.plan(input_with(seeders));
    EXPECT_EQ(plan.peers.size(), static_cast<std::size_t>(peers)) << seeders;
    for (const auto& peer : plan.peers) EXPECT_EQ(peer.lanes, lanes) << seeders;
  }
}
TEST(FixedController, ObeysWishesWithinThirtyTwoAPeer) {
  FixedController controller;
  auto input = input_with(3);
  input.lanes_wish = 16;
  for (const auto& peer : controller.plan(input).peers) EXPECT_EQ(peer.lanes, 16);
  input.lanes_wish = 1;
  input.seeders_wish = 2;
  const auto plan = controller.plan(input);
  EXPECT_EQ(plan.peers.size(), 2u);
  EXPECT_EQ(plan.peers.front().lanes, 1);
  EXPECT_EQ(plan.reason.text, "fixed: 1 lane to each of 2 peers, as asked");
}
TEST(FixedController, HasFewerPeersRatherThanFewerLanesThanAskedFor) {
  FixedController controller;
  const std::vector<std::array<int, 3>> expected = {{1, 32, 1},  {4, 32, 4},  {5, 25, 5},
                                                    {16, 8, 16}, {32, 4, 32}, {99, 4, 32}};
  for (const auto& [wish, peers, lanes] : expected) {
    auto input = input_with(40);
    input.lanes_wish = wish;
    const auto plan = controller.plan(input);
    EXPECT_EQ(plan.peers.size(), static_cast<std::size_t>(peers)) << wish;
    for (const auto& peer : plan.peers) EXPECT_EQ(peer.lanes, lanes) << wish;
  }
}
TEST(FixedController, GoesOnToOthersWhereThosePlannedBringNothing) {
  FixedController controller;
  auto input = input_with(41);
  std::set<NodeId> planned;
  for (int turn = 0; turn < 2; ++turn) {
    for (const auto& share : controller.plan(input).peers) {
      planned.insert(share.node);
      ++std::ranges::find(input.peers, share.node, &PeerSample::node)->in_vain;
    }
  }
  EXPECT_EQ(planned.size(), 41U);
  input.seeders_wish = 1;
  for (auto& peer : input.peers) peer.in_vain = 0;
  stands(input.peers[3], 10'000);
  input.peers[3].in_vain = 1;
  EXPECT_NE(controller.plan(input).peers.front().node, input.peers[3].node) << "its disk hangs, and its lanes stand";
}
TEST(FixedController, KeepsThosePeersThatStand) {
  FixedController controller;
  auto input = input_with(5);
  input.seeders_wish = 1;
  stands(input.peers[3], 10'000);
  ASSERT_EQ(controller.plan(input).peers.size(), 1u);
  EXPECT_EQ(controller.plan(input).peers.front().node, input.peers[3].node);
}

}  // namespace
}  // namespace gridtorrent::client::tuning
