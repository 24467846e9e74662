// What the published tuners have in common: channels become lanes to seeders, and a search is told of one transfer.
#include <gtest/gtest.h>

#include "client/tuning/byte_meter.h"
#include "client/tuning/search_controller.h"
#include "tests/support/tuner_input.h"

namespace gridtorrent::client::tuning {
namespace {

using namespace std::chrono_literals;
using gridtorrent::testing::input_with;
using gridtorrent::testing::neighbour;
using gridtorrent::testing::numbered_node;
using gridtorrent::testing::stands;

std::vector<NodeId> nodes(int count) {
  std::vector<NodeId> nodes;
  for (int i = 1; i <= count; ++i) nodes.push_back(numbered_node(static_cast<std::uint8_t>(i)));
  return nodes;
}
std::vector<int> lanes_of(const std::vector<PeerShare>& shares) {
  std::vector<int> lanes;
  for (const auto& share : shares) lanes.push_back(share.lanes);
  return lanes;
}

TEST(Channels, GoToSeedersOneEach) {
  EXPECT_EQ(lanes_of(share_out(nodes(4), {{3}, {3}}, 64)), (std::vector{3, 3}));
}
TEST(Channels, BeyondTheSeedersBecomeMoreLanes) {
  EXPECT_EQ(lanes_of(share_out(nodes(2), {{2}, {2}, {2}, {2}, {2}}, 32)), (std::vector{6, 4}));
  EXPECT_EQ(lanes_of(share_out(nodes(1), std::vector<Channel>(20), 16)), std::vector{16});
}
TEST(Channels, AreNoMoreThanAllMayHave) {
  EXPECT_EQ(lanes_of(share_out(nodes(3), std::vector<Channel>(9), 7)), (std::vector{3, 2, 2}));
  EXPECT_EQ(lanes_of(share_out(nodes(3), std::vector<Channel>(9), 0)), (std::vector{1, 1, 1})) << "but one each";
}
TEST(Channels, GiveASeederTheDeepestOfTheirQueues) {
  const auto shares = share_out(nodes(1), {{1, 40}, {1, 90}, {1, 0}}, 16);
  EXPECT_EQ(shares.at(0).outstanding_blocks, 90);
}

TEST(SearchInput, TakesTheLinkForTheSlowestCardThatCarriesWhatWasSeen) {
  SearchInput input;
  EXPECT_EQ(input.link_bits_per_s(), 1e9);
  EXPECT_EQ(input.link_bits_per_s(1.2e9), 10e9);
  EXPECT_EQ(input.link_bits_per_s(9e12), 9e12);
  input.limit_bits_per_s = 5e6;
  EXPECT_EQ(input.link_bits_per_s(), 5e6);
}

TEST(ByteMeter, CountsFromItsFirstLookOverLanesThatComeAndGo) {
  ByteMeter meter;
  PeerSample peer = gridtorrent::testing::complete_seeder(1);
  LaneSample lane;
  lane.number = 3;
  lane.received_bytes = 100;
  peer.lanes = {lane};
  meter.look({peer});
  EXPECT_EQ(meter.bytes(), 0) << "what came before";
  peer.lanes[0].received_bytes = 150;
  meter.look({peer});
  lane.number = 4;
  lane.received_bytes = 7;
  peer.lanes = {lane};
  meter.look({peer});
  EXPECT_EQ(meter.bytes(), 57) << "a lane that is new counts from its start";
}

/// Wants so many channels of one lane, and keeps what it was told.
class Probe final : public TransferSearch {
 public:
  explicit Probe(SearchInput& told, int& channels) : told_(told), channels_(channels) {}
  SearchPlan step(const SearchInput& input) override {
    told_ = input;
    sizes_.assign(input.file_sizes.begin(), input.file_sizes.end());
    told_.file_sizes = sizes_;
    return {std::vector<Channel>(static_cast<std::size_t>(channels_)), "probe"};
  }

 private:
  SearchInput& told_;
  int& channels_;
  std::vector<std::uint64_t> sizes_;
};

class Controller : public ::testing::Test {
 protected:
  SearchInput told_;
  int channels_ = 1;
  SearchController controller_{"probe", [this] { return std::make_unique<Probe>(told_, channels_); }};
};

TEST_F(Controller, TellsTheSearchOfSeedersRoundTripsAndFiles) {
  auto input = input_with(2, 1'000);
  input.file_sizes = std::make_shared<const std::vector<std::uint64_t>>(std::vector<std::uint64_t>{400, 600});
  input.limit_bits_per_s = 8'000;
  input.host.lane_bytes = 4'096;
  stands(input.peers[0], 20'000);
  stands(input.peers[1], 40'000);
  controller_.plan(input);
  EXPECT_EQ(told_.seeders.size(), 2U);
  EXPECT_NEAR(told_.round_trip_s, 0.03, 1e-9);
  EXPECT_EQ(told_.total_bytes(), 1'000);
  EXPECT_EQ(told_.file_sizes.size(), 2U);
  EXPECT_EQ(told_.limit_bits_per_s, 8'000);
  EXPECT_EQ(told_.buffer_bytes, 4'096);
  EXPECT_EQ(told_.most_lanes, 64);
}
TEST_F(Controller, TakesTheContentForOneFileWhereSizesAreNotKnown) {
  controller_.plan(input_with(1, 1'000));
  EXPECT_EQ(told_.file_sizes.size(), 1U);
  EXPECT_EQ(told_.total_bytes(), 1'000);
}
TEST_F(Controller, GivesNeighboursALaneEachOutsideOfTheSearch) {
  auto input = input_with(1);
  input.peers.push_back(neighbour(9));
  channels_ = 5;
  const auto plan = controller_.plan(input);
  ASSERT_EQ(plan.peers.size(), 2U);
  EXPECT_EQ(plan.peers[0].lanes, 5);
  EXPECT_EQ(plan.peers[1].node, numbered_node(9));
  EXPECT_EQ(plan.peers[1].lanes, 1);
  EXPECT_EQ(plan.reason.text, "probe: probe");
}
TEST_F(Controller, KeepsTheSeedersThatItBeganWith) {
  auto input = input_with(4);
  const auto first = controller_.plan(input).peers.at(0).node;
  for (auto& peer : input.peers) stands(peer, 20'000);
  EXPECT_EQ(controller_.plan(input).peers.at(0).node, first) << "also when others stand";
}
TEST_F(Controller, GoesOnToTheNextSeederWhereOneDoesNotAnswer) {
  auto input = input_with(2);
  input.now = MonoTime(1h);
  const auto after = [&](std::chrono::seconds time) {
    NodeId node;
    for (auto left = time; left > 0s; left -= 1s) {
      input.now += 1s;
      node = controller_.plan(input).peers.at(0).node;
    }
    return node;
  };
  const auto first = controller_.plan(input).peers.at(0).node;
  EXPECT_EQ(after(kStandsWithin - 1s), first);
  const auto second = after(1s);
  EXPECT_NE(second, first);
  EXPECT_EQ(after(kStandsWithin), first) << "and comes back to it";
}
TEST_F(Controller, TellsTheSearchNothingOfATimeInWhichItWasPaused) {
  auto input = input_with(2);
  input.now = MonoTime(1h);
  controller_.plan(input);
  input.now += 1s;
  controller_.plan(input);
  const MonoTime before = told_.now;
  input.now += 1min;
  controller_.plan(input);
  EXPECT_LE(told_.now - before, 3s);
}

}  // namespace
}  // namespace gridtorrent::client::tuning
