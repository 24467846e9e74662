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
  EXPECT_EQ(again->content_name, "data");
  EXPECT_THAT(news_of(alice), SizeIs(1));
}

TEST_P(Handovers, WhoGaveItOnIsToldWhatWasAnsweredThen) {
  const std::string request = w.request_id();
  ASSERT_TRUE(offer(alice, "data", "bob").ok());
  ASSERT_TRUE(w.handovers.accept(bob, request, "alice/data", "mine").ok());
  ASSERT_TRUE(offer(bob, "mine", "carol").ok());
  ASSERT_TRUE(w.handovers.accept(carol, w.request_id(), "bob/mine", "secret").ok());
  const auto again = w.handovers.accept(bob, request, "alice/data", "mine");
  ASSERT_TRUE(again.ok()) << message_of(again);
  EXPECT_EQ(again->content, data.id);
  EXPECT_EQ(again->owner_name + "/" + again->content_name, "bob/mine");
}

TEST_P(Handovers, AnOfferIsFoundByItsNameOrIdHoweverManyAreListedBeforeIt) {
  const Content other = w.publish(alice, "by id", AccessLevel::kPublic);
  ASSERT_TRUE(offer(alice, "data", "bob").ok());
  ASSERT_TRUE(offer(alice, "by id", "bob").ok());
  w.clock.advance(std::chrono::seconds(1));
  for (std::size_t i = 0; i < HandoverService::kMaxListed; ++i) {
    const std::string name = "bulk" + std::to_string(i);
    w.publish(carol, name, AccessLevel::kPublic);
    ASSERT_TRUE(offer(carol, name, "bob").ok());
  }
  EXPECT_EQ(code_of(accept(bob, "alice/other")), Code::kNotFound);
  EXPECT_EQ(code_of(accept(alice, data.id.str())), Code::kNotFound);
  EXPECT_TRUE(accept(bob, "alice/data").ok());
  EXPECT_TRUE(accept(bob, other.id.str()).ok());
}

TEST_P(Handovers, AreListedByPageAllOfThemOnce) {
  constexpr int kToBob = 7, kByBob = 3;
  for (int i = 0; i < kToBob; ++i) {
    w.publish(alice, "to" + std::to_string(i), AccessLevel::kPublic);
    ASSERT_TRUE(offer(alice, "to" + std::to_string(i), "bob").ok());
    if (i % 2 == 0) w.clock.advance(std::chrono::milliseconds(1));
  }
  for (int i = 0; i < kByBob; ++i) {
    w.publish(bob, "by" + std::to_string(i), AccessLevel::kPublic);
    ASSERT_TRUE(offer(bob, "by" + std::to_string(i), "carol").ok());
  }
  std::vector<Offer> to_me, by_me;
  PageRequest next{.limit = 2, .token = ""};
  int pages = 0;
  do {
    const auto page = w.handovers.list(bob, next);
    ASSERT_TRUE(page.ok()) << message_of(page);
    EXPECT_LE(page->to_me.size(), 2u);
    EXPECT_LE(page->by_me.size(), 2u);
    to_me.insert(to_me.end(), page->to_me.begin(), page->to_me.end());
    by_me.insert(by_me.end(), page->by_me.begin(), page->by_me.end());
    next.token = page->next_page;
  } while (!next.token.empty() && ++pages < 10);
  const auto whole = w.handovers.list(bob);
  EXPECT_EQ(whole->next_page, "");
  EXPECT_THAT(whole->to_me, SizeIs(kToBob));
  EXPECT_THAT(whole->by_me, SizeIs(kByBob));
  EXPECT_EQ(to_me, whole->to_me);
  EXPECT_EQ(by_me, whole->by_me);
  EXPECT_EQ(code_of(w.handovers.list(bob, {.limit = 2, .token = "nonsense"})), Code::kInvalid);
}

TEST_P(Handovers, MoreThanTheInboxGivesAreSaidToBeThere) {
  EXPECT_THAT(w.inbox.read(bob)->more, IsEmpty());
  for (std::size_t i = 0; i <= InboxService::kMaxOfAKind; ++i) {
    const std::string name = "bulk" + std::to_string(i);
    const Content bulk = w.publish(carol, name, AccessLevel::kPublic);
    ASSERT_TRUE(offer(carol, name, "bob").ok());
    ASSERT_TRUE(w.handovers.decline(bob, w.request_id(), bulk.id.str()).ok());
    ASSERT_TRUE(offer(carol, name, "bob").ok());
  }
  const auto inbox = w.inbox.read(bob);
  EXPECT_THAT(inbox->offers, SizeIs(InboxService::kMaxOfAKind));
  EXPECT_THAT(inbox->more, ElementsAre("offers"));
  const auto news = w.inbox.read(carol);
  EXPECT_THAT(news->notices, SizeIs(InboxService::kMaxOfAKind));
  EXPECT_THAT(news->more, ElementsAre("notices"));
  EXPECT_EQ(news->older_notices, 1u);
}

TEST_P(Handovers, OffersCountTowardsWhatOneMayHaveOpen) {
  ASSERT_TRUE(w.accounts.change_quotas(root, w.request_id(), "alice", {{Quota::kOpenRequests, 1}}).ok());
  w.publish(alice, "more", AccessLevel::kPrivate);
  ASSERT_TRUE(offer(alice, "data", "bob").ok());
  EXPECT_EQ(code_of(offer(alice, "more", "bob")), Code::kExhausted);
}

}  // namespace
}  // namespace gridtorrent::ccm
