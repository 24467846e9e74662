#pragma once

#include <string>

#include "tests/support/node_fixture.h"

namespace gridtorrent::testing {

/// A node that fetches from one seeder, whose data comes over one lane when a test says so.
class FetchingNode : public NodeFixture {
 protected:
  FetchingNode() {
    client::PeerInfo peer;
    peer.node = seeder_;
    peer.complete = true;
    link_.with([&](auto& state) { state.peers = {peer}; });
  }
  /// So many seconds of data come over one lane, 10 MB in each.
  void comes(const TransferId& id, int seconds) {
    ASSERT_TRUE(eventually([&] { return engine_->torrent(id).has_value(); }));
    // The hands turn faster than the tracker answers: without a seeder these seconds would say nothing.
    ASSERT_TRUE(eventually(
        [&] {
          const auto asked = tuner_.asked(id);
          return asked && !asked->peers.empty();
        },
        std::chrono::milliseconds(10)));
    for (int i = 0; i < seconds; ++i) {
      bytes_ += 10'000'000;
      clock_.advance(std::chrono::seconds(1));
      const auto now = clock_.mono();
      engine_->happens(id, [&](auto& snapshot) {
        client::LaneSnapshot lane;
        lane.state = client::LaneState::kOpen;
        lane.outgoing = lane.proven = true;
        lane.local = "198.18.0.7:50000";
        lane.sampled = now;
        lane.sampled_bytes = bytes_;
        lane.theirs = client::TcpFigures{60'000, 60'000, 0, 10, "cubic"};
        lane.theirs->sent_segments = bytes_ / 1448;
        lane.theirs->sent_bytes = bytes_;
        client::PeerSnapshot from;
        from.node = seeder_;
        from.complete = true;
        from.receive_bits_per_s = 80'000'000;
        from.lanes = {lane};
        snapshot.peers = {from};
      });
      // The transfers' thread has looked at this second before the next one begins.
      ASSERT_TRUE(eventually(
          [&] {
            const auto asked = tuner_.asked(id);
            return asked && asked->now >= now;
          },
          std::chrono::milliseconds(0)));
    }
  }
  TransferId fetch(const std::string& name, int seconds) {
    published(name);
    const auto view = get(job(name, "/home/" + name));
    EXPECT_TRUE(view.ok());
    comes(view->id, seconds);
    return view->id;
  }
  void end_of(const TransferId& id) {
    complete(id);
    wait_for(id, client::TransferState::kSeeding);
    ASSERT_TRUE(eventually([&] { return tuner_.was_removed(id); }));
  }

  const NodeId seeder_ = NodeId::make(clock_.wall(), rng_);
  std::uint64_t bytes_ = 0;
};

}  // namespace gridtorrent::testing
