#include "tests/contract/stores_fixture.h"

// Groups, memberships, buddies, notices.

namespace gridtorrent::contract {
namespace {

using ccm::Standing;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing_support::code_of;

class People : public Stores {};
INSTANTIATE_TEST_SUITE_P(Over, People, testing::Values("memory", "sqlite"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(People, GroupsComeBackAsTheyWere) {
  ccm::Group lab = group("lab");
  look([&](tracker::Tx& tx) {
    EXPECT_EQ(value_of(tx.groups.by_id(lab.id)), lab);
    EXPECT_EQ(value_of(tx.groups.by_name("lab")), lab);
    EXPECT_EQ(value_of(tx.groups.by_name("Lab")), std::nullopt);
  });
  lab.description = "";
  lab.hidden = true;
  must([&](tracker::Tx& tx) { return tx.groups.update(lab); });
  look([&](tracker::Tx& tx) { EXPECT_EQ(value_of(tx.groups.by_id(lab.id)), lab); });
  const ccm::Group twin{GroupId::make(now_, rng_), "lab", "", false, now_};
  EXPECT_EQ(code_of(write([&](tracker::Tx& tx) { return tx.groups.insert(twin); })), Code::kConflict);
}

TEST_P(People, MembershipsComeBackAsTheyWereAndGoWithTheirGroup) {
  const auto alice = user("alice"), bob = user("bob");
  const auto lab = group("lab"), field = group("field");
  auto asked = membership(lab, bob, Standing::kRequested, bob);
  const auto managed = membership(lab, alice, Standing::kManager, alice);
  const auto other = membership(field, bob, Standing::kMember, alice);
  look([&](tracker::Tx& tx) {
    EXPECT_EQ(value_of(tx.groups.membership(lab.id, bob.id)), asked);
    EXPECT_EQ(value_of(tx.groups.membership(field.id, alice.id)), std::nullopt);
    EXPECT_THAT(value_of(tx.groups.of_group(lab.id)), ElementsAre(managed, asked));
    EXPECT_THAT(value_of(tx.groups.of_user(bob.id)), ElementsAre(other, asked));
  });
  asked.standing = Standing::kMember;
  asked.expires = {};
  asked.message = "";
  must([&](tracker::Tx& tx) { return tx.groups.put(asked); });
  must([&](tracker::Tx& tx) { return tx.users.set_disabled(bob.id, true); });
  asked.user_disabled = true;
  look([&](tracker::Tx& tx) { EXPECT_EQ(value_of(tx.groups.membership(lab.id, bob.id)), asked); });
  auto gone = other;
  gone.standing = Standing::kNone;
  must([&](tracker::Tx& tx) { return tx.groups.put(gone); });
  look([&](tracker::Tx& tx) { EXPECT_THAT(value_of(tx.groups.of_user(bob.id)), ElementsAre(asked)); });
  must([&](tracker::Tx& tx) { return tx.groups.remove(lab.id); });
  look([&](tracker::Tx& tx) { EXPECT_THAT(value_of(tx.groups.of_user(bob.id)), IsEmpty()); });
}

TEST_P(People, AMembershipNeedsAGroupInTheRealStore) {
  if (std::string(GetParam()) == "memory") GTEST_SKIP() << "the fake has no foreign keys";
  const auto alice = user("alice");
  ccm::Membership stray;
  stray.group = GroupId::make(now_, rng_);
  stray.user = stray.asked_by = alice.id;
  stray.standing = Standing::kMember;
  EXPECT_FALSE(write([&](tracker::Tx& tx) { return tx.groups.put(stray); }).ok());
}

TEST_P(People, MembersAreListedManagersFirst) {
  const auto alice = user("alice"), bob = user("bob"), carol = user("carol"), dave = user("dave"), eve = user("eve");
  const auto lab = group("lab");
  membership(lab, alice, Standing::kInvited, eve);
  membership(lab, bob, Standing::kRequested, bob);
  membership(lab, carol, Standing::kMember, eve);
  membership(lab, eve, Standing::kManager, eve);
  membership(lab, dave, Standing::kManager, dave);
  look([&](tracker::Tx& tx) {
    std::vector<std::string> names;
    for (const auto& one : value_of(tx.groups.of_group(lab.id))) names.push_back(one.user_name);
    EXPECT_THAT(names, ElementsAre("dave", "eve", "carol", "bob", "alice"));
    EXPECT_EQ(value_of(tx.groups.count_managers(lab.id)), 2u);
    EXPECT_EQ(value_of(tx.groups.count_managed(eve.id)), 1u);
    EXPECT_EQ(value_of(tx.groups.count_managed(carol.id)), 0u);
  });
  must([&](tracker::Tx& tx) { return tx.users.set_disabled(eve.id, true); });
  look([&](tracker::Tx& tx) { EXPECT_EQ(value_of(tx.groups.count_managers(lab.id)), 1u); });
}

TEST_P(People, RemovalsAreRememberedForAMonth) {
  const auto alice = user("alice"), bob = user("bob");
  const auto lab = group("lab");
  look([&](tracker::Tx& tx) { EXPECT_EQ(value_of(tx.groups.removed_at(lab.id, bob.id)), std::nullopt); });
  must([&](tracker::Tx& tx) { return tx.groups.note_removal(lab.id, bob.id, now_); });
  const WallTime later = now_ + std::chrono::hours(24 * 30);
  must([&](tracker::Tx& tx) { return tx.groups.note_removal(lab.id, alice.id, later); });
  look([&](tracker::Tx& tx) {
    EXPECT_EQ(value_of(tx.groups.removed_at(lab.id, bob.id)), now_) << "a code may be as old";
    EXPECT_EQ(value_of(tx.groups.removed_at(lab.id, alice.id)), later);
  });
  must([&](tracker::Tx& tx) { return tx.groups.note_removal(lab.id, alice.id, later + std::chrono::hours(48)); });
  look([&](tracker::Tx& tx) { EXPECT_EQ(value_of(tx.groups.removed_at(lab.id, bob.id)), std::nullopt); });
}

TEST_P(People, WhatIsOpenIsCountedUntilItEnds) {
  const auto alice = user("alice"), bob = user("bob"), carol = user("carol");
  const auto lab = group("lab");
  membership(lab, alice, Standing::kManager, alice);
  const auto invitation = membership(lab, bob, Standing::kInvited, alice);
  const auto request = membership(lab, carol, Standing::kRequested, carol);
  const WallTime end = now_ + std::chrono::hours(1);
  look([&](tracker::Tx& tx) {
    EXPECT_EQ(value_of(tx.groups.count_open(alice.id, now_)), 1u);
    EXPECT_EQ(value_of(tx.groups.count_open(alice.id, end)), 0u);
    EXPECT_THAT(value_of(tx.groups.requests_to(alice.id, now_, 10)), ElementsAre(request));
    EXPECT_THAT(value_of(tx.groups.requests_to(alice.id, now_, 0)), IsEmpty());
    EXPECT_THAT(value_of(tx.groups.requests_to(alice.id, end, 10)), IsEmpty());
    EXPECT_THAT(value_of(tx.groups.requests_to(bob.id, now_, 10)), IsEmpty());
    EXPECT_THAT(value_of(tx.groups.invitations_to(bob.id, now_, 10)), ElementsAre(invitation));
    EXPECT_THAT(value_of(tx.groups.invitations_to(bob.id, end, 10)), IsEmpty());
    EXPECT_THAT(value_of(tx.groups.invitations_to(carol.id, now_, 10)), IsEmpty());
    EXPECT_EQ(value_of(tx.groups.count_memberships(lab.id)), 3u);
    EXPECT_THAT(value_of(tx.groups.managers_of(lab.id)), ElementsAre(alice.id));
    EXPECT_THAT(value_of(tx.groups.active_of(alice.id)), ElementsAre(lab.id));
    EXPECT_THAT(value_of(tx.groups.active_of(bob.id)), IsEmpty());
  });
  must([&](tracker::Tx& tx) { return tx.groups.prune(end); });
  look([&](tracker::Tx& tx) { EXPECT_THAT(value_of(tx.groups.of_group(lab.id)), SizeIs(3)); });
  must([&](tracker::Tx& tx) { return tx.groups.prune(end + std::chrono::milliseconds(1)); });
  look([&](tracker::Tx& tx) { EXPECT_THAT(value_of(tx.groups.of_group(lab.id)), SizeIs(1)); });
}

TEST_P(People, HiddenGroupsAreVisibleToThoseWhoStandWithThem) {
  const auto alice = user("alice"), bob = user("bob");
  const auto lab = group("lab"), hidden = group("hidden", true), open = group("open");
  membership(hidden, alice, Standing::kInvited, bob);
  const auto visible = [&](const ccm::User& viewer, WallTime at, const std::string& after, std::size_t limit) {
    std::vector<std::string> names;
    look([&](tracker::Tx& tx) {
      for (const auto& one : value_of(tx.groups.visible(viewer.id, at, after, limit))) names.push_back(one.name);
    });
    return names;
  };
  EXPECT_THAT(visible(alice, now_, "", 10), ElementsAre("hidden", "lab", "open"));
  EXPECT_THAT(visible(alice, now_ + std::chrono::hours(1), "", 10), ElementsAre("lab", "open"));
  EXPECT_THAT(visible(bob, now_, "", 10), ElementsAre("lab", "open"));
  EXPECT_THAT(visible(bob, now_, "lab", 10), ElementsAre("open"));
  EXPECT_THAT(visible(bob, now_, "", 1), ElementsAre("lab"));
  look([&](tracker::Tx& tx) {
    for (const std::string& reference : {std::string("hidden"), hidden.id.str()}) {
      EXPECT_EQ(value_of(tx.groups.visible_one(alice.id, now_, reference)), hidden);
      EXPECT_EQ(value_of(tx.groups.visible_one(bob.id, now_, reference)), std::nullopt);
      EXPECT_EQ(value_of(tx.groups.own_one(alice.id, reference)), std::nullopt) << "invited is no member";
    }
    EXPECT_EQ(value_of(tx.groups.visible_one(bob.id, now_, "lab")), lab);
    EXPECT_EQ(value_of(tx.groups.visible_one(alice.id, now_ + std::chrono::hours(1), "hidden")), std::nullopt);
  });
  membership(hidden, alice, Standing::kMember, bob);
  look([&](tracker::Tx& tx) { EXPECT_EQ(value_of(tx.groups.own_one(alice.id, "hidden")), hidden); });
}

TEST_P(People, ContentIsFoundByWhoeverItIsSharedWith) {
  const auto alice = user("alice"), bob = user("bob"), carol = user("carol"), dave = user("dave"), eve = user("eve");
  const auto lab = group("lab");
  membership(lab, bob, Standing::kMember, alice);
  membership(lab, dave, Standing::kInvited, alice);
  must([&](tracker::Tx& tx) -> Status {
    GT_TRY(tx.buddies.add(alice.id, carol.id, now_));
    return {};
  });
  const auto share = [&](const std::string& name, ccm::Access access, std::int64_t shared_ms) {
    auto made = content(alice, name, ccm::ContentState::kPublished, ccm::AccessLevel::kShared);
    made.access = std::move(access);
    made.shared = {shared_ms};
    must([&](tracker::Tx& tx) { return tx.contents.update(made); });
    return made;
  };
  using ccm::AccessLevel;
  const auto by_group = share("a", {AccessLevel::kShared, {{lab.id, "lab"}}, {}, false}, 3);
  share("b", {AccessLevel::kShared, {}, {}, true}, 2);
  const auto more = share("c", {AccessLevel::kShared, {{lab.id, "lab"}}, {"bob", "eve"}, true}, 5);
  content(alice, "open");
  const auto names = [&](const ccm::User& viewer) {
    std::vector<std::string> shared, searched;
    look([&](tracker::Tx& tx) {
      for (const auto& one : value_of(tx.contents.shared_with(viewer.id, viewer.name, 10))) shared.push_back(one.name);
      auto filter = search_by(viewer);
      filter.access = AccessLevel::kShared;
      for (const auto& one : value_of(tx.contents.search(filter))) searched.push_back(one.name);
    });
    if (viewer.id != alice.id) {
      EXPECT_THAT(searched, testing::UnorderedElementsAreArray(shared));
    }
    return shared;
  };
  EXPECT_THAT(names(bob), ElementsAre("c", "a")) << "by when it was shared";
  EXPECT_THAT(names(carol), ElementsAre("c", "b"));
  EXPECT_THAT(names(dave), IsEmpty()) << "invited only";
  EXPECT_THAT(names(eve), ElementsAre("c"));
  EXPECT_THAT(names(alice), IsEmpty()) << "one's own";
  look([&](tracker::Tx& tx) {
    EXPECT_TRUE(value_of(tx.contents.shares_with_buddies(alice.id)));
    EXPECT_FALSE(value_of(tx.contents.shares_with_buddies(carol.id)));
    auto filter = search_by(bob);
    filter.group = lab.id;
    EXPECT_THAT(value_of(tx.contents.search(filter)), SizeIs(2));
    EXPECT_THAT(value_of(tx.contents.visible_by_name(bob.id, "bob", "", "a", 10)), ElementsAre(by_group));
    EXPECT_THAT(value_of(tx.contents.visible_by_name(carol.id, "carol", "", "a", 10)), IsEmpty());
  });
  must([&](tracker::Tx& tx) { return tx.groups.remove(lab.id); });
  EXPECT_THAT(names(bob), ElementsAre("c"));
  look([&](tracker::Tx& tx) {
    EXPECT_THAT(value_of(tx.contents.by_id(by_group.id))->access, (ccm::Access{AccessLevel::kPrivate, {}, {}, false}))
        << "shared with nobody else";
    EXPECT_THAT(value_of(tx.contents.by_id(more.id))->access,
                (ccm::Access{AccessLevel::kShared, {}, {"bob", "eve"}, true}));
  });
}

TEST_P(People, BuddiesAreOnTheOwnersListAlone) {
  const auto alice = user("alice"), bob = user("bob"), carol = user("carol");
  must([&](tracker::Tx& tx) -> Status {
    EXPECT_TRUE(value_of(tx.buddies.add(alice.id, carol.id, now_)));
    EXPECT_TRUE(value_of(tx.buddies.add(alice.id, bob.id, now_)));
    EXPECT_FALSE(value_of(tx.buddies.add(alice.id, bob.id, now_ + std::chrono::hours(1)))) << "already";
    EXPECT_FALSE(value_of(tx.buddies.remove(bob.id, alice.id)));
    return {};
  });
  look([&](tracker::Tx& tx) {
    EXPECT_THAT(value_of(tx.buddies.of(alice.id)), ElementsAre(bob, carol));
    EXPECT_THAT(value_of(tx.buddies.of(bob.id)), IsEmpty());
    EXPECT_EQ(value_of(tx.buddies.since(alice.id, bob.id)), now_);
    EXPECT_EQ(value_of(tx.buddies.since(bob.id, alice.id)), std::nullopt);
  });
  must([&](tracker::Tx& tx) -> Status {
    EXPECT_TRUE(value_of(tx.buddies.remove(alice.id, bob.id)));
    return {};
  });
  look([&](tracker::Tx& tx) { EXPECT_THAT(value_of(tx.buddies.of(alice.id)), ElementsAre(carol)); });
}

TEST_P(People, NoticesComeNewestFirst) {
  const auto alice = user("alice"), bob = user("bob");
  const ccm::Notice first{alice.id, now_, ccm::NoticeKind::kRemoved, "bob", "lab", ""};
  const ccm::Notice second{alice.id,     now_ + std::chrono::seconds(1), ccm::NoticeKind::kOfferAccepted, "bob", "",
                           "alice/Grüße"};
  const ccm::Notice others{bob.id, now_, ccm::NoticeKind::kLeft, "alice", "lab", ""};
  must([&](tracker::Tx& tx) -> Status {
    for (const auto& one : {first, others, second}) GT_TRY(tx.notices.append(one));
    return {};
  });
  look([&](tracker::Tx& tx) {
    EXPECT_THAT(value_of(tx.notices.of_user(alice.id, 10)), ElementsAre(second, first));
    EXPECT_THAT(value_of(tx.notices.of_user(alice.id, 1)), ElementsAre(second));
    EXPECT_EQ(value_of(tx.notices.read_until(alice.id)), WallTime{});
  });
  must([&](tracker::Tx& tx) -> Status {
    GT_TRY(tx.notices.set_read_until(alice.id, now_));
    return tx.notices.prune(now_ + std::chrono::milliseconds(1));
  });
  look([&](tracker::Tx& tx) {
    EXPECT_THAT(value_of(tx.notices.of_user(alice.id, 10)), ElementsAre(second));
    EXPECT_THAT(value_of(tx.notices.of_user(bob.id, 10)), IsEmpty());
    EXPECT_EQ(value_of(tx.notices.read_until(alice.id)), now_);
  });
}

TEST_P(People, OffersAreOneForAContentAndListedWhileOpen) {
  const auto alice = user("alice"), bob = user("bob"), carol = user("carol");
  const auto data = content(alice, "data");
  ccm::Offer offer;
  offer.content = data.id;
  offer.owner_name = "alice";
  offer.content_name = "data";
  offer.bytes = data.bytes;
  offer.by = alice.id;
  offer.by_name = "alice";
  offer.to = carol.id;
  offer.to_name = "carol";
  offer.since = now_;
  offer.expires = now_ + std::chrono::hours(1);
  offer.message = "for you";
  must([&](tracker::Tx& tx) -> Status {
    GT_TRY(tx.offers.put(offer));
    offer.to = bob.id;
    offer.to_name = "bob";
    return tx.offers.put(offer);
  });
  look([&](tracker::Tx& tx) {
    EXPECT_EQ(value_of(tx.offers.of_content(data.id)), offer);
    EXPECT_EQ(value_of(tx.offers.of_content(ContentId::make(now_, rng_))), std::nullopt);
    EXPECT_THAT(value_of(tx.offers.to(bob.id, now_, std::nullopt, 10)), ElementsAre(offer));
    EXPECT_THAT(value_of(tx.offers.to(carol.id, now_, std::nullopt, 10)), IsEmpty()) << "the first one was replaced";
    EXPECT_THAT(value_of(tx.offers.by(alice.id, now_, std::nullopt, 10)), ElementsAre(offer));
    EXPECT_THAT(value_of(tx.offers.by(alice.id, offer.expires, std::nullopt, 10)), IsEmpty());
    EXPECT_EQ(value_of(tx.offers.count_open(alice.id, now_)), 1u);
    EXPECT_EQ(value_of(tx.offers.count_open(alice.id, offer.expires)), 0u);
  });
  must([&](tracker::Tx& tx) -> Status {
    GT_TRY(tx.contents.set_owner_and_name(data.id, bob.id, "Hers"));
    const auto moved = value_of(tx.contents.by_id(data.id));
    EXPECT_EQ(moved->owner, bob.id);
    EXPECT_EQ(moved->owner_name + "/" + moved->name, "bob/Hers");
    EXPECT_EQ(value_of(tx.contents.by_owner_and_name(alice.id, "data")), std::nullopt);
    EXPECT_EQ(value_of(tx.contents.usage(bob.id)).contents, 1u);
    EXPECT_EQ(value_of(tx.contents.usage(alice.id)).contents, 0u);
    GT_TRY(tx.offers.prune(offer.expires + std::chrono::milliseconds(1)));
    EXPECT_EQ(value_of(tx.offers.of_content(data.id)), std::nullopt);
    return {};
  });
  const auto taken = content(alice, "Hers");
  EXPECT_EQ(code_of(write([&](tracker::Tx& tx) { return tx.contents.set_owner_and_name(taken.id, bob.id, "Hers"); })),
            Code::kConflict);
}

TEST_P(Stores, CountEachPersonOfAnAudienceOnce) {
  const ccm::User owner = user("owner"), ann = user("ann"), ben = user("ben"), cat = user("cat"), dan = user("dan");
  const ccm::User gone = user("gone");
  must([&](tracker::Tx& tx) { return tx.users.set_disabled(gone.id, true); });
  const ccm::Group one = group("one"), two = group("two");
  membership(one, owner, ccm::Standing::kManager, owner);
  membership(one, ann, ccm::Standing::kMember, owner);
  membership(one, gone, ccm::Standing::kMember, owner);
  membership(one, dan, ccm::Standing::kInvited, owner);
  membership(two, ann, ccm::Standing::kManager, ann);
  membership(two, ben, ccm::Standing::kMember, ann);
  must([&](tracker::Tx& tx) -> Status {
    GT_TRY(tx.buddies.add(owner.id, ben.id, now_));
    GT_TRY(tx.buddies.add(dan.id, owner.id, now_));
    return {};
  });
  ccm::Access access;
  access.level = ccm::AccessLevel::kShared;
  access.groups = {{one.id, "one"}, {two.id, "two"}};
  access.users = {"ann", "cat", "gone", "owner"};
  access.buddies = true;
  look([&](tracker::Tx& tx) {
    const auto all = value_of(tx.contents.audience(owner.id, access));
    EXPECT_EQ(all.people, 3u);
    EXPECT_EQ(all.group_people, 2u);
    EXPECT_EQ(all.groups, (std::vector<ccm::Audience::Group>{{"one", 1}, {"two", 2}}));
    EXPECT_EQ(all.buddies, 1u);
    EXPECT_EQ(all.users, (std::vector<std::string>{"ann", "cat"}));
    EXPECT_EQ(value_of(tx.contents.audience(owner.id, {ccm::AccessLevel::kPublic, {}, {}})).people, 4u);
    EXPECT_EQ(value_of(tx.contents.audience(owner.id, {})), ccm::Audience{});
  });
}

}  // namespace
}  // namespace gridtorrent::contract
