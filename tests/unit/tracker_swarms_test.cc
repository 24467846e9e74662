#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "tracker/core/hub.h"
#include "tracker/core/swarms.h"

namespace gridtorrent::tracker {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class SwarmTable : public testing::Test {
 protected:
  NodeId node() { return NodeId::make(clock_.wall(), rng_); }
  Announce of(const NodeId& node, SwarmRole role, std::uint64_t verified = 0) const {
    Announce announce;
    announce.node = node;
    announce.content = content_;
    announce.role = role;
    announce.verified_bytes = verified;
    announce.total_bytes = 1000;
    return announce;
  }
  std::vector<NodeEndpoint> at(const std::string& address, Reachability reachability) {
    return {{{address, 50000, false, ""}, reachability, false}};
  }
  static std::vector<NodeId> ids(const std::vector<Peer>& peers) {
    std::vector<NodeId> nodes;
    for (const Peer& peer : peers) nodes.push_back(peer.node);
    return nodes;
  }

  ManualClock clock_;
  SeededRng rng_{9};
  Swarms swarms_{clock_, rng_};
  ContentId content_ = ContentId::make(clock_.wall(), rng_);
  NodeId a_ = node(), b_ = node(), c_ = node();
};

TEST_F(SwarmTable, TheManyNodesOfOneOwnerDoNotHideThoseOfAnother) {
  const UserId mallory = UserId::make(clock_.wall(), rng_);
  for (int i = 0; i < 400; ++i) {
    Announce fake = of(node(), SwarmRole::kSeeding, 1000);
    fake.owner = mallory;
    swarms_.announce(fake);
  }
  Announce honest = of(a_, SwarmRole::kSeeding, 1000);
  honest.owner = UserId::make(clock_.wall(), rng_);
  swarms_.announce(honest);
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(ids(swarms_.announce(of(node(), SwarmRole::kFetching)).peers), testing::Contains(a_));
  }
}

TEST_F(SwarmTable, WhoWantsDataIsToldOfWhoHasItAndTheOtherWayRound) {
  EXPECT_THAT(swarms_.announce(of(a_, SwarmRole::kSeeding, 1000)).peers, IsEmpty());
  const auto joined = swarms_.announce(of(b_, SwarmRole::kFetching));
  EXPECT_THAT(ids(joined.peers), ElementsAre(a_));
  EXPECT_TRUE(joined.peers[0].complete);
  EXPECT_FALSE(joined.peers[0].wants_data);
  EXPECT_THAT(joined.tell, ElementsAre(a_)) << "the seeder hears of it at once";
  EXPECT_TRUE(joined.changed.wants_data);
  EXPECT_THAT(ids(swarms_.announce(of(a_, SwarmRole::kSeeding, 1000)).peers), ElementsAre(b_));
}

TEST_F(SwarmTable, WhoChangesWithoutAnEndIsToldOfAtARateAndOthersAreNotConcerned) {
  SwarmLimits limits;
  limits.tells_per_s = 2;
  limits.tells_at_once = 10;
  Swarms swarms(clock_, rng_, limits);
  swarms.announce(of(a_, SwarmRole::kSeeding, 1000));
  swarms.announce(of(c_, SwarmRole::kSeeding, 1000));
  const auto told_of = [&](const NodeId& node) {
    std::size_t told = 0;
    for (int i = 0; i < 100; ++i) {
      told += swarms.announce(of(node, SwarmRole::kFetching)).tell.size();
      told += swarms.announce(of(node, SwarmRole::kGone)).tell.size();
    }
    return told;
  };
  EXPECT_EQ(told_of(b_), 10u) << "gone and back is no way around it";
  EXPECT_THAT(ids(swarms.announce(of(b_, SwarmRole::kFetching)).peers), UnorderedElementsAre(a_, c_));
  EXPECT_THAT(swarms.announce(of(node(), SwarmRole::kFetching)).tell, SizeIs(3));
  clock_.advance(std::chrono::seconds(2));
  EXPECT_LE(told_of(b_), 4u);
}

