#include <gmock/gmock.h>

#include <atomic>
#include <memory>

#include "tests/support/node_fixture.h"

namespace gridtorrent::testing {
namespace {

using client::SwarmRole;
using client::TransferState;
using std::chrono::milliseconds;
using std::chrono::minutes;

/// A node that holds three contents, of which the engine takes one that nobody wants.
class NodeSleep : public NodeFixture {
 protected:
  NodeSleep() {
    for (const std::string name : {"one", "two", "three"}) {
      published(name, "private");
      held_.push_back(fetched(job(name, "/home/" + name)).id);
    }
    most_idle_torrents_ = 1;
    start_again();
  }
  void start_again() {
    end();
    link_.with([](auto& state) { state.announces.clear(); });
    start();
  }
  ::testing::AssertionResult soon(const std::function<bool()>& condition) {
    return eventually(condition, milliseconds(500));
  }
  std::vector<TransferId> in_engine() const {
    std::vector<TransferId> ids;
    for (const auto& id : held_) {
      if (engine_->torrent(id)) ids.push_back(id);
    }
    return ids;
  }
  /// One that is not in the engine, once the others have settled.
  TransferId asleep() {
    EXPECT_TRUE(soon([&] { return announced(SwarmRole::kSeeding) == 3 && in_engine().size() == 1; }));
    for (const auto& id : held_) {
      if (!engine_->torrent(id)) return id;
    }
    ADD_FAILURE() << "all are in the engine";
    return held_.front();
  }
  std::size_t announced(SwarmRole role) {
    return link_.with([&](auto& state) {
      std::set<ContentId> contents;
      for (const auto& announce : state.announces) {
        if (announce.role == role) contents.insert(announce.content);
      }
      return contents.size();
    });
  }
  client::PeerInfo somebody(bool wants_data) const {
    client::PeerInfo peer;
    peer.node = other_;
    peer.wants_data = wants_data;
    return peer;
  }
  void comes(const TransferId& id, bool wants_data) {
    link_.listener().peer_changed(node_->transfer(id)->content, 1, somebody(wants_data));
  }

  std::vector<TransferId> held_;
  const NodeId other_ = NodeId::make(clock_.wall(), rng_);
};

TEST_F(NodeSleep, AnnouncesAllThatItHoldsAndBurdensTheEngineWithFew) {
  EXPECT_TRUE(soon([&] { return announced(SwarmRole::kSeeding) == 3 && in_engine().size() == 1; }));
  for (const auto& id : held_) {
    EXPECT_TRUE(soon([&] { return node_->transfer(id)->state == TransferState::kSeeding; }));
  }
}

TEST_F(NodeSleep, HandsToTheEngineWhatSomebodyWants) {
  const TransferId id = asleep();
  comes(id, false);
  int rounds = 0;
  EXPECT_TRUE(soon([&] { return ++rounds > 5; }));
  EXPECT_FALSE(engine_->torrent(id)) << "who has it all wants nothing";
  comes(id, true);
  EXPECT_TRUE(soon([&] { return engine_->torrent(id).has_value(); }));
  EXPECT_EQ(in_engine().size(), 2U);
  EXPECT_EQ(node_->transfer(id)->state, TransferState::kSeeding);
}

TEST_F(NodeSleep, HearsOfSomebodyWhoIsNotInAnAnswerThatIsOnItsWay) {
  const TransferId id = asleep();
  const ContentId content = node_->transfer(id)->content;
  const auto told = std::make_shared<std::atomic<bool>>(false);
  link_.with([&](auto& state) {
    state.after_answer = [this, content, told](const client::AnnounceRequest& request) {
      if (request.content == content && !told->exchange(true))
        link_.listener().peer_changed(content, 1, somebody(true));
    };
  });
  ASSERT_TRUE(soon([&] { return told->load(); }));
  EXPECT_TRUE(soon([&] { return engine_->torrent(id).has_value(); }));
}

TEST_F(NodeSleep, TakesOutAgainWhatNobodyHasWantedForTenMinutes) {
  asleep();
  link_.with([&](auto& state) { state.peers = {somebody(true)}; });  // in every swarm
  ASSERT_TRUE(soon([&] { return in_engine().size() == 3; }));
  const auto later = clock_.mono() + minutes(25);
  EXPECT_TRUE(eventually([&] { return in_engine().size() < 3 || clock_.mono() >= later; }, minutes(1)));
  EXPECT_EQ(in_engine().size(), 3U) << "they are wanted";
  link_.with([](auto& state) { state.peers.clear(); });
  EXPECT_TRUE(eventually([&] { return in_engine().size() == 1; }, minutes(1))) << "one is left in peace";
  for (const auto& id : held_) EXPECT_EQ(node_->transfer(id)->state, TransferState::kSeeding);
}

TEST_F(NodeSleep, SaysGoodbyeForWhatIsCancelledAsleep) {
  const TransferId id = asleep();
  ASSERT_TRUE(node_->cancel(id).ok());
  EXPECT_TRUE(soon([&] { return announced(SwarmRole::kGone) == 1; }));
}

TEST_F(NodeSleep, LeavesASecondPlaceOfTheSameContentToServeWhenItIsCancelled) {
  const TransferId id = asleep();
  const auto second = get(job(node_->transfer(id)->name, "/home/again"));  // a copy of what is here
  ASSERT_TRUE(second.ok()) << second.error().message;
  ASSERT_TRUE(soon([&] { return node_->transfer(second->id)->state == TransferState::kComplete; }));
  ASSERT_TRUE(node_->cancel(id).ok());
  EXPECT_TRUE(soon([&] { return node_->transfer(second->id)->state == TransferState::kSeeding; }));
}

TEST_F(NodeSleep, LooksAtItsFilesAgainBeforeItWakes) {
  const TransferId id = asleep();
  files_.with([&](auto& state) {
    for (auto& [path, stamp] : state.existing) ++stamp;
    state.calls.clear();
  });
  comes(id, true);
  EXPECT_TRUE(soon([&] {
    return files_.with([](auto& state) {
      return std::ranges::any_of(state.calls, [](const auto& call) { return call.starts_with("verify"); });
    });
  }));
}

}  // namespace
}  // namespace gridtorrent::testing
