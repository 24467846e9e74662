#include <algorithm>
#include <set>

#include "tests/support/node_fixture.h"

namespace gridtorrent::testing {
namespace {

class GetInASwarm : public NodeFixture {};

TEST_F(GetInASwarm, SaysWhatItWaitsFor) {
  published("set");
  const auto view = get(job("set"));
  EXPECT_TRUE(eventually([&] { return node_->transfer(view->id)->waiting_for == "no seeders online"; }));
  link_.with([](auto& state) { state.down = Error{Code::kUnreachable, "connection refused"}; });
  EXPECT_TRUE(eventually([&] { return node_->transfer(view->id)->waiting_for.starts_with("server down"); }));
  link_.with([](auto& state) { state.down.reset(); });
  link_.listener().connected();
  EXPECT_TRUE(eventually([&] { return node_->transfer(view->id)->waiting_for == "no seeders online"; }));
}

TEST_F(GetInASwarm, AnnouncesAgainWhenABusyServerAllowsIt) {
  const auto announces = [&] { return link_.with([](auto& state) { return state.announces.size(); }); };
  published("set");
  link_.with([](auto& state) {
    state.announce_error = Error{Code::kBusy, "announce: too often; try again in 1 s"};
    state.asked_pause = std::chrono::minutes(5);
  });
  const auto view = get(job("set"));
  EXPECT_TRUE(eventually([&] { return node_->transfer(view->id)->waiting_for.starts_with("server busy, retrying"); }));
  link_.with([](auto& state) { state.announce_error.reset(); });
  for (int i = 0; i < 20; ++i) {
    clock_.advance(std::chrono::seconds(10));
    events_->torrent_changed({});
  }
  EXPECT_EQ(announces(), 0u);
  EXPECT_TRUE(eventually([&] { return announces() > 0; }, std::chrono::seconds(5)));
}

TEST_F(GetInASwarm, SaysOnceInTheLogThatTheServerWasNotToldWhereItListens) {
  const auto lines = [&] {
    const std::lock_guard lock(log_mutex_);
    return std::ranges::count_if(log_,
                                 [](const auto& line) { return line.find("was not told where") != std::string::npos; });
  };
  const auto calls = [&] { return link_.with([](auto& state) { return state.endpoint_calls; }); };
  link_.with([](auto& state) { state.down = Error{Code::kUnreachable, "connection refused"}; });
  clock_.advance(std::chrono::minutes(10));
  const int before = calls();
  EXPECT_TRUE(eventually([&] { return calls() >= before + 20; }, std::chrono::seconds(1)));
  EXPECT_EQ(lines(), 1);
  clock_.advance(std::chrono::hours(1));
  EXPECT_TRUE(eventually([&] { return lines() == 2; }));
  link_.with([](auto& state) { state.down.reset(); });
  EXPECT_TRUE(eventually([&] { return link_.with([](auto& state) { return state.endpoints.size() >= 2; }); },
                         std::chrono::seconds(5)));
  link_.with([](auto& state) { state.down = Error{Code::kUnreachable, "connection refused"}; });
  clock_.advance(std::chrono::minutes(10));
  EXPECT_TRUE(eventually([&] { return lines() == 3; }));
}

TEST_F(GetInASwarm, GivesOthersATurnWhereNothingComes) {
  published("set");
  std::vector<client::PeerInfo> peers(2);
  for (auto& peer : peers) {
    peer.node = NodeId::make(clock_.wall(), rng_);
    peer.complete = true;
  }
  link_.with([&](auto& state) { state.peers = peers; });
  auto wanted = job("set");
  wanted.seeders = 1;
  const auto view = get(wanted);
  std::set<NodeId> planned;
  EXPECT_TRUE(eventually([&] {
    clock_.advance(std::chrono::seconds(1));
    events_->torrent_changed({});
    const auto torrent = engine_->torrent(view->id);
    if (!torrent) return false;
    for (const auto& peer : torrent->plan.peers) {
      if (peer.lanes > 0) planned.insert(peer.node);
    }
    return planned.size() == 2;
  })) << planned.size()
      << " of two were planned";
}

TEST_F(GetInASwarm, LetsAPeerThatBeginsToWantDataDialFirst) {
  published("set");
  client::PeerInfo peer;
  peer.node = NodeId::make(clock_.wall(), rng_);
  peer.complete = true;
  peer.reachability = client::Reachability::kReachable;
  link_.with([&](auto& state) {
    state.reachability = client::Reachability::kReachable;
    state.peers = {peer};
  });
  const auto held = fetched(job("set"));
  const auto planned = [&] {
    const auto torrent = engine_->torrent(held.id);
    return torrent && !torrent->plan.peers.empty();
  };
  ASSERT_TRUE(eventually([&] { return !planned(); })) << "the fetch's plan is over";
  clock_.advance(std::chrono::minutes(5));  // without a lane, since both have everything
  peer.complete = false;
  peer.wants_data = true;
  link_.with([&](auto& state) { state.peers = {peer}; });
  link_.listener().peer_changed(held.content, 1, peer);
  for (int i = 0; i < 20; ++i) {
    clock_.advance(std::chrono::milliseconds(50));
    events_->torrent_changed({});
    EXPECT_FALSE(planned() && engine_->torrent(held.id)->plan.peers.front().dial);
  }
  EXPECT_TRUE(eventually([&] { return planned() && engine_->torrent(held.id)->plan.peers.front().dial; }))
      << "but after two seconds";
}

TEST_F(GetInASwarm, TellsTheEngineOfOneMoreThatFetchesThoughItGetsNoLanes) {
  published("set");
  const auto peer = [&](bool complete) {
    client::PeerInfo info;
    info.node = NodeId::make(clock_.wall(), rng_);
    info.complete = complete;
    info.wants_data = !complete;
    return info;
  };
  std::vector<client::PeerInfo> seeders;
  for (int i = 0; i < 32; ++i) seeders.push_back(peer(true));
  link_.with([&](auto& state) { state.peers = seeders; });
  const auto view = get(job("set"));
  const auto plan = [&] {
    const auto torrent = engine_->torrent(view->id);
    return torrent ? torrent->plan : client::LanePlan{};
  };
  ASSERT_TRUE(eventually([&] { return plan().peers.size() == 32; }));
  const auto before = plan();
  EXPECT_TRUE(before.fetching.empty());
  const auto another = peer(false);
  link_.listener().peer_changed(node_->transfer(view->id)->content, 1, another);
  EXPECT_TRUE(eventually([&] {
    events_->torrent_changed({});
    return plan().fetching == std::vector{another.node};
  }));
  EXPECT_EQ(plan().peers, before.peers);
  EXPECT_GT(plan().revision, before.revision);
}

TEST_F(GetInASwarm, SaysThatNeitherEndCanBeReached) {
  link_.with([](auto& state) { state.reachability = client::Reachability::kUnreachable; });
  restart();
  published("set");
  client::PeerInfo seeder;
  seeder.node = NodeId::make(clock_.wall(), rng_);
  seeder.complete = true;
  seeder.reachability = client::Reachability::kUnreachable;
  seeder.endpoints = {{"198.18.0.9", 50010, false, ""}};
  auto another = seeder;
  another.node = NodeId::make(clock_.wall(), rng_);
  link_.with([&](auto& state) { state.peers = {seeder, another}; });
  const auto view = get(job("set"));
  const std::string first = std::min(seeder.node, another.node).str(),
                    second = std::max(seeder.node, another.node).str();
  const std::string told = "no path to " + first + ": neither " + first + " nor this node, " +
                           node_->status().node_name + ", can be dialled; open the ports of one of them: on " +
                           node_->status().node_name + " 'ufw allow 50000/tcp', or on " + first +
                           " 'ufw allow 50010/tcp' (behind NAT: forward them); no path to " + second + " either";
  EXPECT_TRUE(eventually([&] { return node_->transfer(view->id)->waiting_for == told; }))
      << node_->transfer(view->id)->waiting_for;
}

TEST_F(GetInASwarm, TellsTheServerTrafficOnceAndOnlyWhatItHasNotCounted) {
  published("set");
  const auto view = get(job("set"));
  ASSERT_TRUE(eventually([&] { return engine_->torrent(view->id).has_value(); }));
  const auto peer_id = NodeId::make(clock_.wall(), rng_);
  const auto receive = [&](std::uint64_t bytes) {
    engine_->happens(view->id, [&](auto& snapshot) {
      client::PeerSnapshot peer;
      peer.node = peer_id;
      peer.received_bytes = bytes;
      snapshot.peers = {peer};
    });
  };
  const auto told = [&] {
    return link_.with([&](auto& state) {
      std::uint64_t sum = 0;
      for (const auto& announce : state.announces) {
        for (const auto& traffic : announce.traffic) sum += traffic.received_bytes;
      }
      return sum;
    });
  };
  receive(100);
  EXPECT_TRUE(eventually([&] { return told() == 100; }));
  link_.with([](auto& state) { state.announce_error = Error{Code::kUnreachable, "gone"}; });
  receive(150);
  clock_.advance(std::chrono::minutes(1));
  EXPECT_TRUE(eventually([&] { return node_->transfer(view->id)->waiting_for.starts_with("server down"); }));
  link_.with([](auto& state) { state.announce_error.reset(); });
  EXPECT_TRUE(eventually([&] { return told() == 150; }));
}

}  // namespace
}  // namespace gridtorrent::testing