TEST_F(SwarmTable, WhatWasNotToldIsToldLater) {
  SwarmLimits limits;
  limits.tells_per_s = 1;
  limits.tells_at_once = 2;
  Swarms swarms(clock_, rng_, limits);
  swarms.announce(of(a_, SwarmRole::kFetching));
  swarms.announce(of(c_, SwarmRole::kFetching));
  EXPECT_THAT(swarms.announce(of(b_, SwarmRole::kFetching)).tell, SizeIs(2));
  EXPECT_THAT(swarms.announce(of(b_, SwarmRole::kSeeding, 1000)).tell, IsEmpty());
  EXPECT_THAT(swarms.set_endpoints(b_, {}), IsEmpty()) << "they count as well";
  clock_.advance(std::chrono::seconds(2));
  EXPECT_THAT(swarms.announce(of(b_, SwarmRole::kSeeding, 1000)).tell, SizeIs(2)) << "of the change before";
  clock_.advance(std::chrono::seconds(2));
  EXPECT_THAT(swarms.announce(of(b_, SwarmRole::kSeeding, 1000)).tell, IsEmpty()) << "nothing is new";
}

TEST_F(SwarmTable, PeersAreNamedWithTheHashOfTheirKey) {
  Announce seeding = of(a_, SwarmRole::kSeeding, 1000);
  seeding.key = {7};
  swarms_.announce(seeding);
  const auto joined = swarms_.announce(of(b_, SwarmRole::kFetching));
  ASSERT_THAT(joined.peers, SizeIs(1));
  EXPECT_EQ(joined.peers[0].key, seeding.key);
}

TEST_F(SwarmTable, OnlyChangesAreToldAtOnce) {
  swarms_.announce(of(a_, SwarmRole::kSeeding, 1000));
  swarms_.announce(of(b_, SwarmRole::kFetching));
  EXPECT_THAT(swarms_.announce(of(b_, SwarmRole::kFetching, 10)).tell, IsEmpty());
  swarms_.announce(of(c_, SwarmRole::kFetching));
  const auto done = swarms_.announce(of(b_, SwarmRole::kSeeding, 1000));
  EXPECT_THAT(done.tell, UnorderedElementsAre(a_, c_)) << "a seeder would go on dialling it";
  EXPECT_FALSE(done.changed.wants_data);
  const auto less = swarms_.announce(of(b_, SwarmRole::kSeeding, 900));
  EXPECT_THAT(less.tell, ElementsAre(c_)) << "another seeder does not care about one that wanted nothing";
}

TEST_F(SwarmTable, WhoPausesOrLeavesIsToldToThoseWhoWouldDialIt) {
  swarms_.announce(of(a_, SwarmRole::kSeeding, 1000));
  for (const SwarmRole role : {SwarmRole::kPaused, SwarmRole::kGone}) {
    swarms_.announce(of(b_, SwarmRole::kFetching, 10));
    swarms_.announce(of(c_, SwarmRole::kFetching, 20));
    const auto fetched = swarms_.announce(of(b_, role, 10));
    EXPECT_THAT(fetched.tell, UnorderedElementsAre(a_, c_));
    EXPECT_EQ(fetched.changed.node, b_);
    EXPECT_FALSE(fetched.changed.wants_data || fetched.changed.complete);
    EXPECT_EQ(fetched.changed.verified_bytes, 0u);
    EXPECT_THAT(swarms_.announce(of(b_, role, 10)).tell, IsEmpty());
    const auto seeded = swarms_.announce(of(a_, role, 1000));
    EXPECT_THAT(seeded.tell, ElementsAre(c_));
    EXPECT_FALSE(seeded.changed.complete);
    EXPECT_EQ(seeded.complete, role == SwarmRole::kPaused) << "the replica is still there";
    swarms_.announce(of(a_, SwarmRole::kSeeding, 1000));
  }
}

