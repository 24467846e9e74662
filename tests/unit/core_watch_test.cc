// What a watcher of all transfers of a node is told.
#include <gmock/gmock.h>

#include <atomic>
#include <map>

#include "tests/support/node_fixture.h"

namespace gridtorrent::testing {
namespace {

using client::TransferState;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class NodeWatch : public NodeFixture {
 protected:
  /// Takes all that there is to tell by now.
  void read() {
    while (const auto update = node_->next_transfers(place_, node_->transfers_revision())) {
      if (update->page.snapshot && update->page.last_page) ++snapshots_;
      for (const auto& view : update->changed) {
        EXPECT_THAT(view.peers, IsEmpty());
        states_[view.id] = view.state;
      }
      for (const auto& id : update->page.removed) states_.erase(id);
      limits_ = update->limits;
      EXPECT_EQ(update->total, states_.size());
    }
  }
  /// Nothing changes for a while, though the hands turn.
  ::testing::AssertionResult falls_silent() {
    int quiet = 0;
    std::uint64_t revision = 0;
    return eventually([&] {
      const auto now = node_->transfers_revision();
      quiet = now == revision ? quiet + 1 : 0;
      revision = now;
      return quiet == 100;  // half a second: what a thread that waits for its turn still holds comes in
    });
  }

  client::JournalPlace place_;
  std::map<TransferId, TransferState> states_;
  int snapshots_ = 0;
  client::NodeLimits limits_;
};

TEST_F(NodeWatch, SeesAFetchUntilItSeeds) {
  read();
  EXPECT_EQ(snapshots_, 1) << "of nothing";
  published("one");
  const auto id = fetched(job("one")).id;
  read();
  EXPECT_THAT(states_, ElementsAre(std::pair(id, TransferState::kSeeding)));
  EXPECT_EQ(snapshots_, 1);
}

TEST_F(NodeWatch, SeesATransferGoThatIsCancelled) {
  published("one");
  const auto id = fetched(job("one")).id;
  read();
  ASSERT_TRUE(node_->cancel(id).ok());
  EXPECT_TRUE(eventually([&] {
    read();
    return states_.empty();
  }));
  EXPECT_EQ(snapshots_, 1);
}

TEST_F(NodeWatch, SeesThatASecondPlaceBeginsToSeed) {
  published("one");
  const auto first = fetched(job("one")).id;
  const auto second = get(job("one", "/home/again"));
  ASSERT_TRUE(second.ok()) << second.error().message;
  ASSERT_TRUE(eventually([&] {
    read();
    return states_[second->id] == TransferState::kComplete;
  }));
  ASSERT_TRUE(node_->cancel(first).ok());
  EXPECT_TRUE(eventually([&] {
    read();
    return states_[second->id] == TransferState::kSeeding;
  }));
}

TEST_F(NodeWatch, IsToldNothingWhileTransfersOnlySeed) {
  published("one");
  const auto id = fetched(job("one")).id;
  ASSERT_TRUE(falls_silent());
  client::PeerSnapshot idle;
  idle.node = NodeId::make(clock_.wall(), rng_);
  engine_->happens(id, [&](auto& snapshot) { snapshot.peers = {idle}; });
  read();
  EXPECT_TRUE(falls_silent()) << "a peer that takes nothing is no news each second";
}

TEST_F(NodeWatch, IsToldOfALimitOfTheNodeAtOnce) {
  read();
  ASSERT_TRUE(node_->set_limits({5'000'000, 0}).ok());
  read();
  EXPECT_EQ(limits_.send_bits_per_s, 5'000'000U);
  node_->reconfigure({{}, {}, 2, {7'000'000, 0}});
  read();
  EXPECT_EQ(limits_.send_bits_per_s, 7'000'000U);
}

TEST_F(NodeWatch, IsRungForOnce) {
  std::atomic<int> rung = 0;
  node_->ring_after(node_->transfers_revision(), [&] { ++rung; });
  EXPECT_EQ(rung, 0);
  ASSERT_TRUE(node_->set_limits({5'000'000, 0}).ok());
  ASSERT_TRUE(node_->set_limits({6'000'000, 0}).ok());
  EXPECT_EQ(rung, 1);
  node_->ring_after(0, [&] { ++rung; });
  EXPECT_EQ(rung, 2) << "it has changed already";
}

TEST_F(NodeWatch, IsRungForOnceByTheTransferThatItNames) {
  published("one");
  const auto id = fetched(job("one")).id;
  ASSERT_TRUE(falls_silent());
  std::atomic<int> rung = 0;
  const auto ring = [&] { ++rung; };
  const auto seen = node_->transfer(id)->revision;
  node_->ring_on_change(id, seen, ring);
  ASSERT_TRUE(node_->set_limits({5'000'000, 0}).ok());
  EXPECT_EQ(rung, 0) << "the transfer has not changed";
  ASSERT_TRUE(node_->pause(id).ok());
  EXPECT_EQ(rung, 1);
  ASSERT_TRUE(node_->resume(id).ok());
  EXPECT_EQ(rung, 1) << "once";
  node_->ring_on_change(id, seen, ring);
  EXPECT_EQ(rung, 2) << "it has changed already";
  node_->ring_on_change(TransferId(), 1, ring);
  EXPECT_EQ(rung, 3) << "there is no such transfer";
}

TEST_F(NodeWatch, IsRungForByATransferThatGoes) {
  published("one");
  const auto id = fetched(job("one")).id;
  ASSERT_TRUE(falls_silent());
  std::atomic<int> rung = 0;
  int asked = 0;
  const auto is_gone = [&] {
    const auto view = node_->transfer(id);
    if (!view) return true;
    ++asked;
    node_->ring_on_change(id, view->revision, [&] { ++rung; });
    return false;
  };
  EXPECT_FALSE(is_gone());
  ASSERT_TRUE(node_->cancel(id).ok());
  EXPECT_EQ(rung, 1);
  EXPECT_TRUE(eventually(is_gone, std::chrono::seconds(10)));
  EXPECT_EQ(rung, asked) << "each once";
}

TEST_F(NodeWatch, BeginsAnewWithAnotherProcessOfTheNode) {
  published("one");
  const auto id = fetched(job("one")).id;
  read();
  restart();
  states_.clear();
  read();
  EXPECT_EQ(snapshots_, 2);
  EXPECT_TRUE(states_.contains(id));
}

}  // namespace
}  // namespace gridtorrent::testing
