#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tracker/core/address.h"
#include "tracker/core/dial_back.h"
#include "tracker/core/dial_turns.h"
#include "tracker/core/node.h"
#include "tracker/core/selection.h"
#include "tracker/core/task.h"

namespace gridtorrent::tracker {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kContent = "c_aguox6ktnj2w3jvyvdh2ehzvmi";
constexpr const char* kTransfer = "x_aguox6ktnj2w3jvyvdh2ehzvmi";

// Addresses and endpoints

TEST(Addresses, AreNumericAndCanonical) {
  EXPECT_EQ(Address::parse("2001:DB8::0:1")->str(), "2001:db8::1");
  EXPECT_EQ(Address::parse("::ffff:192.0.2.1")->str(), "192.0.2.1");
  EXPECT_TRUE(Address::parse("::ffff:192.0.2.1")->is_v4());
  for (const std::string& bad :
       {std::string("localhost"), std::string(""), std::string("1.2.3"), std::string("fe80::1%eth0"),
        std::string("1.2.3.4\0x", 9), std::string("1.2.3.4:80")}) {
    EXPECT_FALSE(Address::parse(bad).has_value()) << bad;
  }
}

TEST(Addresses, KnowTheirKind) {
  EXPECT_TRUE(Address::parse("0.0.0.0")->is_unspecified());
  EXPECT_TRUE(Address::parse("0.1.2.3")->is_unspecified());
  EXPECT_TRUE(Address::parse("::")->is_unspecified());
  EXPECT_TRUE(Address::parse("127.9.9.9")->is_loopback());
  EXPECT_TRUE(Address::parse("::1")->is_loopback());
  EXPECT_FALSE(Address::parse("::2")->is_loopback());
  EXPECT_TRUE(Address::parse("169.254.0.1")->is_link_local());
  EXPECT_TRUE(Address::parse("fe80::1")->is_link_local());
  EXPECT_TRUE(Address::parse("224.0.0.1")->is_multicast());
  EXPECT_TRUE(Address::parse("ff02::1")->is_multicast());
  EXPECT_TRUE(Address::parse("255.255.255.255")->is_broadcast());
  EXPECT_FALSE(Address::parse("198.18.0.1")->is_loopback());
}

TEST(Endpoints, TakeTheObservedAddressWhereNoneIsSaid) {
  const auto kept = normalize_endpoints(
      {{"", 50000, false, "lan"}, {"::ffff:198.18.0.2", 50001, true, ""}, {"198.18.0.2", 50001, true, ""}},
      "2001:db8::5");
  ASSERT_TRUE(kept.ok());
  ASSERT_THAT(*kept, SizeIs(2));
  EXPECT_EQ((*kept)[0], (Endpoint{"2001:db8::5", 50000, false, "lan"}));
  EXPECT_EQ((*kept)[1], (Endpoint{"198.18.0.2", 50001, true, ""}));
}

TEST(Endpoints, ThatNobodyCanDialAreRefused) {
  for (const Endpoint& bad :
       {Endpoint{"", 1, false, ""}, Endpoint{"0.0.0.0", 1, false, ""}, Endpoint{"::", 1, false, ""},
        Endpoint{"224.0.0.1", 1, false, ""}, Endpoint{"255.255.255.255", 1, false, ""},
        Endpoint{"198.18.0.1", 0, false, ""}, Endpoint{"host.example", 1, false, ""},
        Endpoint{"198.18.0.1", 1, false, std::string(65, 'x')}, Endpoint{"198.18.0.1", 1, false, "\xff"}}) {
    const auto refused = normalize_endpoints({bad}, "");
    ASSERT_FALSE(refused.ok()) << bad.address;
    EXPECT_EQ(refused.error().code, Code::kInvalid);
  }
  EXPECT_FALSE(normalize_endpoints(std::vector<Endpoint>(65, {"198.18.0.1", 1, false, ""}), "").ok());
}

TEST(Endpoints, OfOnesOwnHostAreRefusedUnlessTheNodeIsSeenThere) {
  for (const char* local : {"127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "169.254.169.254", "fe80::1"}) {
    for (const char* seen : {"198.18.0.7", "2001:db8::5", ""}) {
      const auto refused = normalize_endpoints({{"198.18.0.7", 50000, false, ""}, {local, 50000, false, ""}}, seen);
      ASSERT_FALSE(refused.ok()) << local << " of a node that is seen at " << seen;
      EXPECT_THAT(refused.error().message, HasSubstr("own host or link"));
    }
  }
  EXPECT_TRUE(normalize_endpoints({{"127.0.0.1", 50000, false, ""}}, "127.0.0.1").ok());
  EXPECT_TRUE(normalize_endpoints({{"127.0.0.1", 50000, false, ""}}, "::1").ok());
  EXPECT_TRUE(normalize_endpoints({{"", 50000, false, ""}}, "169.254.3.4").ok());
}

TEST(Endpoints, OneThatWorksMakesANodeReachable) {
  const auto with = [](std::vector<Reachability> verdicts) {
    std::vector<NodeEndpoint> endpoints;
    for (const auto verdict : verdicts) endpoints.push_back({{}, verdict, false});
    return overall_reachability(endpoints);
  };
  EXPECT_EQ(with({}), Reachability::kUnknown);
  EXPECT_EQ(with({Reachability::kUnreachable, Reachability::kReachable}), Reachability::kReachable);
  EXPECT_EQ(with({Reachability::kUnreachable, Reachability::kUnreachable}), Reachability::kUnreachable);
  EXPECT_EQ(with({Reachability::kUnreachable, Reachability::kUnknown}), Reachability::kUnknown);
}

// Dial-back

const std::vector<std::string> kServer = {"203.0.113.1", "2001:db8::1"};
bool may(const std::string& address, int port, const std::string& observed) {
  return may_dial_back({address, static_cast<std::uint16_t>(port), false, ""}, {observed, kServer, {}}).dial;
}
bool may_by(const std::string& network, const std::string& address, const std::string& observed = "198.18.0.1") {
  const auto allowed = Network::parse(network);
  EXPECT_TRUE(allowed.ok()) << network;
  return may_dial_back({address, 50000, false, ""}, {observed, kServer, {*allowed}}).dial;
}

TEST(DialBack, NeverTouchesPortsOfTheSystem) {
  EXPECT_FALSE(may("198.18.0.1", 1023, "198.18.0.1"));
  EXPECT_FALSE(may("198.18.0.1", 22, "198.18.0.1"));
  EXPECT_TRUE(may("198.18.0.1", 1024, "198.18.0.1"));
}

TEST(DialBack, NeverTouchesTheServerItselfForOthers) {
  for (const char* own : {"127.0.0.1", "127.1.2.3", "::1", "203.0.113.1", "2001:db8::1", "::ffff:127.0.0.1",
                          "169.254.169.254", "fe80::1"}) {
    EXPECT_FALSE(may(own, 50000, "198.18.0.1")) << own;
    EXPECT_FALSE(may(own, 50000, "")) << own;
  }
}

TEST(DialBack, TriesTheServersHostForNodesOnIt) {
  EXPECT_TRUE(may("127.0.0.1", 50000, "127.0.0.1"));
  EXPECT_TRUE(may("127.0.0.1", 50000, "::ffff:127.0.0.1"));
  EXPECT_TRUE(may("203.0.113.1", 50000, "127.0.0.1"));
  EXPECT_TRUE(may("127.0.0.2", 50000, "203.0.113.1"));
  EXPECT_TRUE(may("169.254.1.1", 50000, "169.254.1.1"));
}

TEST(DialBack, NeedsTheAddressOfOneHost) {
  for (const char* bad : {"0.0.0.0", "224.0.0.1", "255.255.255.255", "ff02::1", "host", ""}) {
    const auto choice = may_dial_back({bad, 50000, false, ""}, {"198.18.0.1", kServer, {}});
    EXPECT_FALSE(choice.dial) << bad;
    EXPECT_FALSE(choice.reason.empty());
  }
}

TEST(DialBack, TriesTheNetworkThatTheNodeIsSeenInAndNoOther) {
  EXPECT_TRUE(may("198.18.0.1", 50000, "198.18.0.1"));
  EXPECT_TRUE(may("198.18.0.255", 50000, "198.18.0.1"));
  EXPECT_TRUE(may("198.18.0.7", 50000, "::ffff:198.18.0.1")) << "a mapped address is its IPv4 address";
  EXPECT_TRUE(may("::ffff:198.18.0.7", 50000, "198.18.0.1"));
  EXPECT_FALSE(may("198.18.1.1", 50000, "198.18.0.1"));
  EXPECT_TRUE(may("2001:db8:1:2ff::9", 50000, "2001:db8:1:200::1"));
  EXPECT_FALSE(may("2001:db8:1:300::9", 50000, "2001:db8:1:200::1"));
  EXPECT_FALSE(may("2001:db8:1:200::9", 50000, "198.18.0.1")) << "seen at IPv4 alone";
  EXPECT_FALSE(may("198.18.0.1", 50000, ""));
  EXPECT_FALSE(may("198.18.0.1", 50000, "fd:8"));
}

TEST(DialBack, OfANodeBehindNatTriesOnlyItsOutside) {
  EXPECT_FALSE(may("10.0.0.5", 50000, "198.18.0.1"));
  EXPECT_FALSE(may("192.168.1.5", 50000, "198.18.0.1"));
  EXPECT_TRUE(may("198.18.0.1", 50000, "198.18.0.1"));
  const auto choice = may_dial_back({"10.0.0.5", 50000, false, ""}, {"198.18.0.1", kServer, {}});
  EXPECT_THAT(choice.reason, HasSubstr("--dial-back-allow"));
}

TEST(DialBack, FromTheServersHostOpensNoOtherHost) {
  EXPECT_FALSE(may("10.0.0.5", 50000, "127.0.0.1"));
  EXPECT_FALSE(may("169.254.169.254", 50000, "127.0.0.1"));
  EXPECT_TRUE(may("203.0.113.9", 50000, "203.0.113.1")) << "its own network";
}

TEST(DialBack, TriesWhatTheOperatorNamesAsWell) {
  EXPECT_TRUE(may_by("10.0.0.0/8", "10.9.8.7"));
  EXPECT_FALSE(may_by("10.0.0.0/8", "11.0.0.1"));
  EXPECT_TRUE(may_by("2001:db8:8000::/33", "2001:db8:ffff::1"));
  EXPECT_FALSE(may_by("2001:db8:8000::/33", "2001:db8:7fff::1"));
  EXPECT_TRUE(may_by("0.0.0.0/0", "11.0.0.1"));
  EXPECT_FALSE(may_by("0.0.0.0/0", "2001:db8:9::1"));
  for (const char* never : {"127.0.0.1", "203.0.113.1", "169.254.169.254", "224.0.0.1", "255.255.255.255", "0.0.0.1"}) {
    EXPECT_FALSE(may_by("0.0.0.0/0", never)) << never;
  }
  EXPECT_FALSE(may_by("::/0", "fe80::1"));
  EXPECT_FALSE(may_by("::/0", "::1"));
}

TEST(Networks, AreReadFromCidrNotation) {
  const auto in = [](const char* network, const char* address) {
    return Network::parse(network)->contains(*Address::parse(address));
  };
  EXPECT_TRUE(in("192.0.2.0/25", "192.0.2.127"));
  EXPECT_FALSE(in("192.0.2.0/25", "192.0.2.128"));
  EXPECT_TRUE(in("192.0.2.9/32", "192.0.2.9"));
  EXPECT_FALSE(in("192.0.2.9/32", "192.0.2.8"));
  EXPECT_TRUE(in("0.0.0.0/0", "255.1.2.3"));
  EXPECT_TRUE(in("2001:db8::/32", "2001:db8:ffff::"));
  EXPECT_TRUE(in("::1/128", "::1"));
  EXPECT_TRUE(in("::ffff:10.0.0.0/104", "10.1.2.3")) << "a mapped network is its IPv4 network";
  EXPECT_FALSE(in("::ffff:10.0.0.0/104", "11.1.2.3"));
}

TEST(Networks, ThatAreNoneAreRefused) {
  for (const std::string& bad : {std::string(),
                                 std::string("/"),
                                 std::string("10.0.0.0"),
                                 std::string("10.0.0.0/"),
                                 std::string("10.0.0.0/33"),
                                 std::string("10.0.0.0/-1"),
                                 std::string("10.0.0.0/+8"),
                                 std::string("10.0.0.0/ 8"),
                                 std::string("10.0.0.0/8 "),
                                 std::string("10.0.0.0/8/8"),
                                 std::string("10.0.0.0/0x8"),
                                 std::string("10.0.0.0/0008"),
                                 std::string("10.0.0.1/8"),
                                 std::string("10/8"),
                                 std::string("2001:db8::/129"),
                                 std::string("2001:db8::1/32"),
                                 std::string("fe80::%eth0/64"),
                                 std::string("::ffff:10.0.0.0/8"),
                                 std::string("host/8"),
                                 std::string("10.0.0.0/8\0", 11),
                                 std::string("10.0.0.0/99999999999999999999"),
                                 std::string(100'000, '1')}) {
    const auto refused = Network::parse(bad);
    ASSERT_FALSE(refused.ok()) << bad.substr(0, 60);
    EXPECT_EQ(refused.error().code, Code::kInvalid);
    EXPECT_LT(refused.error().message.size(), 200u);
  }
}

// Whose dial begins next

class DialTurnsTest : public testing::Test {
 protected:
  void add(const UserId& user, std::uint64_t update, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) EXPECT_TRUE(turns_.add(user, {update, i}, now_));
  }
  std::vector<std::uint64_t> next(std::size_t count) {
    std::vector<std::uint64_t> updates;
    for (std::size_t i = 0; i < count; ++i) {
      if (const auto turn = turns_.next()) updates.push_back(turn->dial.update);
    }
    return updates;
  }
  SeededRng rng_{7};
  const UserId alice_ = UserId::make({1}, rng_), bob_ = UserId::make({2}, rng_);
  DialTurns turns_{{.at_once = 5, .at_once_of_user = 3, .waiting_of_user = 4, .patience = std::chrono::seconds(2)}};
  MonoTime now_{};
};

TEST_F(DialTurnsTest, NobodyWaitsForAnothersDials) {
  add(alice_, 1, 4);
  EXPECT_THAT(next(9), testing::ElementsAre(1, 1, 1)) << "her places, and no more";
  add(bob_, 2, 1);
  EXPECT_THAT(next(9), testing::ElementsAre(2));
  turns_.ended(alice_);
  EXPECT_THAT(next(9), testing::ElementsAre(1));
}

TEST_F(DialTurnsTest, UsersTakeTurnsAtThePlaces) {
  add(alice_, 1, 4);
  add(bob_, 2, 4);
  EXPECT_THAT(next(9), testing::UnorderedElementsAre(1, 1, 1, 2, 2)) << "five at once";
  EXPECT_FALSE(turns_.next());
  turns_.ended(alice_);
  turns_.ended(alice_);
  EXPECT_THAT(next(9), testing::UnorderedElementsAre(1, 2));
}

TEST_F(DialTurnsTest, TooManyOfOneUserAreNotTaken) {
  add(alice_, 1, 4);
  EXPECT_FALSE(turns_.add(alice_, {1, 4}, now_));
  EXPECT_TRUE(turns_.add(bob_, {2, 0}, now_));
}

TEST_F(DialTurnsTest, WhatWaitedForLongIsGivenUp) {
  add(alice_, 1, 4);
  EXPECT_THAT(next(3), SizeIs(3));
  EXPECT_EQ(turns_.next_expiry(), now_ + std::chrono::seconds(2));
  EXPECT_THAT(turns_.expire(now_ + std::chrono::milliseconds(1999)), IsEmpty());
  EXPECT_THAT(turns_.expire(now_ + std::chrono::seconds(2)), testing::ElementsAre(Dial{1, 3}));
  EXPECT_FALSE(turns_.next_expiry());
  for (int i = 0; i < 3; ++i) turns_.ended(alice_);
  EXPECT_FALSE(turns_.next());
}

TEST(DialBack, IsBoundedPerNodeAndMinute) {
  SeededRng rng(5);
  const NodeId one = NodeId::make({1}, rng);
  const NodeId two = NodeId::make({1}, rng);
  DialBackBudget budget;
  const MonoTime start{};
  EXPECT_EQ(budget.take(one, 60, start), 60u);
  EXPECT_EQ(budget.take(one, 60, start + std::chrono::seconds(30)), 4u);
  EXPECT_EQ(budget.take(one, 1, start + std::chrono::seconds(59)), 0u);
  EXPECT_EQ(budget.take(two, 1, start + std::chrono::seconds(59)), 1u);
  EXPECT_EQ(budget.take(one, 100, start + std::chrono::seconds(60)), 60u);
  for (int i = 0; i < 1100; ++i) (void)budget.take(NodeId::make({i}, rng), 1, start);
  EXPECT_EQ(budget.take(two, 100, start + std::chrono::seconds(200)), 64u) << "old entries are swept, not mixed up";
}

// Whom a node is told of

class Selection : public testing::Test {
 protected:
  Peer peer(bool wants, bool complete, Reachability reachability = Reachability::kReachable) {
    Peer made;
    made.node = NodeId::make({1}, rng_);
    made.wants_data = wants;
    made.complete = complete;
    made.reachability = reachability;
    return made;
  }
  std::vector<Peer> peers(std::size_t count, bool wants, bool complete,
                          Reachability reachability = Reachability::kReachable) {
    std::vector<Peer> made;
    for (std::size_t i = 0; i < count; ++i) made.push_back(peer(wants, complete, reachability));
    return made;
  }
  std::vector<Peer> select(const Peer& requester, const std::vector<Peer>& candidates) {
    return select_peers(requester, candidates, limits_, rng_);
  }
  static std::vector<Peer> of(const UserId& owner, std::vector<Peer> peers) {
    for (Peer& peer : peers) peer.owner = owner;
    return peers;
  }
  static std::size_t complete_in(const std::vector<Peer>& peers) {
    return static_cast<std::size_t>(
        std::count_if(peers.begin(), peers.end(), [](const Peer& p) { return p.complete; }));
  }
  static std::vector<Peer> both(std::vector<Peer> a, const std::vector<Peer>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
  SeededRng rng_{11};
  SelectionLimits limits_;
};

TEST_F(Selection, NeverGivesANodeToItself) {
  const Peer me = peer(true, false);
  EXPECT_THAT(select(me, {me}), IsEmpty());
}

TEST_F(Selection, SeedersAreNotToldOfSeeders) {
  EXPECT_THAT(select(peer(false, true), peers(5, false, true)), IsEmpty());
  EXPECT_FALSE(concerns(peer(false, true), peer(false, true)));
}

TEST_F(Selection, ASeederGetsThoseWhoWantData) {
  const auto wanting = peers(3, true, false, Reachability::kUnreachable);
  EXPECT_THAT(select(peer(false, true, Reachability::kUnreachable), both(wanting, peers(4, false, true))), SizeIs(3));
}

TEST_F(Selection, WhoWantsDataGetsCompleteAndIncompleteMixed) {
  const auto chosen = select(peer(true, false), both(peers(100, false, true), peers(100, true, false)));
  EXPECT_THAT(chosen, SizeIs(50));
  EXPECT_EQ(complete_in(chosen), 25u);
}

TEST_F(Selection, RoomIsFilledWithWhatThereIs) {
  EXPECT_EQ(complete_in(select(peer(true, false), both(peers(100, false, true), peers(3, true, false)))), 47u);
  EXPECT_EQ(complete_in(select(peer(true, false), both(peers(3, false, true), peers(100, true, false)))), 3u);
  limits_.max_peers = 12;
  EXPECT_EQ(complete_in(select(peer(true, false), both(peers(30, false, true), peers(30, true, false)))), 10u);
}

TEST_F(Selection, ANodeThatCannotBeDialledGetsThoseItCanDialFirst) {
  limits_.max_peers = 10;
  const auto candidates = both(peers(20, false, true, Reachability::kUnreachable), peers(4, false, true));
  const auto chosen = select(peer(true, false, Reachability::kUnreachable), candidates);
  ASSERT_THAT(chosen, SizeIs(10));
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(chosen[i].reachability, Reachability::kReachable);
}

TEST_F(Selection, WhoWasNotTriedCountsAsReachable) {
  limits_.max_peers = 10;
  const auto untried = peers(4, false, true, Reachability::kUnknown);
  const auto chosen = select(peer(true, false, Reachability::kUnreachable),
                             both(peers(20, false, true, Reachability::kUnreachable), untried));
  ASSERT_THAT(chosen, SizeIs(10));
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(chosen[i].reachability, Reachability::kUnknown);
}

TEST_F(Selection, TwoThatCannotReachEachOtherAreStillTold) {
  EXPECT_THAT(select(peer(true, false, Reachability::kUnreachable), peers(1, false, true, Reachability::kUnreachable)),
              SizeIs(1));
}

TEST_F(Selection, TheManyNodesOfOneOwnerLeaveRoomForThoseOfOthers) {
  for (const Reachability reachability : {Reachability::kReachable, Reachability::kUnreachable}) {
    for (const bool complete : {true, false}) {
      const auto many = of(UserId::make({1}, rng_), peers(400, !complete, complete));
      const auto one = of(UserId::make({1}, rng_), peers(1, !complete, complete));
      const auto few = of(UserId::make({1}, rng_), peers(3, !complete, complete, Reachability::kUnreachable));
      const auto chosen = select(peer(true, false, reachability), both(both(many, one), few));
      EXPECT_THAT(chosen, SizeIs(50));
      EXPECT_THAT(chosen, testing::IsSupersetOf(both(one, few)));
    }
  }
}

TEST_F(Selection, WhatOthersDoNotNeedIsForOneOwnersManyNodes) {
  const UserId alice = UserId::make({1}, rng_);
  EXPECT_THAT(select(peer(true, false), of(alice, peers(200, false, true))), SizeIs(50));
  EXPECT_THAT(select(peer(true, false), of(alice, both(peers(20, false, true), peers(20, true, false)))), SizeIs(40));
}

TEST_F(Selection, SpreadsTheLoad) {
  const auto seeders = peers(200, false, true);
  std::set<NodeId> seen;
  for (int i = 0; i < 60; ++i) {
    for (const Peer& p : select(peer(true, false), seeders)) seen.insert(p.node);
  }
  EXPECT_EQ(seen.size(), 200u);
}

// Tasks

Task queued() {
  Task task;
  task.created = {1000};
  task.updated = {1000};
  return task;
}
Task in_state(TaskState state) {
  Task task = queued();
  task.state = state;
  return task;
}

TEST(TaskStates, TheFirstEndWins) {
  for (const auto end : {TaskState::kDone, TaskState::kFailed, TaskState::kCancelled, TaskState::kUnsupported}) {
    const Task ended = in_state(end);
    EXPECT_EQ(apply_report(ended, {TaskId(), TaskState::kRunning, 1, 2, "", "", ""}, {9}), ended);
    EXPECT_EQ(apply_report(ended, {TaskId(), TaskState::kDone, 1, 2, "{}", "", ""}, {9}), ended);
    EXPECT_EQ(apply_cancel(ended, {9}), ended);
    EXPECT_EQ(apply_ack(ended, {9}), ended);
    EXPECT_EQ(apply_expiry(ended, WallTime{1000} + kTaskLifetime), ended);
  }
}

TEST(TaskStates, ReportsMoveItOn) {
  const Task running = apply_report(queued(), {TaskId(), TaskState::kDelivered, 1, 2, "", "", ""}, {2000});
  EXPECT_EQ(running.state, TaskState::kRunning);
  EXPECT_EQ(running.updated, WallTime{2000});
  EXPECT_EQ(apply_report(running, {TaskId(), TaskState::kRunning, 1, 2, "", "", ""}, {3000}), running) << "nothing new";
  const Task failed = apply_report(running, {TaskId(), TaskState::kFailed, 1, 2, "", "disk", "full"}, {3000});
  EXPECT_EQ(failed.state, TaskState::kFailed);
  EXPECT_EQ(failed.error_message, "full");
}

TEST(TaskStates, CancellingWhatNobodySawEndsIt) {
  EXPECT_EQ(apply_cancel(queued(), {2000}).state, TaskState::kCancelled);
  const Task asked = apply_cancel(in_state(TaskState::kRunning), {2000});
  EXPECT_EQ(asked.state, TaskState::kRunning);
  EXPECT_TRUE(asked.cancel_requested);
  EXPECT_EQ(apply_cancel(asked, {3000}), asked);
}

TEST(TaskStates, OnlyWhatWaitsExpires) {
  const WallTime late = WallTime{1000} + kTaskLifetime;
  EXPECT_EQ(apply_expiry(queued(), late).state, TaskState::kFailed);
  EXPECT_EQ(apply_expiry(queued(), late).error_code, "timeout");
  EXPECT_EQ(apply_expiry(queued(), late - std::chrono::milliseconds(1)), queued());
  EXPECT_EQ(apply_expiry(in_state(TaskState::kRunning), late), in_state(TaskState::kRunning));
}

TEST(TaskStates, AcknowledgingDeliversOnce) {
  const Task delivered = apply_ack(queued(), {2000});
  EXPECT_EQ(delivered.state, TaskState::kDelivered);
  EXPECT_EQ(apply_ack(delivered, {3000}), delivered);
  EXPECT_EQ(apply_ack(in_state(TaskState::kRunning), {3000}), in_state(TaskState::kRunning));
}

TEST(TaskStates, HaveNames) {
  for (int i = 0; i <= static_cast<int>(TaskState::kUnsupported); ++i) {
    const auto state = static_cast<TaskState>(i);
    EXPECT_EQ(*parse_task_state(task_state_name(state)), state);
  }
  EXPECT_FALSE(parse_task_state("x").ok());
}

TEST(TaskWorks, GoodOnesPass) {
  EXPECT_TRUE(check_task_work(PublishTask{"data:sub/dir", "name", "public", "", "", {}, false, ""}));
  EXPECT_TRUE(check_task_work(GetTask{kContent, "", {"*.txt"}, 16, 0, 0, -1, false}));
  EXPECT_TRUE(check_task_work(GetTask{kContent, "down", {}, 0, 0, 0, 0, false}));
  GetTask of_a_newer_node{kContent, "", {}, 0, 0, 0, 0, false};
  of_a_newer_node.tuner = "another-2";  // which tuners there are is the node's to say
  of_a_newer_node.mode = "quiet";
  of_a_newer_node.by_ms = 1;  // past
  EXPECT_TRUE(check_task_work(of_a_newer_node));
  EXPECT_TRUE(check_task_work(SeedTask{kContent, "data:..x/y"}));
  EXPECT_TRUE(check_task_work(StopSeedingTask{kContent}));
  EXPECT_TRUE(check_task_work(ListFolderTask{"data:"}));
  EXPECT_TRUE(check_task_work(ListFolderTask{""}));  // lists the roots
  EXPECT_TRUE(check_task_work(TransferTask{kTransfer, "pause"}));
}

TEST(TaskWorks, NeverLeaveANamedRoot) {
  for (const std::string& place :
       {std::string(""), std::string("/etc"), std::string(":x"), std::string("data:/etc"), std::string("data:../x"),
        std::string("data:a/../../x"), std::string("data:a/.."), std::string("data:a\0b", 8), std::string("da ta:x"),
        std::string(65, 'x'), "data:" + std::string(5000, 'x')}) {
    EXPECT_FALSE(check_task_work(SeedTask{kContent, place}));
    EXPECT_FALSE(check_task_work(PublishTask{place, "n", "public", "", "", {}, false, ""}));
    if (!place.empty()) {
      EXPECT_EQ(check_task_work(ListFolderTask{place}).error().code, Code::kInvalid) << place;
      EXPECT_FALSE(check_task_work(GetTask{kContent, place, {}, 0, 0, 0, 0, false}));
    }
  }
}

TEST(TaskWorks, BadOnesAreRefused) {
  const auto publish = [](auto change) {
    PublishTask task{"data", "name", "public", "", "", {}, false, ""};
    change(task);
    return check_task_work(task).error().code;
  };
  EXPECT_EQ(publish([](auto& t) { t.name = "a/b"; }), Code::kInvalid);
  EXPECT_EQ(publish([](auto& t) { t.access = ""; }), Code::kInvalid);
  EXPECT_EQ(publish([](auto& t) { t.access = std::string(200'000, 'x'); }), Code::kInvalid);
  EXPECT_EQ(publish([](auto& t) { t.tags = {","}; }), Code::kInvalid);
  EXPECT_EQ(publish([](auto& t) { t.description = "\xff"; }), Code::kInvalid);
  EXPECT_EQ(publish([](auto& t) { t.license = "\n"; }), Code::kInvalid);
  const auto get = [](auto change) {
    GetTask task{kContent, "", {}, 0, 0, 0, 0, false};
    change(task);
    return check_task_work(task).error().code;
  };
  EXPECT_EQ(get([](auto& t) { t.content = "name"; }), Code::kInvalid);
  EXPECT_EQ(get([](auto& t) { t.lanes = 33; }), Code::kInvalid);
  EXPECT_EQ(get([](auto& t) { t.seeders = -1; }), Code::kInvalid);
  EXPECT_EQ(get([](auto& t) { t.priority = 1001; }), Code::kInvalid);
  EXPECT_EQ(get([](auto& t) { t.globs = {""}; }), Code::kInvalid);
  EXPECT_EQ(get([](auto& t) { t.tuner = "a b"; }), Code::kInvalid);
  EXPECT_EQ(get([](auto& t) { t.tuner = std::string(65, 'a'); }), Code::kInvalid);
  EXPECT_EQ(get([](auto& t) { t.mode = "\n"; }), Code::kInvalid);
  EXPECT_EQ(get([](auto& t) { t.target_bits_per_s = ~std::uint64_t{0}; }), Code::kInvalid);
  EXPECT_EQ(get([](auto& t) { t.floor_bits_per_s = ~std::uint64_t{0}; }), Code::kInvalid);
  EXPECT_EQ(get([](auto& t) { t.by_ms = -1; }), Code::kInvalid);
  EXPECT_EQ(get([](auto& t) { t.by_ms = std::numeric_limits<std::int64_t>::max(); }), Code::kInvalid);
  EXPECT_EQ(get([](auto& t) { t.globs.resize(1001, "x"); }), Code::kInvalid);
  EXPECT_FALSE(check_task_work(SeedTask{"name", "data"}));
  EXPECT_FALSE(check_task_work(StopSeedingTask{"name"}));
  EXPECT_FALSE(check_task_work(TransferTask{kTransfer, "explode"}));
  EXPECT_FALSE(check_task_work(TransferTask{kContent, "pause"}));
}

}  // namespace
}  // namespace gridtorrent::tracker