TEST_F(SwarmTable, OfOneThatIsDoneAsManyHearWhoWantDataAsOfOneThatJoins) {
  std::set<NodeId> fetching, seeding;
  for (int i = 0; i < 30; ++i) {
    seeding.insert(node());
    fetching.insert(node());
  }
  for (const NodeId& id : seeding) swarms_.announce(of(id, SwarmRole::kSeeding, 1000));
  for (const NodeId& id : fetching) swarms_.announce(of(id, SwarmRole::kFetching));
  swarms_.announce(of(a_, SwarmRole::kFetching));
  const auto done = swarms_.announce(of(a_, SwarmRole::kSeeding, 1000));
  std::set<NodeId> told(done.tell.begin(), done.tell.end());
  EXPECT_THAT(done.tell, SizeIs(60));
  fetching.merge(seeding);
  EXPECT_EQ(told, fetching);
}

TEST_F(SwarmTable, SilentMembersExpire) {
  swarms_.announce(of(a_, SwarmRole::kSeeding, 1000));
  clock_.advance(std::chrono::seconds(75));
  EXPECT_EQ(swarms_.counts(content_, 1).seeders, 1u);
  clock_.advance(std::chrono::milliseconds(1));
  EXPECT_EQ(swarms_.counts(content_, 1).seeders, 0u);
  EXPECT_THAT(swarms_.announce(of(b_, SwarmRole::kFetching)).peers, IsEmpty());
  swarms_.expire();
  EXPECT_EQ(swarms_.member_count(), 1u);
  const auto back = swarms_.announce(of(a_, SwarmRole::kSeeding, 1000));
  EXPECT_THAT(back.tell, ElementsAre(b_)) << "who comes back is news";
}

TEST_F(SwarmTable, SignsOfLifeAreGivenOutOnceANodeIsGoneAndNowAndThenWhileItIsThere) {
  const NodeId node = this->node();
  EXPECT_EQ(swarms_.last_sign(node), WallTime{});
  swarms_.set_connected(node, true);
  EXPECT_EQ(swarms_.take_signs(std::chrono::minutes(5)).size(), 1u);
  clock_.advance(std::chrono::minutes(4));
  EXPECT_TRUE(swarms_.take_signs(std::chrono::minutes(5)).empty());
  clock_.advance(std::chrono::minutes(1));
  EXPECT_EQ(swarms_.take_signs(std::chrono::minutes(5)).at(0), std::pair(node, clock_.wall()));
  clock_.advance(std::chrono::seconds(7));
  swarms_.set_connected(node, false);
  const WallTime left = clock_.wall();
  clock_.advance(std::chrono::hours(1));
  EXPECT_EQ(swarms_.last_sign(node), left);
  EXPECT_EQ(swarms_.take_signs(std::chrono::minutes(5)).at(0), std::pair(node, left));
  EXPECT_TRUE(swarms_.take_signs(std::chrono::minutes(5)).empty());
}

TEST_F(SwarmTable, EmptySwarmsGo) {
  swarms_.announce(of(a_, SwarmRole::kSeeding, 1000));
  EXPECT_EQ(swarms_.swarm_count(), 1u);
  swarms_.announce(of(a_, SwarmRole::kGone));
  EXPECT_EQ(swarms_.swarm_count(), 0u);
  swarms_.announce(of(a_, SwarmRole::kGone));
  swarms_.announce(of(b_, SwarmRole::kFetching));
  clock_.advance(std::chrono::hours(1));
  swarms_.expire();
  EXPECT_EQ(swarms_.swarm_count(), 0u);
}

TEST_F(SwarmTable, PausedMembersAreNeitherHandedOutNorCounted) {
  swarms_.announce(of(a_, SwarmRole::kPaused, 1000));
  const auto joined = swarms_.announce(of(b_, SwarmRole::kFetching));
  EXPECT_THAT(joined.peers, IsEmpty());
  EXPECT_EQ(swarms_.counts(content_, 1).seeders, 0u);
  EXPECT_THAT(swarms_.announce(of(a_, SwarmRole::kPaused, 1000)).peers, IsEmpty());
  EXPECT_THAT(swarms_.announce(of(a_, SwarmRole::kSeeding, 1000)).tell, ElementsAre(b_));
}

