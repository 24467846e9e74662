#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/server_world.h"

namespace gridtorrent::tracker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;
using testing_support::code_of;
using testing_support::message_of;
using testing_support::ServerWorld;

class TrackerServices : public testing::TestWithParam<const char*> {
 protected:
  ccm::Token enroll_token(const std::string& id, std::uint32_t uses = 1, const std::string& name = "") {
    ccm::Token token;
    token.id = id;
    token.secret_hash = "h";
    token.uses_left = uses;
    token.only_name = name;
    token.expires = w.clock.wall() + std::chrono::minutes(15);
    return token;
  }
  EnrollNode enroll_with(const std::string& token, const std::string& name, const std::string& key) {
    return {w.request_id(), token, name, key, "0.1", w.node_token()};
  }
  std::vector<std::uint64_t> sequences(const NodeId& node, std::uint64_t cursor = 0) {
    std::vector<std::uint64_t> found;
    const auto tasks = w.tasks.pending(node, cursor);
    EXPECT_TRUE(tasks.ok()) << message_of(tasks);
    if (tasks.ok()) {
      for (const Task& task : *tasks) found.push_back(task.sequence);
    }
    return found;
  }
  Result<Task> list_folder(const ccm::Actor& actor, std::string_view node) {
    return w.tasks.create(actor, w.request_id(), node, ListFolderTask{"data:x"});
  }

  ServerWorld w{GetParam()};
  ccm::Actor alice = w.user("alice");
  ccm::Actor bob = w.user("bob");
};

