#include <gtest/gtest.h>

#include "tests/support/node_fixture.h"

namespace gridtorrent::testing {
namespace {

using client::TransferState;

/// A node whose clock stands still: what happens here has not waited until all transfers are looked at.
class NodeLooks : public NodeFixture {
 protected:
  ::testing::AssertionResult at_once(const std::function<bool()>& condition) {
    return eventually(condition, std::chrono::milliseconds(0));
  }
  std::size_t announces() {
    return link_.with([](auto& state) { return state.announces.size(); });
  }
  /// It seeds, and nothing of it is due.
  client::TransferView resting(const std::string& access = "public") {
    published("set", access);
    const auto view = fetched(job("set"));
    const auto told = [&] {
      return link_.with([](auto& state) {
        const auto& last = state.announces.back();
        return last.role == client::SwarmRole::kSeeding;
      });
    };
    EXPECT_TRUE(at_once([&] { return announces() > 0 && told(); }));
    return view;
  }
};

TEST_F(NodeLooks, PausesAtOnceWhatSeeds) {
  const auto id = resting().id;
  ASSERT_TRUE(node_->pause(id).ok());
  EXPECT_TRUE(at_once([&] { return engine_->torrent(id)->paused; }));
}

TEST_F(NodeLooks, AnnouncesAtOnceWhereTheServerSaysThatAContentChanged) {
  const auto content = resting().content;
  const auto before = announces();
  link_.listener().content_changed(content);
  EXPECT_TRUE(at_once([&] { return announces() > before; }));
}

TEST_F(NodeLooks, AnnouncesWhenItIsDueWhileTheClockHasNotReachedTheNextLookAtAll) {
  const auto view = resting();
  link_.with([](auto& state) {
    state.next_announce = std::chrono::milliseconds(300);
    state.contents["set"].name = "renamed";
  });
  link_.listener().content_changed(view.content);
  // With the name the node has taken in when the next announce is due.
  ASSERT_TRUE(at_once([&] { return node_->transfer(view.id)->name == "renamed"; }));
  const auto before = announces();
  clock_.advance(std::chrono::milliseconds(300));
  EXPECT_TRUE(at_once([&] { return announces() > before; }));
}

TEST_F(NodeLooks, LetsInAtOnceWhoMayHaveItFromNowOn) {
  link_.with([](auto& state) { state.audience = "list"; });
  const auto id = resting("private").id;
  const auto members = std::make_shared<const client::Audience>();
  link_.listener().audience({{"list", 1}, members});
  EXPECT_TRUE(at_once([&] { return engine_->torrent(id)->spec.audience == members; }));
}

TEST_F(NodeLooks, TakesUpAtOnceWhatTheEngineTells) {
  const auto id = resting().id;
  engine_->happens(id, [](auto& snapshot) { snapshot.send_bits_per_s = 1'000'000; });
  EXPECT_TRUE(at_once([&] { return node_->transfer(id)->send_bits_per_s == 1'000'000; }));
}

TEST_F(NodeLooks, HandsAtOnceToTheEngineWhatSomebodyWants) {
  const auto view = resting();
  most_idle_torrents_ = 0;
  restart();
  ASSERT_TRUE(at_once([&] { return node_->transfer(view.id)->state == TransferState::kSeeding; }));
  EXPECT_FALSE(engine_->torrent(view.id));
  client::PeerInfo peer;
  peer.node = NodeId::make(clock_.wall(), rng_);
  peer.wants_data = true;
  link_.listener().peer_changed(view.content, 1, peer);
  EXPECT_TRUE(at_once([&] { return engine_->torrent(view.id).has_value(); }));
}

TEST_F(NodeLooks, SaysAtOnceThatTheServerIsAway) {
  const auto id = resting().id;
  link_.listener().disconnected({Code::kUnreachable, "away"});
  EXPECT_TRUE(at_once([&] { return node_->transfer(id)->waiting_for.find("server down") != std::string::npos; }));
  link_.listener().connected();
  EXPECT_TRUE(at_once([&] { return node_->transfer(id)->waiting_for.empty(); }));
}

}  // namespace
}  // namespace gridtorrent::testing