TEST_F(SwarmTable, CompleteMeansAllOfIt) {
  swarms_.announce(of(a_, SwarmRole::kSeeding, 999));  // fetched only some files
  EXPECT_EQ(swarms_.counts(content_, 1).seeders, 0u);
  EXPECT_EQ(swarms_.counts(content_, 1).leechers, 0u);
  const auto joined = swarms_.announce(of(b_, SwarmRole::kFetching));
  ASSERT_THAT(joined.peers, SizeIs(1));
  EXPECT_FALSE(joined.peers[0].complete);
  EXPECT_EQ(joined.peers[0].verified_bytes, 999u);
  Announce empty = of(c_, SwarmRole::kSeeding);
  empty.total_bytes = 0;
  EXPECT_TRUE(swarms_.announce(empty).changed.complete);
}

TEST_F(SwarmTable, VersionsAndContentsDoNotMix) {
  swarms_.announce(of(a_, SwarmRole::kSeeding, 1000));
  Announce other = of(b_, SwarmRole::kFetching);
  other.version = 2;
  EXPECT_THAT(swarms_.announce(other).peers, IsEmpty());
  EXPECT_EQ(swarms_.counts(content_, 2).leechers, 1u);
  EXPECT_EQ(swarms_.counts(ContentId::make(clock_.wall(), rng_), 1).leechers, 0u);
}

TEST_F(SwarmTable, EndpointsThatWorkComeFirst) {
  swarms_.set_endpoints(a_, {{{"198.18.0.1", 1, false, ""}, Reachability::kUnreachable, false},
                             {{"198.18.0.2", 2, false, ""}, Reachability::kReachable, false},
                             {{"198.18.0.3", 3, false, ""}, Reachability::kUnknown, true}});
  swarms_.announce(of(a_, SwarmRole::kSeeding, 1000));
  const auto peers = swarms_.announce(of(b_, SwarmRole::kFetching)).peers;
  ASSERT_THAT(peers, SizeIs(1));
  EXPECT_EQ(peers[0].reachability, Reachability::kReachable);
  ASSERT_THAT(peers[0].endpoints, SizeIs(3));
  EXPECT_EQ(peers[0].endpoints[0].port, 2);
  EXPECT_EQ(peers[0].endpoints[2].port, 1);
}

TEST_F(SwarmTable, MovedEndpointsAreToldToTheSwarm) {
  swarms_.announce(of(a_, SwarmRole::kSeeding, 1000));
  swarms_.announce(of(b_, SwarmRole::kFetching));
  EXPECT_FALSE(swarms_.knows_endpoints(a_));
  const auto tells = swarms_.set_endpoints(a_, at("198.18.0.7", Reachability::kUnreachable));
  ASSERT_THAT(tells, SizeIs(1));
  EXPECT_EQ(tells[0].content, content_);
  EXPECT_THAT(tells[0].tell, ElementsAre(b_));
  EXPECT_EQ(tells[0].changed.endpoints.at(0).address, "198.18.0.7");
  EXPECT_TRUE(swarms_.knows_endpoints(a_));
  EXPECT_THAT(swarms_.set_endpoints(a_, at("198.18.0.7", Reachability::kUnreachable)), IsEmpty()) << "no news";
  clock_.advance(std::chrono::hours(1));
  EXPECT_THAT(swarms_.set_endpoints(a_, {}), IsEmpty()) << "it has expired";
  swarms_.announce(of(a_, SwarmRole::kPaused));
  EXPECT_THAT(swarms_.set_endpoints(a_, at("::1", Reachability::kUnknown)), IsEmpty());
}

