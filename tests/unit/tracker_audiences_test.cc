#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/server_world.h"

namespace gridtorrent::tracker {
namespace {

using ccm::AccessLevel;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;
using testing_support::message_of;
using testing_support::ServerWorld;

class AudiencesOver : public testing::TestWithParam<const char*> {
 protected:
  ccm::Content shared(const std::string& name, std::vector<std::string> users) {
    ccm::BeginPublish begin;
    begin.request_id = w.request_id();
    begin.name = name;
    begin.access = {AccessLevel::kShared, {}, std::move(users), false};
    const auto ticket = w.contents.begin_publish(alice, begin);
    EXPECT_TRUE(ticket.ok()) << message_of(ticket);
    const auto finished = w.contents.finish_publish(alice, w.finish_of(ticket->content));
    EXPECT_TRUE(finished.ok()) << message_of(finished);
    return finished->content;
  }
  AudiencePtr follow(const ccm::Actor& node, const ccm::Content& content) {
    const auto audience = w.audiences.follow(node.node, content);
    EXPECT_TRUE(audience.ok()) << message_of(audience);
    return *audience;
  }
  static std::vector<NodeId> nodes(const AudiencePtr& audience) {
    std::vector<NodeId> members;
    for (const auto& [print, node] : audience->members) members.push_back(node);
    return members;
  }

