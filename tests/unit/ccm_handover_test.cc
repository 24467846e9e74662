#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/server_world.h"

namespace gridtorrent::ccm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing_support::code_of;
using testing_support::message_of;
using testing_support::ServerWorld;

Access shared(std::vector<std::string> users, bool buddies = false) {
  Access access;
  access.level = AccessLevel::kShared;
  access.users = std::move(users);
  access.buddies = buddies;
  return access;
}

TEST(AccessAfterHandover, NeverOpensToAnybodyNewButTheOwnersBeforeAndAfter) {
  Access everybody;
  everybody.level = AccessLevel::kPublic;
  EXPECT_EQ(access_after_handover(everybody, "alice", true, "bob"), everybody);

  const Access after_private = access_after_handover(Access{}, "alice", true, "bob");
  EXPECT_EQ(after_private, shared({"alice"})) << "her nodes serve it until his have it";
  EXPECT_EQ(access_after_handover(Access{}, "alice", false, "bob"), Access{}) << "her account is disabled";
  EXPECT_EQ(access_after_handover(shared({"bob", "carol"}), "alice", true, "bob"), shared({"alice", "carol"}));
  EXPECT_EQ(access_after_handover(shared({}, true), "alice", false, "bob"), Access{})
      << "his buddies are not hers: the list is no target any more";

  std::vector<std::string> crowd;
  for (std::size_t i = 0; i < kMaxAccessTargets; ++i) crowd.push_back("u" + std::to_string(10'000 + i));
  EXPECT_TRUE(check_access_form(access_after_handover(shared(crowd), "alice", true, "bob")).ok());
}

class Handovers : public testing::TestWithParam<const char*> {
 protected:
  Result<Offer> offer(const Actor& by, const std::string& content, const std::string& to) {
    return w.handovers.offer(by, {w.request_id(), content, to, ""});
  }
  Result<Offer> accept(const Actor& who, const std::string& content, const std::string& name = "") {
    return w.handovers.accept(who, w.request_id(), content, name);
  }
  std::vector<NoticeKind> news_of(const Actor& who) {
    std::vector<NoticeKind> kinds;
    const auto inbox = w.inbox.read(who);
    for (const Notice& notice : inbox->notices) kinds.push_back(notice.kind);
    return kinds;
  }
  Content now(const ContentId& id, const Actor& who) { return w.contents.get(who, id.str())->content; }

  ServerWorld w{GetParam()};
  Actor root = w.user("root", true);
  Actor alice = w.user("alice"), bob = w.user("bob"), carol = w.user("carol");
  Content data = w.publish(alice, "data", AccessLevel::kPrivate);
};

INSTANTIATE_TEST_SUITE_P(Over, Handovers, testing::Values("memory", "sqlite"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(Handovers, OnlyTheOwnerOffersAndOnlyWhoIsAskedAccepts) {
  const auto strangers = offer(bob, data.id.str(), "bob");
  EXPECT_EQ(code_of(strangers), Code::kNotFound) << "bob does not see it";
  EXPECT_EQ(message_of(strangers), missing_content(data.id.str()).message);
  EXPECT_EQ(code_of(offer(root, "alice/data", "bob")), Code::kNotFound) << "an administrator, neither";
  EXPECT_EQ(code_of(offer(alice, "data", "nobody")), Code::kNotFound);
  EXPECT_EQ(code_of(offer(alice, "data", "alice")), Code::kConflict);
  EXPECT_EQ(code_of(accept(bob, "data")), Code::kNotFound) << "nothing is offered";

  ASSERT_TRUE(offer(alice, "data", "bob").ok());
  EXPECT_EQ(code_of(accept(carol, data.id.str())), Code::kNotFound);
  EXPECT_EQ(code_of(accept(alice, data.id.str())), Code::kNotFound);
  const auto other = offer(alice, "data", "carol");
  EXPECT_EQ(code_of(other), Code::kConflict);
  EXPECT_THAT(message_of(other), HasSubstr("handover withdraw alice/data"));
  EXPECT_EQ(code_of(w.contents.get(bob, data.id.str())), Code::kNotFound) << "an offer shows nothing of the content";
  EXPECT_THAT(w.inbox.read(bob)->offers, SizeIs(1));
  EXPECT_THAT(w.handovers.list(alice)->by_me, SizeIs(1));

  const auto taken = accept(bob, "alice/data");
  ASSERT_TRUE(taken.ok()) << message_of(taken);
  EXPECT_EQ(taken->owner_name + "/" + taken->content_name, "bob/data");
  const Content after = now(data.id, bob);
  EXPECT_EQ(after.owner, bob.user);
  EXPECT_EQ(after.access, shared({"alice"}));
  EXPECT_EQ(w.contents.get(alice, "bob/data")->content.id, data.id) << "her nodes may serve it";
  EXPECT_EQ(code_of(w.contents.unpublish(alice, w.request_id(), data.id)), Code::kDenied);
  EXPECT_THAT(news_of(alice), ElementsAre(NoticeKind::kOfferAccepted));
  EXPECT_THAT(w.inbox.read(bob)->offers, IsEmpty());
  EXPECT_EQ(w.audit(root, 1)->at(0).action, "handover.accept");
  EXPECT_EQ(w.audit(root, 2)->at(1).outcome, "ok: was alice/data");
}

TEST_P(Handovers, ADeclinedOrWithdrawnOfferIsGone) {
  EXPECT_EQ(code_of(w.handovers.withdraw(alice, w.request_id(), "data")), Code::kConflict) << "offered to nobody";
  ASSERT_TRUE(offer(alice, "data", "bob").ok());
  EXPECT_EQ(code_of(w.handovers.withdraw(bob, w.request_id(), data.id.str())), Code::kNotFound);
  ASSERT_TRUE(w.handovers.decline(bob, w.request_id(), "data").ok());
  EXPECT_THAT(news_of(alice), ElementsAre(NoticeKind::kOfferDeclined));
  EXPECT_EQ(code_of(accept(bob, "data")), Code::kNotFound);
  ASSERT_TRUE(offer(alice, "data", "bob").ok());
  ASSERT_TRUE(w.handovers.withdraw(alice, w.request_id(), "data").ok());
  EXPECT_EQ(code_of(accept(bob, "data")), Code::kNotFound);
  EXPECT_EQ(now(data.id, alice).owner, alice.user);
}

TEST_P(Handovers, AnOfferEndsAfterTwoWeeksOrWithItsContent) {
  ASSERT_TRUE(offer(alice, "data", "bob").ok());
  w.clock.advance(std::chrono::hours(14 * 24));
  EXPECT_EQ(code_of(accept(bob, "data")), Code::kNotFound);
  ASSERT_TRUE(offer(alice, "data", "carol").ok()) << "the one that ended is in nobody's way";
  ASSERT_TRUE(w.contents.unpublish(alice, w.request_id(), data.id).ok());
  EXPECT_THAT(w.handovers.list(carol)->to_me, IsEmpty());
  EXPECT_EQ(code_of(accept(carol, "data")), Code::kNotFound);
  EXPECT_EQ(code_of(offer(alice, data.id.str(), "carol")), Code::kConflict) << "only published content";
}

TEST_P(Handovers, ANameThatTheNewOwnerUsesAndTheirQuotaAreInTheWay) {
  w.publish(bob, "data", AccessLevel::kPrivate);
  ASSERT_TRUE(offer(alice, "data", "bob").ok());
  const auto taken = accept(bob, "alice/data");
  EXPECT_EQ(code_of(taken), Code::kConflict);
  EXPECT_THAT(message_of(taken), HasSubstr("--name"));
  ASSERT_TRUE(w.accounts.change_quotas(root, w.request_id(), "bob", {{Quota::kContents, 1}}).ok());
  EXPECT_EQ(code_of(accept(bob, "alice/data", "hers")), Code::kExhausted);
  ASSERT_TRUE(w.accounts.change_quotas(root, w.request_id(), "bob", {{Quota::kContents, 2}}).ok());
  EXPECT_EQ(code_of(accept(bob, "alice/data", "a/b")), Code::kInvalid);
  ASSERT_TRUE(accept(bob, "alice/data", "hers").ok());
  EXPECT_EQ(now(data.id, bob).name, "hers");
  EXPECT_EQ(w.contents.get(bob, "bob/hers")->content.id, data.id);
}

TEST_P(Handovers, AnAdministratorOffersWhatADisabledAccountOwned) {
  ASSERT_TRUE(w.accounts.disable_user(root, w.request_id(), "alice").ok());
  EXPECT_EQ(code_of(offer(carol, "alice/data", "carol")), Code::kNotFound);
  Actor narrow = root;
  narrow.scopes = Scopes{Scope::kContentRead, Scope::kContentPublish};
  EXPECT_EQ(code_of(offer(narrow, "alice/data", "bob")), Code::kNotFound) << "the role alone is not enough";
  ASSERT_TRUE(offer(root, "alice/data", "bob").ok());
  ASSERT_TRUE(accept(bob, data.id.str()).ok());
  EXPECT_EQ(now(data.id, bob).access, Access{}) << "who is gone is no target";
  EXPECT_THAT(news_of(root), ElementsAre(NoticeKind::kOfferAccepted));
}

TEST_P(Handovers, WhatIsRepeatedIsDoneOnce) {
  const std::string first = w.request_id(), second = w.request_id();
  ASSERT_TRUE(w.handovers.offer(alice, {first, "data", "bob", ""}).ok());
  ASSERT_TRUE(w.handovers.offer(alice, {first, "data", "bob", ""}).ok());
  EXPECT_THAT(w.handovers.list(bob)->to_me, SizeIs(1));
  ASSERT_TRUE(w.handovers.accept(bob, second, "alice/data", "").ok());
  const auto again = w.handovers.accept(bob, second, "alice/data", "");
  ASSERT_TRUE(again.ok()) << message_of(again);
  EXPECT_EQ(again->owner_name, "bob");
  EXPECT_THAT(news_of(alice), SizeIs(1));
}

TEST_P(Handovers, AnOfferIsFoundByItsIdHoweverManyAreListedBeforeIt) {
  ASSERT_TRUE(offer(alice, "data", "bob").ok());
  w.clock.advance(std::chrono::seconds(1));
  for (std::size_t i = 0; i < HandoverService::kMaxListed; ++i) {
    const std::string name = "bulk" + std::to_string(i);
    w.publish(carol, name, AccessLevel::kPublic);
    ASSERT_TRUE(offer(carol, name, "bob").ok());
  }
  EXPECT_EQ(code_of(accept(bob, "alice/data")), Code::kNotFound) << "a name is looked for among those listed";
  EXPECT_EQ(code_of(accept(alice, data.id.str())), Code::kNotFound);
  EXPECT_TRUE(accept(bob, data.id.str()).ok());
}

TEST_P(Handovers, OffersCountTowardsWhatOneMayHaveOpen) {
  ASSERT_TRUE(w.accounts.change_quotas(root, w.request_id(), "alice", {{Quota::kOpenRequests, 1}}).ok());
  w.publish(alice, "more", AccessLevel::kPrivate);
  ASSERT_TRUE(offer(alice, "data", "bob").ok());
  EXPECT_EQ(code_of(offer(alice, "more", "bob")), Code::kExhausted);
}

}  // namespace
}  // namespace gridtorrent::ccm