TEST_F(SwarmTable, OnlineFollowsTheStreamAndTheLastCall) {
  EXPECT_FALSE(swarms_.online(a_));
  swarms_.set_connected(a_, true);
  clock_.advance(std::chrono::hours(1));
  EXPECT_TRUE(swarms_.online(a_));
  swarms_.set_connected(a_, true);
  swarms_.set_connected(a_, false);
  EXPECT_TRUE(swarms_.online(a_)) << "a second stream displaced the first";
  swarms_.set_connected(a_, false);
  EXPECT_FALSE(swarms_.online(a_));
  swarms_.note_seen(a_);
  EXPECT_TRUE(swarms_.online(a_));
  clock_.advance(std::chrono::minutes(2));
  EXPECT_FALSE(swarms_.online(a_));
}

TEST_F(SwarmTable, TrafficIsCountedInBothDirectionsByBothSides) {
  swarms_.note_seen(b_);
  Announce report = of(a_, SwarmRole::kFetching);
  const NodeId stranger = node();
  report.traffic = {{b_, 100, 20}, {stranger, 5, 0}};
  swarms_.announce(report);
  swarms_.announce(report);
  EXPECT_EQ(swarms_.traffic(a_), (TrafficTotals{210, 40, 0, 0}));
  EXPECT_EQ(swarms_.traffic(b_), (TrafficTotals{0, 0, 200, 40}));
  EXPECT_EQ(swarms_.traffic(stranger), TrafficTotals{}) << "made-up nodes take no memory";
  report.traffic.assign(1000, {b_, 1, 0});
  swarms_.announce(report);
  EXPECT_EQ(swarms_.traffic(a_).received_bytes, 210u + 256u);
}

TEST_F(SwarmTable, ReplicasAreWrittenRarely) {
  const auto due = [&](std::uint64_t verified, SwarmRole role = SwarmRole::kFetching) {
    return swarms_.announce(of(a_, role, verified)).write_replica;
  };
  EXPECT_TRUE(due(0)) << "first sight";
  EXPECT_FALSE(due(0));
  EXPECT_FALSE(due(49));
  EXPECT_TRUE(due(50)) << "5 %";
  EXPECT_FALSE(due(51));
  clock_.advance(std::chrono::seconds(60));
  EXPECT_TRUE(due(51)) << "a minute";
  clock_.advance(std::chrono::seconds(60));
  EXPECT_FALSE(due(51));
  EXPECT_TRUE(due(1000, SwarmRole::kSeeding)) << "complete";
  clock_.advance(std::chrono::minutes(10));
  EXPECT_TRUE(due(1000, SwarmRole::kSeeding)) << "still there";
  EXPECT_TRUE(due(0)) << "begun anew";
}

TEST_F(SwarmTable, AReplicaThatWasVerifiedAnewIsWritten) {
  Announce announce = of(a_, SwarmRole::kSeeding, 1000);
  announce.verified_age = std::chrono::hours(2);
  EXPECT_TRUE(swarms_.announce(announce).write_replica) << "first sight";
  clock_.advance(std::chrono::seconds(30));
  *announce.verified_age += std::chrono::seconds(32);
  EXPECT_FALSE(swarms_.announce(announce).write_replica) << "the same moment, told two seconds later";
  announce.verified_age = std::chrono::seconds(1);
  EXPECT_TRUE(swarms_.announce(announce).write_replica);
  announce.verified_age.reset();
  EXPECT_TRUE(swarms_.announce(announce).write_replica) << "an older program took over";
}

TEST_F(SwarmTable, SeedersAreThoseThatHoldAllAndServeItNow) {
  const ContentId content = of(a_, SwarmRole::kSeeding).content;
  const auto seeders = [&] {
    EXPECT_EQ(swarms_.counts(content, 1).seeders, swarms_.seeders(content, 1).size()) << "one source";
    return swarms_.seeders(content, 1);
  };
  EXPECT_THAT(seeders(), IsEmpty());
  swarms_.set_connected(a_, true);
  swarms_.announce(of(a_, SwarmRole::kSeeding, 1000));
  swarms_.announce(of(b_, SwarmRole::kSeeding, 999));
  EXPECT_THAT(seeders(), ElementsAre(a_)) << "some of it is not all";
  swarms_.announce(of(a_, SwarmRole::kPaused, 1000));
  EXPECT_THAT(seeders(), IsEmpty());
  swarms_.announce(of(a_, SwarmRole::kSeeding, 1000));
  EXPECT_THAT(seeders(), ElementsAre(a_));
  swarms_.set_connected(a_, false);
  EXPECT_THAT(seeders(), IsEmpty()) << "its stream closed";
  swarms_.announce(of(a_, SwarmRole::kSeeding, 1000));
  EXPECT_THAT(seeders(), ElementsAre(a_));
  swarms_.announce(of(a_, SwarmRole::kGone));
  EXPECT_THAT(seeders(), IsEmpty());
}