  ServerWorld w{GetParam()};
  ccm::Actor alice = w.user("alice"), bob = w.user("bob"), carol = w.user("carol");
  ccm::Actor alices = w.node(alice, "a1"), bobs = w.node(bob, "b1"), carols = w.node(carol, "c1");
};
INSTANTIATE_TEST_SUITE_P(Stores, AudiencesOver, testing::Values("memory", "sqlite"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(AudiencesOver, HaveTheNodesOfTheEntitledAndNoOthers) {
  EXPECT_THAT(nodes(follow(alices, w.publish(alice, "own", AccessLevel::kPrivate))), ElementsAre(alices.node));
  EXPECT_THAT(nodes(follow(alices, shared("for bob", {"bob"}))), UnorderedElementsAre(alices.node, bobs.node));
}

TEST_P(AudiencesOver, OfTheSameOwnerAndAccessAreOne) {
  const auto one = shared("one", {"bob", "carol"});
  const auto two = shared("two", {"carol", "bob", "bob"});
  EXPECT_EQ(follow(alices, one), follow(bobs, two));
  EXPECT_NE(follow(alices, shared("three", {"bob"})), follow(alices, one));
  EXPECT_EQ(w.audiences.count(), 2U);
}

TEST_P(AudiencesOver, ANodeIsWokenForANewOneAndNotForEachContent) {
  const auto one = shared("one", {"bob"}), two = shared("two", {"bob"});
  int woken = 0;
  const auto stream = w.hub.open(bobs.node, [&] { ++woken; });
  (void)stream->take();
  follow(bobs, one);
  EXPECT_EQ(woken, 1);
  EXPECT_TRUE(stream->take().audiences_waiting);
  follow(bobs, one);
  follow(bobs, two);
  EXPECT_EQ(woken, 1);
  EXPECT_THAT(w.audiences.of_node(bobs.node), SizeIs(1));
}

TEST_P(AudiencesOver, ANewNodeIsToldToThoseWhoFollowAndToNobodyElse) {
  const auto mine = follow(alices, w.publish(alice, "own", AccessLevel::kPrivate));
  const auto other = follow(carols, w.publish(carol, "hers", AccessLevel::kPrivate));
  ASSERT_TRUE(w.audiences.refresh().ok());
  EXPECT_TRUE(w.audiences.settled());
  int woken = 0, others = 0;
  const auto stream = w.hub.open(alices.node, [&] { ++woken; });
  const auto hers = w.hub.open(carols.node, [&] { ++others; });
  (void)stream->take();
  (void)hers->take();
  const auto second = w.node(alice, "a2");
  EXPECT_FALSE(w.audiences.settled()) << "enrolling rings";
  ASSERT_TRUE(w.audiences.refresh().ok());
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(others, 0);
  const auto now = w.audiences.of_node(alices.node);
  ASSERT_THAT(now, SizeIs(1));
  EXPECT_EQ(now[0]->id, mine->id);
  EXPECT_GT(now[0]->version, mine->version);
  EXPECT_THAT(nodes(now[0]), UnorderedElementsAre(alices.node, second.node));
  EXPECT_THAT(w.audiences.of_node(carols.node), ElementsAre(other));
}

TEST_P(AudiencesOver, WhoIsOutIsToldOfEachContentAndTheOthersOfTheList) {
  const ccm::Actor root = w.user("root", true);
  const auto one = shared("one", {"bob"}), two = shared("two", {"bob"});
  follow(alices, one);
  follow(bobs, one);
  follow(bobs, two);
  ASSERT_TRUE(w.audiences.refresh().ok());
  const auto stream = w.hub.open(bobs.node, [] {});
  (void)stream->take();
  ASSERT_TRUE(w.accounts.disable_user(root, w.request_id(), "bob").ok());
  ASSERT_TRUE(w.audiences.refresh().ok());
  std::vector<ContentId> told;
  for (const NodeHint& hint : stream->take().hints) told.push_back(std::get<ContentChanged>(hint).content);
  EXPECT_THAT(told, UnorderedElementsAre(one.id, two.id));
  EXPECT_THAT(nodes(w.audiences.of_node(alices.node).at(0)), ElementsAre(alices.node));
}

TEST_P(AudiencesOver, ANodeWhoseCredentialWasRevokedIsOut) {
  const auto one = shared("one", {"bob"});
  follow(alices, one);
  ASSERT_TRUE(w.audiences.refresh().ok());
  ASSERT_TRUE(w.accounts.revoke_token(bob, w.request_id(), bobs.token_id).ok());
  EXPECT_FALSE(w.audiences.settled());
  ASSERT_TRUE(w.audiences.refresh().ok());
  EXPECT_THAT(nodes(w.audiences.of_node(alices.node).at(0)), ElementsAre(alices.node));
}

TEST_P(AudiencesOver, AreForgottenWithTheirLastFollower) {
  const auto one = shared("one", {"bob"});
  const auto first = follow(alices, one);
  follow(bobs, one);
  w.audiences.leave(alices.node, one.id);
  w.audiences.leave(alices.node, one.id);
  EXPECT_THAT(w.audiences.of_node(alices.node), IsEmpty());
  EXPECT_EQ(w.audiences.count(), 1U);
  w.audiences.forget(bobs.node);
  EXPECT_EQ(w.audiences.count(), 0U);
  EXPECT_NE(follow(alices, one)->id, first->id) << "nobody can know that the old one still holds";
}

TEST_P(AudiencesOver, AContentMovesToAnotherWithItsAccess) {
  auto content = shared("one", {"bob"});
  const auto before = follow(alices, content);
  const auto changed =
      w.contents.set_access(alice, w.request_id(), content.id, {AccessLevel::kShared, {}, {"carol"}, false});
  ASSERT_TRUE(changed.ok()) << message_of(changed);
  const auto after = follow(alices, changed->content);
  EXPECT_NE(after->id, before->id);
  EXPECT_THAT(nodes(after), UnorderedElementsAre(alices.node, carols.node));
  EXPECT_EQ(w.audiences.count(), 1U) << "nobody follows the old one";
}

/// Found by AccessProperty with GT_SEED=149103: the nodes that followed had not been heard of since.
TEST_P(AudiencesOver, AListOfBuddiesCountsThatChangedWhileNothingWasSharedWithThem) {
  auto content = shared("one", {"bob"});
  const auto set = [&](const ccm::Access& access) {
    const auto changed = w.contents.set_access(alice, w.request_id(), content.id, access);
    ASSERT_TRUE(changed.ok()) << message_of(changed);
    content = changed->content;
  };
  ASSERT_TRUE(w.buddies.add(alice, w.request_id(), "bob").ok());
  set({AccessLevel::kShared, {}, {}, true});
  follow(alices, content);
  set({AccessLevel::kPrivate, {}, {}, false});
  ASSERT_TRUE(w.buddies.remove(alice, w.request_id(), "bob").ok());
  ASSERT_TRUE(w.buddies.add(alice, w.request_id(), "carol").ok());
  set({AccessLevel::kShared, {}, {}, true});
  ASSERT_TRUE(w.audiences.refresh().ok());
  EXPECT_THAT(nodes(follow(alices, content)), UnorderedElementsAre(alices.node, carols.node)) << "and not bob's";
}

}  // namespace
}  // namespace gridtorrent::tracker
