// What holds for every tuner, whatever it measures and however it decides.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "client/tuning/registry.h"
#include "tests/support/tuner_input.h"

namespace gridtorrent::client::tuning {
namespace {

using gridtorrent::testing::input_with;
using gridtorrent::testing::neighbour;
using gridtorrent::testing::numbered_node;
using gridtorrent::testing::stands;
using gridtorrent::testing::wild_figures;
using gridtorrent::testing::wild_input;
using gridtorrent::testing::wild_load;

constexpr std::uint64_t kSeed = 20;

class EveryTuner : public ::testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<TransferController> make() { return make_tuner(GetParam(), kSeed); }
};

int lanes_in_all(const Plan& plan) {
  int lanes = 0;
  for (const auto& peer : plan.peers) lanes += peer.lanes;
  return lanes;
}

void expect_within_limits(const ControllerInput& input, const Plan& plan) {
  std::set<NodeId> named;
  for (const auto& share : plan.peers) {
    EXPECT_TRUE(named.insert(share.node).second) << "a node is named twice";
    EXPECT_GE(share.lanes, 1);
    EXPECT_LE(share.lanes, kMaxLanesPerPeer);
    EXPECT_GE(share.outstanding_blocks, 0);
    EXPECT_GE(share.congestion_lanes, 0);
    EXPECT_NE(share.node, input.self);
    const auto peer = std::ranges::find(input.peers, share.node, &PeerSample::node);
    ASSERT_NE(peer, input.peers.end()) << "a node that is not in the swarm";
    EXPECT_TRUE(peer->has_data);
    if (!share.congestion_control.empty()) {
      EXPECT_NE(std::ranges::find(peer->grants, share.congestion_control), peer->grants.end()) << "it is not granted";
    }
    EXPECT_LE(share.lanes, input.lanes_wish > 0 ? input.lanes_wish : kMaxLanesPerPeer);
  }
  const bool chosen = input.lanes_wish > 0 || input.seeders_wish > 0;
  EXPECT_LE(lanes_in_all(plan), chosen ? kMaxLanesInAll : most_lanes(input.host));
  const std::size_t most = input.seeders_wish > 0 ? static_cast<std::size_t>(input.seeders_wish) : input.peers.size();
  EXPECT_LE(plan.peers.size(), most);
  EXPECT_FALSE(plan.reason.text.empty());
}

TEST_P(EveryTuner, StaysWithinTheLimitsOnAnyInput) {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  const auto tuner = make();
  SeededRng rng(kSeed);
  for (int i = 0; i < 2000; ++i) {
    const auto input = wild_input(rng);
    expect_within_limits(input, tuner->plan(input));
    if (i % 7 == 0) tuner->removed(input.transfer);
  }
}
TEST_P(EveryTuner, StaysWithinTheLimitsWhateverSendersSayOfThemselves) {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  const auto tuner = make();
  SeededRng rng(kSeed);
  auto input = input_with(3);
  for (auto& peer : input.peers) peer.grants = {"bbr"};
  for (int i = 0; i < 2000; ++i) {
    input.now += std::chrono::milliseconds(rng.below(3000));
    if (i % 50 == 0) input.load = wild_load(rng);
    for (auto& peer : input.peers) {
      // Lanes come and go, and what stands has told something else each time.
      peer.lanes.resize(rng.below(kMaxLanesPerPeer + 1));
      for (std::size_t n = 0; n < peer.lanes.size(); ++n) {
        auto& lane = peer.lanes[n];
        lane.number = static_cast<int>(n);
        lane.received_bytes += rng.below(10'000'000);
        lane.theirs = wild_figures(rng);
        lane.theirs->congestion_control = rng.below(9) == 0 ? "bbr" : "cubic";
      }
      peer.stands = !peer.lanes.empty();
    }
    const auto plan = tuner->plan(input);
    expect_within_limits(input, plan);
    for (const auto& share : plan.peers) {
      if (GetParam() == kDefaultTuner) {
        EXPECT_EQ(share.outstanding_blocks, 0) << "depth is the engine's";
      }
    }
  }
}
TEST_P(EveryTuner, DecidesTheSameFromTheSameInputAndSeed) {
  const auto one = make(), other = make();
  SeededRng rng(kSeed);
  for (int i = 0; i < 500; ++i) {
    const auto input = wild_input(rng);
    EXPECT_EQ(one->plan(input), other->plan(input)) << "call " << i << ", seed " << kSeed;
  }
}
TEST_P(EveryTuner, RemembersNothingOfATransferThatWasRemoved) {
  const auto tuner = make(), fresh = make();
  auto input = input_with(1);
  tuner->plan(input);
  stands(input.peers[0], 50'000, "cubic");
  tuner->plan(input);
  tuner->removed(input.transfer);
  const auto again = input_with(1, 20'000'000);
  EXPECT_EQ(tuner->plan(again), fresh->plan(again));
}
TEST_P(EveryTuner, IsToldOfTransfersThatItHasNeverSeen) {
  const auto tuner = make();
  tuner->removed(TransferId(TransferId::Bytes{99}));
  EXPECT_FALSE(tuner->plan(input_with(1)).peers.empty());
}
TEST_P(EveryTuner, HoldsTwoTransfersApart) {
  const auto both = make(), alone = make();
  auto one = input_with(1), other = input_with(1, 5'000'000);
  other.transfer = TransferId(TransferId::Bytes{2});
  both->plan(one);
  both->plan(other);
  alone->plan(one);
  stands(one.peers[0], 50'000, "cubic");
  EXPECT_EQ(both->plan(one), alone->plan(one));
}
TEST_P(EveryTuner, ObeysAPersonWhoAsksForLanesAndSeeders) {
  const auto tuner = make();
  auto input = input_with(5);
  input.lanes_wish = 7;
  input.seeders_wish = 2;
  for (auto& peer : input.peers) stands(peer, 100, "bbr");
  const auto plan = tuner->plan(input);
  ASSERT_EQ(plan.peers.size(), 2U);
  for (const auto& share : plan.peers) EXPECT_EQ(share.lanes, 7);
}
TEST_P(EveryTuner, GivesEachNeighbourOfASmallSwarmALane) {
  const auto tuner = make();
  auto input = input_with(1);
  for (std::uint8_t i = 10; i < 20; ++i) input.peers.push_back(neighbour(i));
  EXPECT_EQ(tuner->plan(input).peers.size(), 11U);
}
TEST_P(EveryTuner, SaysItsNameAndThatNobodyHasData) {
  const auto plan = make()->plan(input_with(0));
  EXPECT_TRUE(plan.peers.empty());
  EXPECT_EQ(plan.reason.text, GetParam() + ": no peer has data");
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryTuner, ::testing::ValuesIn(tuner_names()),
                         [](const auto& tuner) { return tuner.param; });

TEST(Registry, KnowsItsOwnNamesAndNoOthers) {
  EXPECT_EQ(make_tuner("", kSeed), nullptr);
  EXPECT_EQ(make_tuner("Fixed", kSeed), nullptr);
  EXPECT_EQ(tuner_names().front(), kDefaultTuner);
}

}  // namespace
}  // namespace gridtorrent::client::tuning