TEST_F(SwarmTable, AForgottenNodeLeavesNothing) {
  swarms_.set_endpoints(a_, at("198.18.0.1", Reachability::kReachable));
  swarms_.announce(of(a_, SwarmRole::kSeeding, 1000));
  swarms_.forget(a_);
  swarms_.forget(b_);
  EXPECT_EQ(swarms_.member_count(), 0u);
  EXPECT_FALSE(swarms_.online(a_));
  EXPECT_FALSE(swarms_.knows_endpoints(a_));
}

TEST_F(SwarmTable, ANodeThatIsForgottenIsNotKnownAnewByWhatEnds) {
  swarms_.set_connected(a_, true);
  swarms_.forget(a_);
  swarms_.set_connected(a_, false);
  EXPECT_EQ(swarms_.last_sign(a_), WallTime{}) << "its stream has ended";
  swarms_.announce(of(a_, SwarmRole::kGone));
  EXPECT_EQ(swarms_.last_sign(a_), WallTime{}) << "it was refused";
  EXPECT_THAT(swarms_.take_signs(std::chrono::minutes(5)), IsEmpty());
}

TEST_F(SwarmTable, OfNodesThatAreLongAwayNothingIsKeptOnceTheirLastSignIsTaken) {
  for (const NodeId& node : {a_, b_}) swarms_.set_endpoints(node, at("198.18.0.1", Reachability::kReachable));
  Announce late = of(a_, SwarmRole::kSeeding, 1000);  // as one that was under way when the node was removed
  late.traffic = {{b_, 10, 0}};
  swarms_.announce(late);
  swarms_.set_connected(b_, true);
  clock_.advance(std::chrono::hours(2));
  swarms_.expire();
  EXPECT_TRUE(swarms_.knows_endpoints(a_)) << "when it was seen last is not written down yet";
  swarms_.take_signs(std::chrono::minutes(5));
  swarms_.expire();
  EXPECT_FALSE(swarms_.knows_endpoints(a_));
  EXPECT_EQ(swarms_.last_sign(a_), WallTime{});
  EXPECT_EQ(swarms_.traffic(a_), TrafficTotals{});
  EXPECT_TRUE(swarms_.knows_endpoints(b_)) << "it is connected";
  EXPECT_EQ(swarms_.traffic(b_), (TrafficTotals{0, 0, 10, 0}));
}

// Streams to nodes

class Hub : public testing::Test {
 protected:
  std::shared_ptr<NodeStream> open(const NodeId& node) {
    return hub_.open(node, [this] { ++woken_; });
  }
  SeededRng rng_{13};
  NodeHub hub_;
  NodeId node_ = NodeId::make({1}, rng_);
  std::atomic<int> woken_ = 0;
};

TEST_F(Hub, ANewStreamStartsWithItsTaskList) {
  const auto stream = open(node_);
  EXPECT_TRUE(stream->take().tasks_waiting);
  EXPECT_TRUE(stream->take().empty());
}

TEST_F(Hub, WakesOnceUntilTaken) {
  const auto stream = open(node_);
  (void)stream->take();
  hub_.tasks_waiting(node_);
  hub_.push(node_, TaskCancelled{});
  EXPECT_EQ(woken_, 1);
  const auto batch = stream->take();
  EXPECT_TRUE(batch.tasks_waiting);
  EXPECT_THAT(batch.hints, SizeIs(1));
  hub_.push(node_, PeerChanged{});
  EXPECT_EQ(woken_, 2);
}