INSTANTIATE_TEST_SUITE_P(Over, TrackerServices, testing::Values("memory", "sqlite"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(TrackerServices, AnEnrolmentTokenWorksOnce) {
  ASSERT_TRUE(w.nodes.add_enroll_token(alice, w.request_id(), enroll_token("e1")).ok());
  const auto first = w.nodes.enroll(enroll_with("e1", "lab", "key1"));
  ASSERT_TRUE(first.ok()) << message_of(first);
  EXPECT_EQ(first->node.name, "lab");
  EXPECT_EQ(first->owner.name, "alice");
  EXPECT_EQ(first->token.scopes, ccm::node_scopes());
  EXPECT_EQ(first->token.node, first->node.id);
  EXPECT_EQ(code_of(w.nodes.enroll(enroll_with("e1", "lab2", "key2"))), Code::kUnauthenticated);
  EXPECT_THAT(w.nodes.list(alice)->items, SizeIs(1));
}

TEST_P(TrackerServices, ATokenForEnrolmentOpensNoMoreThanTheOneThatMakesIt) {
  ccm::Actor narrow = alice;
  for (const ccm::Scope missing : {ccm::Scope::kContentRead, ccm::Scope::kContentPublish}) {
    narrow.scopes = ccm::Scopes(alice.scopes.bits() & ~static_cast<std::uint32_t>(missing));
    const Status refused = w.nodes.add_enroll_token(narrow, w.request_id(), enroll_token("e1"));
    EXPECT_EQ(code_of(refused), Code::kDenied);
    EXPECT_THAT(message_of(refused), HasSubstr("account, content:read and content:publish"));
  }
  narrow.scopes = {ccm::Scope::kAccount, ccm::Scope::kContentRead, ccm::Scope::kContentPublish};
  EXPECT_TRUE(w.nodes.add_enroll_token(narrow, w.request_id(), enroll_token("e1")).ok());
}

TEST_P(TrackerServices, ATaskDoesNothingThatItsMakersTokenMayNot) {
  w.node(alice, "lab");
  const std::string data = w.publish(alice, "data").id.str();
  const PublishTask publish{"data:x", "name", "public", "", "", {}, false, ""};
  const GetTask get{.content = data, .root_path = "", .globs = {}};
  const SeedTask seed{data, "data:x"};
  ccm::Actor narrow = alice;
  narrow.scopes = {ccm::Scope::kTaskWrite};
  for (const TaskWork& work : std::vector<TaskWork>{publish, get, seed}) {
    EXPECT_EQ(code_of(w.tasks.create(narrow, w.request_id(), "lab", work)), Code::kDenied) << task_kind(work);
    EXPECT_EQ(code_of(w.tasks.create_many(narrow, w.request_id(), {"lab"}, false, work)), Code::kDenied);
  }
  EXPECT_TRUE(list_folder(narrow, "lab").ok());
  narrow.scopes = {ccm::Scope::kTaskWrite, ccm::Scope::kContentRead};
  EXPECT_THAT(message_of(w.tasks.create(narrow, w.request_id(), "lab", publish)), HasSubstr("content:publish"));
  EXPECT_TRUE(w.tasks.create(narrow, w.request_id(), "lab", get).ok());
  EXPECT_TRUE(w.tasks.create(narrow, w.request_id(), "lab", seed).ok());
  narrow.scopes = {ccm::Scope::kTaskWrite, ccm::Scope::kContentPublish};
  EXPECT_TRUE(w.tasks.create(narrow, w.request_id(), "lab", publish).ok());
}

TEST_P(TrackerServices, ALostAnswerIsRepeatedForTheSameKey) {
  ASSERT_TRUE(w.nodes.add_enroll_token(alice, w.request_id(), enroll_token("e1")).ok());
  const auto first = w.nodes.enroll(enroll_with("e1", "lab", "key1"));
  const auto second = w.nodes.enroll(enroll_with("e1", "lab", "key1"));
  ASSERT_TRUE(first.ok() && second.ok()) << message_of(second);
  EXPECT_EQ(first->node.id, second->node.id);
  EXPECT_FALSE((*w.accounts.find_token(first->token.id))->token.is_good(w.clock.wall()))
      << "only the newer one is good";
  EXPECT_TRUE((*w.accounts.find_token(second->token.id))->token.is_good(w.clock.wall()));
}

TEST_P(TrackerServices, EnrolmentIsRefusedForBadTokensNamesAndKeys) {
  ASSERT_TRUE(w.nodes.add_enroll_token(alice, w.request_id(), enroll_token("e1", 1, "lab")).ok());
  EXPECT_EQ(code_of(w.nodes.enroll(enroll_with("none", "lab", "k"))), Code::kUnauthenticated);
  EXPECT_EQ(code_of(w.nodes.enroll(enroll_with("e1", "other", "k"))), Code::kDenied);
  EXPECT_EQ(code_of(w.nodes.enroll(enroll_with("e1", "Lab", "k"))), Code::kInvalid);
  EXPECT_EQ(code_of(w.nodes.enroll(enroll_with("e1", "lab", ""))), Code::kInvalid);
  auto long_version = enroll_with("e1", "lab", "k");
  long_version.program_version = std::string(65, 'v');
  EXPECT_EQ(code_of(w.nodes.enroll(long_version)), Code::kInvalid);
  w.clock.advance(std::chrono::minutes(15));
  EXPECT_EQ(code_of(w.nodes.enroll(enroll_with("e1", "lab", "k"))), Code::kUnauthenticated) << "expired";
  ASSERT_TRUE(w.nodes.add_enroll_token(alice, w.request_id(), enroll_token("e2")).ok());
  ASSERT_TRUE(w.accounts.revoke_token(alice, w.request_id(), "e2").ok());
  EXPECT_EQ(code_of(w.nodes.enroll(enroll_with("e2", "lab", "k"))), Code::kUnauthenticated) << "revoked";
  ASSERT_TRUE(w.nodes.add_enroll_token(alice, w.request_id(), enroll_token("e3")).ok());
  ASSERT_TRUE(w.accounts.disable_user(w.user("root", true), w.request_id(), "alice").ok());
  EXPECT_EQ(code_of(w.nodes.enroll(enroll_with("e3", "lab", "k"))), Code::kUnauthenticated) << "account disabled";
}

TEST_P(TrackerServices, AKeyBelongsToOneUserAndANameToOneNode) {
  w.node(alice, "lab", "the key");
  ASSERT_TRUE(w.nodes.add_enroll_token(bob, w.request_id(), enroll_token("x1")).ok());
  EXPECT_EQ(code_of(w.nodes.enroll(enroll_with("x1", "lab", "the key"))), Code::kConflict);
  EXPECT_TRUE(w.nodes.enroll(enroll_with("x1", "lab", "another key")).ok()) << "names are per owner";
  ASSERT_TRUE(w.nodes.add_enroll_token(alice, w.request_id(), enroll_token("x2")).ok());
  const auto taken = w.nodes.enroll(enroll_with("x2", "lab", "third key"));
  EXPECT_EQ(code_of(taken), Code::kConflict);
  EXPECT_THAT(message_of(taken), HasSubstr("lab"));
}

TEST_P(TrackerServices, AJobArrayEnrolsManyUnderOneToken) {
  auto token = enroll_token("e1", 3, "job");
  token.ephemeral = true;
  ASSERT_TRUE(w.nodes.add_enroll_token(alice, w.request_id(), token).ok());
  std::vector<std::string> names;
  for (int i = 0; i < 3; ++i) {
    const auto node = w.nodes.enroll(enroll_with("e1", "", "key" + std::to_string(i)));
    ASSERT_TRUE(node.ok()) << message_of(node);
    EXPECT_TRUE(node->node.ephemeral);
    names.push_back(node->node.name);
  }
  EXPECT_EQ(code_of(w.nodes.enroll(enroll_with("e1", "", "key3"))), Code::kUnauthenticated);
  EXPECT_EQ(names.at(0), "job");
  EXPECT_THAT(names.at(1), StartsWith("job-"));
  EXPECT_THAT(names.at(2), StartsWith("job-"));
  EXPECT_NE(names.at(1), names.at(2));
  ASSERT_TRUE(w.nodes.add_enroll_token(alice, w.request_id(), enroll_token("e2")).ok());
  EXPECT_THAT(w.nodes.enroll(enroll_with("e2", "", "key9"))->node.name, StartsWith("node-"));
}

TEST_P(TrackerServices, EnrolmentTokensHaveLimits) {
  EXPECT_EQ(code_of(w.nodes.add_enroll_token(alice, w.request_id(), enroll_token("e", 0))), Code::kInvalid);
  EXPECT_EQ(code_of(w.nodes.add_enroll_token(alice, w.request_id(), enroll_token("e", 100'001))), Code::kInvalid);
  EXPECT_EQ(code_of(w.nodes.add_enroll_token(alice, w.request_id(), enroll_token("e", 1, "A"))), Code::kInvalid);
  auto eternal = enroll_token("e");
  eternal.expires = w.clock.wall() + std::chrono::hours(24 * 31);
  EXPECT_EQ(code_of(w.nodes.add_enroll_token(alice, w.request_id(), eternal)), Code::kInvalid);
  const std::string id = w.request_id();
  ASSERT_TRUE(w.nodes.add_enroll_token(alice, id, enroll_token("e1")).ok());
  EXPECT_EQ(code_of(w.nodes.add_enroll_token(alice, id, enroll_token("e2"))), Code::kConflict);
}

TEST_P(TrackerServices, ARenewedCredentialLeavesTheOldOneADay) {
  const ccm::Actor node = w.node(alice, "lab");
  const auto renewed = w.nodes.renew(node, w.node_token());
  ASSERT_TRUE(renewed.ok()) << message_of(renewed);
  EXPECT_EQ(renewed->node.id, node.node);
  EXPECT_EQ((*w.accounts.find_token(node.token_id))->token.expires, w.clock.wall() + std::chrono::hours(24));
  EXPECT_EQ(code_of(w.nodes.renew(alice, w.node_token())), Code::kDenied);
}

TEST_P(TrackerServices, NodesAreTheirOwnersAlone) {
  const ccm::Actor node = w.node(alice, "lab");
  EXPECT_EQ(w.nodes.get(alice, "lab")->record.id, node.node);
  EXPECT_EQ(w.nodes.get(alice, node.node.str())->record.name, "lab");
  EXPECT_EQ(w.nodes.self(node)->record.name, "lab");
  EXPECT_EQ(code_of(w.nodes.get(bob, "lab")), Code::kNotFound);
  EXPECT_EQ(code_of(w.nodes.get(bob, node.node.str())), Code::kNotFound);
  EXPECT_EQ(code_of(w.nodes.self(alice)), Code::kDenied);
  ccm::Actor ghost = alice;
  ghost.node = NodeId::make(w.clock.wall(), w.rng);
  EXPECT_EQ(code_of(w.nodes.self(ghost)), Code::kUnauthenticated);
}

TEST_P(TrackerServices, EndpointsOutliveTheServer) {
  const ccm::Actor node = w.node(alice, "lab");
  const auto planned = w.nodes.plan_endpoints(node, {{"", 50000, false, ""}}, false, "198.18.0.5");
  ASSERT_TRUE(planned.ok()) << message_of(planned);
  auto endpoints = *planned;
  EXPECT_EQ(endpoints.at(0).endpoint.address, "198.18.0.5");
  EXPECT_EQ(code_of(w.nodes.plan_endpoints(alice, {}, false, "")), Code::kDenied);
  EXPECT_EQ(code_of(w.nodes.plan_endpoints(node, {{"x", 1, false, ""}}, false, "")), Code::kInvalid);
  endpoints[0].reachability = Reachability::kReachable;
  ASSERT_TRUE(w.nodes.set_endpoints(node, endpoints).ok());
  ASSERT_TRUE(w.nodes.set_endpoints(node, endpoints).ok());
  EXPECT_EQ(w.nodes.get(alice, "lab")->record.endpoints, endpoints);

  // A server that was started anew knows them from its store.
  Swarms swarms(w.clock, w.rng);
  NodeService restarted({w.store.tracker(), swarms, w.hub, w.audiences, w.clock, w.rng, {}});
  const auto content = w.publish(alice, "data");
  ASSERT_TRUE(restarted.announce(node, w.announce_of(content, SwarmRole::kSeeding, 1000)).ok());
  const ccm::Actor other = w.node(bob, "other");
  const auto joined = restarted.announce(other, w.announce_of(content, SwarmRole::kFetching, 0));
  ASSERT_TRUE(joined.ok()) << message_of(joined);
  ASSERT_THAT(joined->peers, SizeIs(1));
  EXPECT_EQ(joined->peers[0].endpoints, std::vector<Endpoint>{endpoints[0].endpoint});
}

TEST_P(TrackerServices, RefusedLanesAreAudited) {
  const ccm::Actor node = w.node(alice, "own"), root = w.user("root", true);
  const auto hidden = w.publish(alice, "hidden", ccm::AccessLevel::kPrivate);
  auto announce = w.announce_of(hidden, SwarmRole::kSeeding, 1000);
  announce.refused_lanes = 3;
  ASSERT_TRUE(w.nodes.announce(node, announce).ok());
  announce.refused_lanes = 0;
  ASSERT_TRUE(w.nodes.announce(node, announce).ok());
  auto records = *w.audit(root, 100);
  std::erase_if(records, [](const auto& record) { return record.action != "lane.refused"; });
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_EQ(records[0].object, hidden.id.str());
  EXPECT_EQ(records[0].actor, alice.user);
  EXPECT_EQ(records[0].outcome, "3 connections without the right");
}

TEST_P(TrackerServices, NobodyForgesRefusalsForContentThatIsHiddenFromThem) {
  const ccm::Actor stranger = w.node(bob, "strange"), root = w.user("root", true);
  const auto hidden = w.publish(alice, "hidden", ccm::AccessLevel::kPrivate);
  for (const auto role : {SwarmRole::kGone, SwarmRole::kSeeding}) {
    auto announce = w.announce_of(hidden, role, 0);
    announce.refused_lanes = std::uint64_t{1} << 63;
    static_cast<void>(w.nodes.announce(stranger, announce));
  }
  const auto records = *w.audit(root, 100);
  for (const auto& record : records) EXPECT_NE(record.action, "lane.refused");
}

TEST_P(TrackerServices, WhatANodeRefusedIsWrittenDownWhenItLeavesAndWithinReason) {
  const ccm::Actor node = w.node(alice, "own"), root = w.user("root", true);
  auto announce = w.announce_of(w.publish(alice, "hidden", ccm::AccessLevel::kPrivate), SwarmRole::kGone, 0);
  announce.refused_lanes = std::uint64_t{1} << 63;
  ASSERT_TRUE(w.nodes.announce(node, announce).ok());
  auto records = *w.audit(root, 100);
  std::erase_if(records, [](const auto& record) { return record.action != "lane.refused"; });
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_EQ(records[0].outcome, "over 1000000 connections without the right");
}

TEST_P(TrackerServices, RefusedHandshakesAreAuditedUnderTheNodeThatRefusedThem) {
  const ccm::Actor node = w.node(alice, "own"), root = w.user("root", true);
  auto announce = w.announce_of(w.publish(alice, "open"), SwarmRole::kSeeding, 1000);
  announce.refused_handshakes = 7;
  ASSERT_TRUE(w.nodes.announce(node, announce).ok());
  auto records = *w.audit(root, 100);
  std::erase_if(records, [](const auto& record) { return !record.action.ends_with(".refused"); });
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_EQ(records[0].action, "handshake.refused");
  EXPECT_EQ(records[0].object, node.node.str());
  EXPECT_EQ(records[0].outcome, "7 connections that TLS refused");
}

TEST_P(TrackerServices, AnAnnounceNeedsANodeAndARightToTheContent) {
  const ccm::Actor node = w.node(bob, "lab");
  const auto open = w.publish(alice, "open");
  const auto hidden = w.publish(alice, "hidden", ccm::AccessLevel::kPrivate);
  const auto gone = w.publish(alice, "gone");
  ASSERT_TRUE(w.contents.unpublish(alice, w.request_id(), gone.id).ok());
  const auto try_it = [&](const ccm::Actor& actor, const ccm::Content& content) {
    return w.nodes.announce(actor, w.announce_of(content, SwarmRole::kFetching, 0));
  };
  EXPECT_TRUE(try_it(node, open).ok());
  EXPECT_EQ(code_of(try_it(bob, open)), Code::kDenied);
  EXPECT_EQ(code_of(try_it(node, hidden)), Code::kNotFound);
  EXPECT_EQ(code_of(try_it(node, gone)), Code::kConflict);
  const ccm::Actor own = w.node(alice, "own");
  const auto restricted = try_it(own, hidden);
  ASSERT_TRUE(restricted.ok()) << message_of(restricted);
  EXPECT_EQ(restricted->generation, 1u);
  EXPECT_NE(restricted->audience, "");
  EXPECT_EQ(try_it(node, open)->audience, "") << "whoever is logged in may have it";
  auto wrong = w.announce_of(open, SwarmRole::kFetching, 0);
  wrong.version = 2;
  EXPECT_EQ(code_of(w.nodes.announce(node, wrong)), Code::kInvalid);
  wrong = w.announce_of(open, SwarmRole::kSeeding, 1001);
  EXPECT_EQ(code_of(w.nodes.announce(node, wrong)), Code::kInvalid);
  wrong.total_bytes = 1001;
  EXPECT_EQ(code_of(w.nodes.announce(node, wrong)), Code::kInvalid);
}

TEST_P(TrackerServices, SeedersHearOfNewcomersAtOnce) {
  const auto content = w.publish(alice, "data");
  const ccm::Actor seeder = w.node(alice, "seeder");
  const ccm::Actor leecher = w.node(bob, "leecher");
  const auto stream = w.hub.open(seeder.node, [] {});
  ASSERT_TRUE(w.nodes.announce(seeder, w.announce_of(content, SwarmRole::kSeeding, 1000)).ok());
  (void)stream->take();
  ASSERT_TRUE(w.nodes.announce(leecher, w.announce_of(content, SwarmRole::kFetching, 0)).ok());
  auto hints = stream->take().hints;
  ASSERT_THAT(hints, SizeIs(1));
  EXPECT_EQ(std::get<PeerChanged>(hints[0]).peer.node, leecher.node);
  ASSERT_TRUE(
      w.nodes.set_endpoints(leecher, {{{"198.18.0.1", 50000, false, ""}, Reachability::kUnreachable, false}}).ok());
  hints = stream->take().hints;
  ASSERT_THAT(hints, SizeIs(1)) << "and of where they listen";
  EXPECT_THAT(std::get<PeerChanged>(hints[0]).peer.endpoints, SizeIs(1));
}

TEST_P(TrackerServices, WhoLeavesIsNoReplicaAnyMore) {
  const auto content = w.publish(alice, "data");
  const ccm::Actor node = w.node(alice, "lab");
  auto partial = w.announce_of(content, SwarmRole::kSeeding, 500);
  partial.total_bytes = 500;  // only some files were wanted
  ASSERT_TRUE(w.nodes.announce(node, partial).ok());
  auto replicas = w.contents.replicas(alice, content.id)->items;
  ASSERT_THAT(replicas, SizeIs(1));
  EXPECT_FALSE(replicas[0].replica.complete) << "complete means all of the content";
  ASSERT_TRUE(w.nodes.announce(node, w.announce_of(content, SwarmRole::kGone, 0)).ok());
  EXPECT_THAT(w.contents.replicas(alice, content.id)->items, IsEmpty());
  ASSERT_TRUE(w.nodes.announce(node, w.announce_of(content, SwarmRole::kGone, 0)).ok()) << "said twice";
}

TEST_P(TrackerServices, AReplicaSaysWhenItWasVerifiedAndWhetherItIsServed) {
  const auto content = w.publish(alice, "data");
  const ccm::Actor node = w.node(alice, "lab");
  auto whole = w.announce_of(content, SwarmRole::kSeeding, 1000);
  ASSERT_TRUE(w.nodes.announce(node, whole).ok());
  EXPECT_EQ(w.contents.replicas(alice, content.id)->items[0].replica.verified, WallTime{}) << "older nodes do not say";
  whole.verified_age = std::chrono::hours(1);
  ASSERT_TRUE(w.nodes.announce(node, whole).ok());
  auto shown = w.contents.replicas(alice, content.id)->items[0];
  EXPECT_EQ(shown.replica.verified, w.clock.wall() - std::chrono::hours(1));
  EXPECT_TRUE(shown.served);
  whole.role = SwarmRole::kPaused;
  ASSERT_TRUE(w.nodes.announce(node, whole).ok());
  shown = w.contents.replicas(alice, content.id)->items[0];
  EXPECT_TRUE(shown.replica.complete);
  EXPECT_FALSE(shown.served);
}

TEST_P(TrackerServices, ANodeWasLastSeenWhenItGaveItsLastSignOfLife) {
  const ccm::Actor node = w.node(alice, "lab");
  ASSERT_TRUE(w.nodes.opened(node, "").ok());
  w.clock.advance(std::chrono::hours(30));
  EXPECT_EQ(w.nodes.get(alice, "lab")->record.last_seen, w.clock.wall()) << "it is online";
  w.nodes.closed(node.node);
  const WallTime left = w.clock.wall();
  w.clock.advance(std::chrono::hours(2));
  EXPECT_EQ(w.nodes.get(alice, "lab")->record.last_seen, left);
  ASSERT_TRUE(w.nodes.sweep().ok());
  w.swarms.forget(node.node);  // as a restart of the server does
  EXPECT_EQ(w.nodes.get(alice, "lab")->record.last_seen, left) << "it was written down";
}

TEST_P(TrackerServices, EphemeralNodesGoByThemselves) {
  auto token = enroll_token("e1", 2);
  token.ephemeral = true;
  ASSERT_TRUE(w.nodes.add_enroll_token(alice, w.request_id(), token).ok());
  const auto idle = w.nodes.enroll(enroll_with("e1", "idle", "k1"));
  const auto busy = w.nodes.enroll(enroll_with("e1", "busy", "k2"));
  w.node(alice, "lasting");
  ccm::Actor actor = alice;
  actor.node = busy->node.id;
  ASSERT_TRUE(w.nodes.opened(actor, "0.2").ok());
  EXPECT_TRUE(w.nodes.get(alice, "busy")->online);
  EXPECT_EQ(w.nodes.get(alice, "busy")->record.program_version, "0.2");
  const auto stream = w.hub.open(idle->node.id, [] {});
  w.clock.advance(NodeService::kEphemeralLifetime + std::chrono::seconds(1));
  ASSERT_TRUE(w.nodes.sweep().ok());
  std::vector<std::string> names;
  const auto left = w.nodes.list(alice);
  ASSERT_TRUE(left.ok());
  for (const auto& view : left->items) names.push_back(view.record.name);
  EXPECT_THAT(names, ElementsAre("busy", "lasting"));
  EXPECT_TRUE(stream->take().ended);
  w.nodes.closed(busy->node.id);
  EXPECT_FALSE(w.nodes.get(alice, "busy")->online);
}

TEST_P(TrackerServices, AnEphemeralNodeThatGoesLeavesTheListsOfOthersCurrent) {
  auto token = enroll_token("e1");
  token.ephemeral = true;
  ASSERT_TRUE(w.nodes.add_enroll_token(alice, w.request_id(), token).ok());
  ASSERT_TRUE(w.nodes.enroll(enroll_with("e1", "idle", "k1")).ok());
  const ccm::Actor hers = w.node(alice, "lasting"), his = w.node(bob, "his");
  ASSERT_TRUE(w.audiences.follow(hers.node, w.publish(alice, "a", ccm::AccessLevel::kPrivate)).ok());
  ASSERT_TRUE(w.audiences.follow(his.node, w.publish(bob, "b", ccm::AccessLevel::kPrivate)).ok());
  ASSERT_TRUE(w.audiences.refresh().ok());
  w.clock.advance(NodeService::kEphemeralLifetime + std::chrono::seconds(1));
  ASSERT_TRUE(w.nodes.sweep().ok());
  EXPECT_THAT(w.audiences.current(hers.node), IsEmpty());
  EXPECT_THAT(w.audiences.current(his.node), SizeIs(1));
}

TEST_P(TrackerServices, TasksAreForOnesOwnNodes) {
  const ccm::Actor node = w.node(alice, "lab");
  EXPECT_EQ(code_of(list_folder(bob, "lab")), Code::kNotFound);
  EXPECT_EQ(code_of(list_folder(bob, node.node.str())), Code::kNotFound);
  const auto made = list_folder(alice, "lab");
  ASSERT_TRUE(made.ok()) << message_of(made);
  EXPECT_EQ(made->sequence, 1u);
  EXPECT_EQ(code_of(w.tasks.get(bob, made->id)), Code::kNotFound);
  EXPECT_EQ(code_of(w.tasks.cancel(bob, w.request_id(), made->id)), Code::kNotFound);
  EXPECT_EQ(code_of(w.tasks.get(alice, TaskId::make(w.clock.wall(), w.rng))), Code::kNotFound);
  EXPECT_EQ(code_of(w.tasks.create(alice, w.request_id(), "lab", ListFolderTask{"/etc"})), Code::kInvalid);
  EXPECT_THAT(w.tasks.list(alice, "", true)->items, SizeIs(1));
  EXPECT_THAT(w.tasks.list(alice, "lab", true)->items, SizeIs(1));
  EXPECT_THAT(w.tasks.list(bob, "", true)->items, IsEmpty());
  EXPECT_EQ(code_of(w.tasks.list(bob, "lab", true)), Code::kNotFound);
}

TEST_P(TrackerServices, CreatingATaskTwiceIsDoneOnceAndWakesTheNode) {
  const ccm::Actor node = w.node(alice, "lab");
  const auto stream = w.hub.open(node.node, [] {});
  (void)stream->take();
  const std::string id = w.request_id();
  const auto first = w.tasks.create(alice, id, "lab", PublishTask{"data:x", "name", "public", "", "", {}, false, ""});
  ASSERT_TRUE(first.ok()) << message_of(first);
  EXPECT_TRUE(stream->take().tasks_waiting);
  const auto second = w.tasks.create(alice, id, "lab", ListFolderTask{"data"});
  EXPECT_EQ(second->id, first->id);
  EXPECT_THAT(sequences(node.node), ElementsAre(1));
  EXPECT_EQ(std::get<PublishTask>(first->work).request_id, first->id.str()) << "delivered twice, it publishes once";
}

TEST_P(TrackerServices, WhatCannotBeTransferredIsRefusedAtOnce) {
  w.node(bob, "lab");
  const auto hidden = w.publish(alice, "hidden", ccm::AccessLevel::kPrivate);
  const auto open = w.publish(alice, "open");
  const auto get = [&](const ccm::Content& content) {
    return w.tasks.create(bob, w.request_id(), "lab", GetTask{content.id.str(), "", {}, 0, 0, 0, 0, false});
  };
  EXPECT_EQ(code_of(get(hidden)), Code::kNotFound);
  EXPECT_TRUE(get(open).ok());
  EXPECT_EQ(code_of(w.tasks.create(bob, w.request_id(), "lab", SeedTask{hidden.id.str(), "data"})), Code::kNotFound);
}

TEST_P(TrackerServices, DeliveryGoesOnFromTheCursorAfterABreak) {
  const ccm::Actor node = w.node(alice, "lab");
  std::vector<Task> made;
  for (int i = 0; i < 4; ++i) made.push_back(*list_folder(alice, "lab"));
  EXPECT_THAT(sequences(node.node), ElementsAre(1, 2, 3, 4));
  ASSERT_TRUE(w.tasks.ack(node, 2).ok());
  ASSERT_TRUE(w.tasks.ack(node, 1).ok()) << "late and repeated ones do no harm";
  EXPECT_EQ(w.nodes.get(alice, "lab")->record.acked_sequence, 2u);
  EXPECT_EQ(w.tasks.get(alice, made[1].id)->state, TaskState::kDelivered);
  EXPECT_EQ(w.tasks.get(alice, made[2].id)->state, TaskState::kQueued);
  EXPECT_THAT(sequences(node.node, 2), ElementsAre(3, 4));
  EXPECT_THAT(sequences(node.node, 1), ElementsAre(2, 3, 4)) << "a node that lost its state asks again";
  EXPECT_EQ(code_of(w.tasks.ack(node, 5)), Code::kInvalid);
  EXPECT_EQ(code_of(w.tasks.ack(alice, 1)), Code::kDenied);
}

TEST_P(TrackerServices, ReportsReachWhoWatches) {
  const ccm::Actor node = w.node(alice, "lab");
  const auto task = *list_folder(alice, "lab");
  int changes = 0;
  w.task_hub.watch(task.id, [&] { ++changes; });
  TaskReport report{task.id, TaskState::kRunning, 5, 10, "", "", ""};
  ASSERT_TRUE(w.tasks.report(node, report).ok());
  ASSERT_TRUE(w.tasks.report(node, report).ok());
  EXPECT_EQ(changes, 1) << "a repeated report is no news";
  report.state = TaskState::kDone;
  report.result_json = R"({"entries":[]})";
  ASSERT_TRUE(w.tasks.report(node, report).ok());
  EXPECT_EQ(changes, 2);
  report.state = TaskState::kFailed;
  EXPECT_EQ(w.tasks.report(node, report)->state, TaskState::kDone) << "the first end wins";
  EXPECT_EQ(w.tasks.get(alice, task.id)->result_json, report.result_json);
  EXPECT_THAT(sequences(node.node), IsEmpty());
  EXPECT_THAT(w.tasks.list(alice, "", false)->items, IsEmpty());
}

TEST_P(TrackerServices, ReportsAreTheNodesOwnAndBounded) {
  const ccm::Actor node = w.node(alice, "lab");
  const ccm::Actor other = w.node(alice, "other");
  const auto task = *list_folder(alice, "lab");
  TaskReport report{task.id, TaskState::kRunning, 0, 0, "", "", ""};
  EXPECT_EQ(code_of(w.tasks.report(other, report)), Code::kNotFound);
  EXPECT_EQ(code_of(w.tasks.report(alice, report)), Code::kDenied);
  report.state = TaskState::kQueued;
  EXPECT_EQ(code_of(w.tasks.report(node, report)), Code::kInvalid);
  report.state = TaskState::kDone;
  report.result_json = std::string(kMaxResultBytes + 1, ' ');
  EXPECT_EQ(code_of(w.tasks.report(node, report)), Code::kInvalid);
  report.result_json = "";
  report.error_message = "\xff";
  EXPECT_EQ(code_of(w.tasks.report(node, report)), Code::kInvalid);
}

TEST_P(TrackerServices, CancellingReachesTheNodeHoweverItIsConnected) {
  const ccm::Actor node = w.node(alice, "lab");
  const auto waiting = *list_folder(alice, "lab");
  const auto running = *list_folder(alice, "lab");
  ASSERT_TRUE(w.tasks.report(node, {running.id, TaskState::kRunning, 0, 0, "", "", ""}).ok());
  const auto stream = w.hub.open(node.node, [] {});
  EXPECT_EQ(w.tasks.cancel(alice, w.request_id(), waiting.id)->state, TaskState::kCancelled);
  const auto asked = w.tasks.cancel(alice, w.request_id(), running.id);
  EXPECT_EQ(asked->state, TaskState::kRunning);
  EXPECT_TRUE(asked->cancel_requested);
  ASSERT_TRUE(w.tasks.cancel(alice, w.request_id(), running.id).ok());
  EXPECT_THAT(stream->take().hints, SizeIs(2));
  EXPECT_THAT(*w.tasks.cancel_requested(node.node), ElementsAre(running.id)) << "for a stream that opens later";
  EXPECT_TRUE(w.tasks.report(node, {running.id, TaskState::kRunning, 1, 2, "", "", ""})->cancel_requested);
  ASSERT_TRUE(w.tasks.report(node, {running.id, TaskState::kCancelled, 1, 2, "", "", ""}).ok());
  EXPECT_THAT(*w.tasks.cancel_requested(node.node), IsEmpty());
  EXPECT_THAT(sequences(node.node), IsEmpty());
  EXPECT_EQ(list_folder(alice, "lab")->sequence, 3u) << "no gap, no reuse";
}

TEST_P(TrackerServices, TasksThatNobodyTakesExpireAndAreForgotten) {
  w.node(alice, "lab");
  const auto task = *list_folder(alice, "lab");
  int changes = 0;
  w.task_hub.watch(task.id, [&] { ++changes; });
  w.clock.advance(kTaskLifetime);
  ASSERT_TRUE(w.tasks.sweep().ok());
  EXPECT_EQ(w.tasks.get(alice, task.id)->state, TaskState::kQueued);
  w.clock.advance(std::chrono::seconds(1));
  ASSERT_TRUE(w.tasks.sweep().ok());
  EXPECT_EQ(w.tasks.get(alice, task.id)->error_code, "timeout");
  EXPECT_EQ(changes, 1);
  w.clock.advance(kEndedTaskLifetime + std::chrono::seconds(1));
  ASSERT_TRUE(w.tasks.sweep().ok());
  EXPECT_EQ(code_of(w.tasks.get(alice, task.id)), Code::kNotFound);
}

TEST_P(TrackerServices, AUsedUpTokenIsRefusedAndNothingIsWritten) {
  ASSERT_TRUE(w.nodes.add_enroll_token(alice, w.request_id(), enroll_token("e1")).ok());
  ASSERT_TRUE(w.nodes.enroll(enroll_with("e1", "", "k1")).ok());
  (void)w.store.take_statements();
  EXPECT_EQ(code_of(w.nodes.enroll(enroll_with("e1", "", "k2"))), Code::kUnauthenticated);
  for (const std::string& statement : w.store.take_statements()) {
    EXPECT_TRUE(statement.starts_with("SELECT")) << statement;
  }
}

TEST_P(TrackerServices, ANodeThatEnrolsAgainAndAgainHasToWait) {
  ccm::Token token = enroll_token("e1");
  token.expires = w.clock.wall() + std::chrono::hours(3);
  ASSERT_TRUE(w.nodes.add_enroll_token(alice, w.request_id(), token).ok());
  const auto enroll = [&] { return w.nodes.enroll(enroll_with("e1", "", "k1")); };
  const auto first = enroll();
  ASSERT_TRUE(first.ok());
  for (int i = 1; i < 10; ++i) {
    const auto again = enroll();
    ASSERT_TRUE(again.ok()) << "the answer may have been lost, or the credential";
    EXPECT_EQ(again->node.id, first->node.id);
  }
  const std::size_t records = w.audit(w.user("root", true), 1000)->size();
  (void)w.store.take_statements();
  EXPECT_EQ(code_of(enroll()), Code::kBusy);
  for (const std::string& statement : w.store.take_statements()) {
    EXPECT_TRUE(statement.starts_with("SELECT")) << statement;
  }
  EXPECT_EQ(w.audit(w.user("root", true), 1000)->size(), records + 1) << "of reading the records alone";
  w.clock.advance(std::chrono::hours(1) + std::chrono::seconds(1));
  EXPECT_TRUE(enroll().ok());
}

TEST_P(TrackerServices, TasksFillTheQuotaOnlyUntilTheyEnd) {
  const ccm::Actor root = w.user("root", true);
  const ccm::Actor node = w.node(alice, "n1");
  ASSERT_TRUE(w.accounts.change_quotas(root, w.request_id(), "alice", {{ccm::Quota::kTasks, 2}}).ok());
  const auto create = [&] { return list_folder(alice, "n1"); };
  const auto first = create(), second = create();
  ASSERT_TRUE(first.ok() && second.ok());
  const auto refused = create();
  EXPECT_EQ(code_of(refused), Code::kExhausted);
  EXPECT_THAT(refused.error().message, HasSubstr("allows 2 tasks: 2 not ended, 1 asked for; cancel some"));
  const auto used = [&] { return w.accounts.quotas(alice, "")->at(static_cast<std::size_t>(ccm::Quota::kTasks)).used; };
  EXPECT_EQ(used(), 2u);

  TaskReport done;
  done.task = second->id;
  done.state = TaskState::kDone;
  ASSERT_TRUE(w.tasks.ack(node, 2).ok());
  ASSERT_TRUE(w.tasks.report(node, done).ok());
  ASSERT_TRUE(create().ok()) << "what has ended makes room";
  EXPECT_EQ(code_of(w.tasks.get(alice, second->id)), Code::kNotFound);
  EXPECT_TRUE(w.tasks.get(alice, first->id).ok());
  EXPECT_EQ(used(), 2u);
  EXPECT_EQ(code_of(create()), Code::kExhausted);
}

TEST_P(TrackerServices, ATaskThatAChangeOfContentMadeIsInNobodysQuota) {
  const ccm::Actor node = w.node(alice, "n1");
  const ccm::Content content = w.publish(alice, "data");
  Announce announce;
  announce.content = content.id;
  announce.version = content.version;
  announce.role = SwarmRole::kSeeding;
  announce.verified_bytes = announce.total_bytes = content.bytes;
  ASSERT_TRUE(w.nodes.announce(node, announce).ok());
  ASSERT_TRUE(w.contents.unpublish(alice, w.request_id(), content.id).ok());
  ASSERT_EQ(w.tasks.list(alice, "", false)->items.size(), 1u);
  EXPECT_EQ(w.accounts.quotas(alice, "")->at(static_cast<std::size_t>(ccm::Quota::kTasks)).used, 0u);
}

}  // namespace
}  // namespace gridtorrent::tracker
