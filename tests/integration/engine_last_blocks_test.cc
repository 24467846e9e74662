// The end of a transfer, where seeders become slow while they are asked for much: real engines on loopback.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/integration/engine_lab.h"

namespace gridtorrent::client::engine::test {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kBlockBytes = 16 * 1024;

struct Swarm {
  explicit Swarm(std::size_t bytes, std::uint64_t bits_per_s) : sample(one_file(bytes)) {
    sample.write(folder / "seed");
    for (Node& seeder : seeders) {
      seeder.engine->set_node_limit(0, bits_per_s);
      seeder.seed(sample, folder / "seed", transfer);
    }
    leecher.fetch(sample, folder / "get", transfer);
  }
  std::uint64_t received() const { return leecher.snapshot(transfer).received_payload_bytes; }
  bool whole() const { return is_whole(leecher.snapshot(transfer)); }

  const Folder folder;
  const Sample sample;
  const TransferId transfer = new_transfer();
  Node seeders[3], leecher;
};

/// `blocks`: on each lane, whatever its rate; 0: as the engine sizes it.
PeerPlan plan_of(const Node& node, int lanes, int blocks) {
  PeerPlan plan = node.peer(lanes);
  plan.outstanding_blocks = blocks;
  return plan;
}

/// What the seeder has read for a lane, a mebibyte, cannot be taken back; the rest is, before the transfer ends.
TEST(LastBlocksOfASwarm, AreTakenFromSeedersThatBecomeSlowAndComeOnce) {
  Swarm swarm(30'000'000, 16'000'000);
  std::vector<PeerPlan> peers;
  for (const Node& seeder : swarm.seeders) peers.push_back(plan_of(seeder, 1, 250));
  swarm.leecher.plan(swarm.transfer, peers);
  ASSERT_TRUE(eventually([&] { return swarm.received() > 20'000'000; }));
  const NodeId slow = swarm.seeders[0].id;
  swarm.seeders[0].engine->set_node_limit(0, 80'000);  // a block in 1.6 s
  int least_asked = 250;
  EXPECT_TRUE(eventually([&] {
    const TorrentSnapshot now = swarm.leecher.snapshot(swarm.transfer);
    if (is_whole(now)) return true;
    for (const auto& peer : now.peers) {
      for (const auto& lane : peer.lanes) {
        if (peer.node == slow) least_asked = std::min(least_asked, lane.outstanding_blocks);
      }
    }
    return false;
  }));
  EXPECT_LT(least_asked, 160) << "of some 200";
  EXPECT_THAT(swarm.sample.differing(swarm.folder / "get"), testing::IsEmpty());
  EXPECT_LT(swarm.received(), swarm.sample.total() + 40 * kBlockBytes);
}

/// Seeders become slow and fast, and lanes come and go, while what they were asked for is moved.
TEST(LastBlocksOfASwarm, AreAllBroughtWhateverChanges) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto any = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
  constexpr std::uint64_t kLimits[] = {40'000, 800'000, 8'000'000, 40'000'000, 0};
  for (int round = 0; round < 4; ++round) {
    Swarm swarm(static_cast<std::size_t>(any(1'000'000, 4'000'000)), 8'000'000);
    const auto replan = [&] {
      std::vector<PeerPlan> peers;
      for (const Node& seeder : swarm.seeders) peers.push_back(plan_of(seeder, any(0, 4), any(0, 1) * any(1, 150)));
      swarm.leecher.plan(swarm.transfer, peers);
    };
    replan();
    for (int step = 0; step < 60 && !swarm.whole(); ++step) {
      swarm.seeders[any(0, 2)].engine->set_node_limit(0, kLimits[any(0, 4)]);
      if (any(0, 9) == 0) replan();
      eventually([&] { return swarm.whole(); }, milliseconds(any(0, 40)));
    }
    std::vector<PeerPlan> peers;
    for (Node& seeder : swarm.seeders) {
      seeder.engine->set_node_limit(0, 0);
      peers.push_back(plan_of(seeder, 1, 0));
    }
    swarm.leecher.plan(swarm.transfer, peers);
    ASSERT_TRUE(eventually([&] { return swarm.whole(); })) << "round " << round;
    ASSERT_THAT(swarm.sample.differing(swarm.folder / "get"), testing::IsEmpty());
  }
}

}  // namespace
}  // namespace gridtorrent::client::engine::test