TEST_F(Hub, OverflowDropsToResyncAndStaysBounded) {
  const auto stream = open(node_);
  for (std::size_t i = 0; i < NodeStream::kMaxHints; ++i) hub_.push(node_, TaskCancelled{});
  EXPECT_THAT(stream->take().hints, SizeIs(NodeStream::kMaxHints));
  for (std::size_t i = 0; i < 3 * NodeStream::kMaxHints; ++i) hub_.push(node_, TaskCancelled{});
  const auto batch = stream->take();
  EXPECT_TRUE(batch.resync);
  EXPECT_THAT(batch.hints, IsEmpty());
  hub_.push(node_, TaskCancelled{});
  EXPECT_THAT(stream->take().hints, SizeIs(1)) << "and goes on";
}

TEST_F(Hub, ANewStreamDisplacesTheOld) {
  const auto old = open(node_);
  const auto fresh = open(node_);
  EXPECT_TRUE(old->take().displaced);
  EXPECT_FALSE(hub_.close(node_, old)) << "the node has another one";
  EXPECT_EQ(hub_.stream_count(), 1u);
  hub_.tasks_waiting(node_);
  EXPECT_FALSE(old->take().tasks_waiting);
  EXPECT_TRUE(fresh->take().tasks_waiting);
  EXPECT_TRUE(hub_.close(node_, fresh));
  EXPECT_TRUE(hub_.close(node_, fresh));
  EXPECT_EQ(hub_.stream_count(), 0u);
}

TEST_F(Hub, StreamsAreEndedByNodeOrAll) {
  const auto one = open(node_);
  const auto two = open(NodeId::make({2}, rng_));
  hub_.end(node_);
  EXPECT_TRUE(one->take().ended);
  EXPECT_FALSE(two->take().ended);
  hub_.end_all();
  EXPECT_TRUE(one->take().ended);
  EXPECT_TRUE(two->take().ended);
}

TEST_F(Hub, NodesWithoutAStreamAreNoTrouble) {
  hub_.tasks_waiting(node_);
  hub_.push(node_, TaskCancelled{});
  hub_.end(node_);
  EXPECT_EQ(woken_, 0);
}

TEST_F(Hub, NothingIsLostBetweenThreads) {
  constexpr int kEach = 200;
  const auto stream = open(node_);
  std::atomic<bool> resynced = false;
  std::size_t got = 0;
  {
    std::jthread one([&] {
      for (int i = 0; i < kEach; ++i) hub_.push(node_, TaskCancelled{});
    });
    std::jthread two([&] {
      for (int i = 0; i < kEach; ++i) hub_.push(node_, PeerChanged{});
    });
    std::jthread three([&] {
      for (int i = 0; i < 20; ++i) open(NodeId::make({i}, rng_));
    });
    for (int i = 0; i < 100; ++i) {
      const auto batch = stream->take();
      got += batch.hints.size();
      if (batch.resync) resynced = true;
    }
  }
  const auto last = stream->take();
  got += last.hints.size();
  EXPECT_TRUE(resynced || last.resync || got == 2 * kEach) << got;
}

TEST(TaskWatchers, HearOfTheirTaskUntilTheyLeave) {
  SeededRng rng(17);
  TaskHub hub;
  const TaskId one = TaskId::make({1}, rng);
  const TaskId two = TaskId::make({1}, rng);
  int first = 0;
  int second = 0;
  const auto a = hub.watch(one, [&] { ++first; });
  const auto b = hub.watch(one, [&] { ++second; });
  hub.watch(two, [] { ADD_FAILURE() << "not its task"; });
  hub.changed(one);
  hub.unwatch(a);
  hub.unwatch(a);
  hub.changed(one);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 2);
  hub.unwatch(b);
  hub.changed(one);
  EXPECT_EQ(second, 2);
  EXPECT_EQ(hub.watcher_count(), 1u);
}

}  // namespace
}  // namespace gridtorrent::tracker
