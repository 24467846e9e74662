#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/server_world.h"

namespace gridtorrent::ccm {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing_support::code_of;
using testing_support::message_of;
using testing_support::ServerWorld;
using Step = MembershipStep;

class Groups : public testing::TestWithParam<const char*> {
 protected:
  GroupView make(const Actor& actor, const std::string& name, bool hidden = false) {
    const auto made = w.groups.create(actor, {w.request_id(), name, "about " + name, hidden});
    EXPECT_TRUE(made.ok()) << message_of(made);
    return made.ok() ? *made : GroupView{};
  }
  Result<GroupView> step(const Actor& actor, const std::string& group, Step step, const std::string& user = "") {
    return w.groups.change(actor, {w.request_id(), group, user, step, "please"});
  }
  void join(const Actor& manager, const std::string& group, const Actor& person) {
    ASSERT_TRUE(step(manager, group, Step::kInvite, person.name).ok());
    ASSERT_TRUE(step(person, group, Step::kAcceptInvitation).ok());
  }
  /// "alice manager", … as the actor sees them.
  std::vector<std::string> members(const Actor& actor, const std::string& group) {
    const auto view = w.groups.get(actor, group);
    EXPECT_TRUE(view.ok()) << message_of(view);
    std::vector<std::string> found;
    if (!view.ok()) return found;
    for (const Membership& one : view->members)
      found.push_back(one.user_name + " " + std::string(standing_name(one.standing)));
    return found;
  }
  std::vector<std::string> news(const Actor& actor) {
    std::vector<std::string> found;
    const auto inbox = w.inbox.read(actor);
    for (const Notice& notice : inbox->notices) {
      found.push_back(notice.by + " " + std::string(notice_kind_name(notice.kind)) + " " + notice.group);
    }
    return found;
  }
  Content share(const Actor& owner, const std::string& name, const std::vector<std::string>& groups,
                const std::vector<std::string>& users = {}, bool buddies = false) {
    const Content content = w.publish(owner, name, AccessLevel::kPrivate);
    Access access{AccessLevel::kShared, {}, users, buddies};
    for (const std::string& group : groups) access.groups.push_back({GroupId(), group});
    const auto set = w.contents.set_access(owner, w.request_id(), content.id, access);
    EXPECT_TRUE(set.ok()) << message_of(set);
    return set.ok() ? set->content : content;
  }
  bool sees(const Actor& actor, const Content& content) { return w.contents.get(actor, content.id.str()).ok(); }

  ServerWorld w{GetParam()};
  Actor alice = w.user("alice");
  Actor bob = w.user("bob");
  Actor carol = w.user("carol");
  Actor admin = w.user("root", true);
};

INSTANTIATE_TEST_SUITE_P(Over, Groups, testing::Values("memory", "sqlite"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(Groups, HaveTheirCreatorAsManager) {
  const GroupView lab = make(alice, "lab");
  EXPECT_EQ(lab.own, Standing::kManager);
  EXPECT_EQ(lab.group.description, "about lab");
  EXPECT_THAT(members(alice, "lab"), ElementsAre("alice manager"));
  EXPECT_EQ(code_of(w.groups.create(bob, {w.request_id(), "lab", "", false})), Code::kConflict);
  EXPECT_EQ(code_of(w.groups.create(bob, {w.request_id(), "Lab!", "", false})), Code::kInvalid);
  const NewGroup again{w.request_id(), "field", "", false};
  ASSERT_TRUE(w.groups.create(bob, again).ok());
  const auto repeated = w.groups.create(bob, again);
  ASSERT_TRUE(repeated.ok()) << message_of(repeated);
  EXPECT_EQ(repeated->group.name, "field");
}

TEST_P(Groups, AskedAgainWithoutAWordKeepTheFirstMessage) {
  make(alice, "lab");
  const auto request = [&](const std::string& message) {
    return w.groups.change(bob, {w.request_id(), "lab", "", Step::kRequest, message}).ok();
  };
  const auto asked = [&] { return w.inbox.read(alice)->requests.at(0).message; };
  ASSERT_TRUE(request("I measure at P06"));
  ASSERT_TRUE(request(""));
  EXPECT_EQ(asked(), "I measure at P06");
  ASSERT_TRUE(request("at P07"));
  EXPECT_EQ(asked(), "at P07");
}

TEST_P(Groups, AnInvitationMakesAMemberOnceThePersonAccepts) {
  make(alice, "lab");
  ASSERT_TRUE(step(alice, "lab", Step::kInvite, "bob").ok());
  const auto inbox = w.inbox.read(bob);
  ASSERT_THAT(inbox->invitations, SizeIs(1));
  EXPECT_EQ(inbox->invitations[0].group_name, "lab");
  EXPECT_EQ(inbox->invitations[0].asked_by_name, "alice");
  EXPECT_EQ(inbox->invitations[0].message, "please");
  EXPECT_EQ(inbox->invitations[0].expires, w.clock.wall() + GroupService::kPendingLifetime);
  const Content data = share(alice, "data", {"lab"});
  EXPECT_FALSE(sees(bob, data)) << "invited is not in";
  ASSERT_TRUE(step(bob, "lab", Step::kAcceptInvitation).ok());
  EXPECT_TRUE(sees(bob, data));
  EXPECT_THAT(news(alice), ElementsAre("bob invitation-accepted lab"));
  EXPECT_THAT(w.inbox.read(bob)->invitations, IsEmpty());
}

TEST_P(Groups, ARequestMakesAMemberOnceAManagerAccepts) {
  make(alice, "lab");
  ASSERT_TRUE(step(bob, "lab", Step::kRequest).ok());
  ASSERT_THAT(w.inbox.read(alice)->requests, SizeIs(1));
  EXPECT_EQ(w.inbox.read(alice)->requests[0].user_name, "bob");
  EXPECT_EQ(code_of(step(carol, "lab", Step::kAcceptRequest, "bob")), Code::kDenied);
  EXPECT_EQ(code_of(step(bob, "lab", Step::kAcceptRequest, "bob")), Code::kDenied) << "not for oneself";
  EXPECT_EQ(code_of(step(bob, "lab", Step::kAcceptInvitation)), Code::kConflict);
  ASSERT_TRUE(step(alice, "lab", Step::kAcceptRequest, "bob").ok());
  EXPECT_THAT(members(bob, "lab"), ElementsAre("alice manager", "bob member"));
  EXPECT_THAT(news(bob), ElementsAre("alice request-accepted lab"));
}

TEST_P(Groups, ARequestThatMeetsAnInvitationIsAMembership) {
  make(alice, "lab");
  ASSERT_TRUE(step(alice, "lab", Step::kInvite, "bob").ok());
  EXPECT_EQ(step(bob, "lab", Step::kRequest)->own, Standing::kMember);
  ASSERT_TRUE(step(carol, "lab", Step::kRequest).ok());
  ASSERT_TRUE(step(alice, "lab", Step::kInvite, "carol").ok());
  EXPECT_THAT(members(alice, "lab"), ElementsAre("alice manager", "bob member", "carol member"));
}

TEST_P(Groups, AreLeftAndTakenAwayAtOnceByEitherSide) {
  make(alice, "lab");
  join(alice, "lab", bob);
  join(alice, "lab", carol);
  const Content data = share(alice, "data", {"lab"});
  ASSERT_TRUE(step(bob, "lab", Step::kLeave).ok());
  EXPECT_FALSE(sees(bob, data));
  EXPECT_TRUE(sees(carol, data));
  EXPECT_TRUE(step(bob, "lab", Step::kLeave).ok()) << "again is no error";
  ASSERT_TRUE(step(alice, "lab", Step::kRemove, "carol").ok());
  EXPECT_FALSE(sees(carol, data));
  EXPECT_THAT(news(carol), ElementsAre("alice removed lab"));
  EXPECT_THAT(news(alice), Contains("bob left lab"));
  EXPECT_TRUE(sees(alice, data)) << "its owner's";
}

TEST_P(Groups, DeclinedAndWithdrawnIsAsIfItHadNotBeen) {
  make(alice, "lab");
  ASSERT_TRUE(step(alice, "lab", Step::kInvite, "bob").ok());
  ASSERT_TRUE(step(bob, "lab", Step::kDeclineInvitation).ok());
  EXPECT_THAT(news(alice), ElementsAre("bob invitation-declined lab"));
  EXPECT_EQ(code_of(step(bob, "lab", Step::kAcceptInvitation)), Code::kConflict);
  ASSERT_TRUE(step(alice, "lab", Step::kInvite, "bob").ok());
  ASSERT_TRUE(step(alice, "lab", Step::kWithdrawInvitation, "bob").ok());
  EXPECT_THAT(w.inbox.read(bob)->invitations, IsEmpty());
  ASSERT_TRUE(step(carol, "lab", Step::kRequest).ok());
  ASSERT_TRUE(step(carol, "lab", Step::kWithdrawRequest).ok());
  EXPECT_THAT(w.inbox.read(alice)->requests, IsEmpty());
  ASSERT_TRUE(step(carol, "lab", Step::kRequest).ok());
  ASSERT_TRUE(step(alice, "lab", Step::kDeclineRequest, "carol").ok());
  EXPECT_THAT(news(carol), ElementsAre("alice request-declined lab"));
  EXPECT_THAT(members(alice, "lab"), ElementsAre("alice manager"));
}

TEST_P(Groups, InvitationsEndByThemselves) {
  make(alice, "lab");
  ASSERT_TRUE(step(alice, "lab", Step::kInvite, "bob").ok());
  w.clock.advance(GroupService::kPendingLifetime);
  EXPECT_THAT(w.inbox.read(bob)->invitations, IsEmpty());
  EXPECT_EQ(code_of(step(bob, "lab", Step::kAcceptInvitation)), Code::kConflict);
  EXPECT_THAT(members(alice, "lab"), ElementsAre("alice manager"));
  w.clock.advance(std::chrono::milliseconds(1));
  ASSERT_TRUE(w.groups.sweep().ok());
  EXPECT_EQ(step(bob, "lab", Step::kRequest)->own, Standing::kRequested) << "the old invitation does not count";
}

TEST_P(Groups, AreHandedOverButNeverLeftWithoutAManager) {
  make(alice, "lab");
  join(alice, "lab", bob);
  const auto refused = step(alice, "lab", Step::kLeave);
  EXPECT_EQ(code_of(refused), Code::kConflict);
  EXPECT_THAT(message_of(refused), HasSubstr("group promote"));
  EXPECT_EQ(code_of(step(alice, "lab", Step::kDemote, "alice")), Code::kConflict);
  EXPECT_EQ(code_of(step(alice, "lab", Step::kPromote, "carol")), Code::kConflict) << "no member";
  EXPECT_EQ(code_of(step(bob, "lab", Step::kPromote, "bob")), Code::kDenied);
  ASSERT_TRUE(step(alice, "lab", Step::kPromote, "bob").ok());
  ASSERT_TRUE(step(alice, "lab", Step::kLeave).ok());
  EXPECT_THAT(members(bob, "lab"), ElementsAre("bob manager"));
  EXPECT_THAT(news(bob), ElementsAre("alice left lab", "alice made-manager lab"));
}

TEST_P(Groups, AGroupWhoseManagersAreDisabledIsRescuedByAnAdministrator) {
  make(alice, "lab");
  join(alice, "lab", bob);
  EXPECT_EQ(code_of(step(admin, "lab", Step::kPromote, "bob")), Code::kDenied) << "it has a manager";
  ASSERT_TRUE(w.accounts.disable_user(admin, w.request_id(), "alice").ok());
  EXPECT_EQ(code_of(step(admin, "lab", Step::kInvite, "carol")), Code::kDenied);
  ASSERT_TRUE(step(admin, "lab", Step::kPromote, "bob").ok());
  EXPECT_EQ(code_of(step(admin, "lab", Step::kPromote, "bob")), Code::kDenied) << "it has one again";
  ASSERT_TRUE(step(bob, "lab", Step::kRemove, "alice").ok()) << "the disabled one does not count";
}

TEST_P(Groups, HiddenOnesDoNotExistForOthers) {
  make(alice, "secret", true);
  make(alice, "lab");
  const auto hidden = w.groups.get(bob, "secret");
  const auto missing = w.groups.get(bob, "absent");
  EXPECT_EQ(code_of(hidden), Code::kNotFound);
  std::string as_missing = message_of(missing);
  as_missing.replace(as_missing.find("absent"), 6, "secret");
  EXPECT_EQ(message_of(hidden), as_missing) << "word for word";
  for (const Step one : {Step::kRequest, Step::kLeave, Step::kAcceptInvitation, Step::kInvite}) {
    EXPECT_EQ(message_of(step(bob, "secret", one, one == Step::kInvite ? "carol" : "")), as_missing);
  }
  const auto listed = w.groups.list(bob, true, "");
  ASSERT_THAT(listed->items, SizeIs(1));
  EXPECT_EQ(listed->items.front().group.name, "lab");
  ASSERT_TRUE(step(alice, "secret", Step::kInvite, "bob").ok());
  EXPECT_THAT(members(bob, "secret"), ElementsAre("alice manager", "bob invited")) << "who is invited sees it";
  EXPECT_THAT(w.groups.list(bob, false, "")->items, SizeIs(1));
  ASSERT_TRUE(step(bob, "secret", Step::kDeclineInvitation).ok());
  EXPECT_EQ(code_of(w.groups.get(bob, "secret")), Code::kNotFound);
}

TEST_P(Groups, ShowMembersToMembersAndOpenRequestsToManagers) {
  make(alice, "lab");
  join(alice, "lab", bob);
  ASSERT_TRUE(step(carol, "lab", Step::kRequest).ok());
  const Actor dave = w.user("dave");
  EXPECT_THAT(members(dave, "lab"), ElementsAre("alice manager")) << "whom to ask";
  EXPECT_THAT(members(bob, "lab"), ElementsAre("alice manager", "bob member"));
  EXPECT_THAT(members(carol, "lab"), ElementsAre("alice manager", "carol requested"));
  EXPECT_THAT(members(alice, "lab"), ElementsAre("alice manager", "bob member", "carol requested"));
}

TEST_P(Groups, AreDescribedByTheirManagers) {
  make(alice, "lab");
  EXPECT_EQ(code_of(w.groups.describe(bob, w.request_id(), "lab", "mine", true)), Code::kDenied);
  const std::string id = w.request_id();
  const auto changed = w.groups.describe(alice, id, "lab", "new", true);
  ASSERT_TRUE(changed.ok()) << message_of(changed);
  EXPECT_EQ(changed->group.description, "new");
  EXPECT_TRUE(w.groups.get(alice, "lab")->group.hidden);
  ASSERT_TRUE(w.groups.describe(alice, w.request_id(), "lab", std::nullopt, false).ok());
  EXPECT_EQ(w.groups.describe(alice, id, "lab", "again", true)->group.description, "new") << "done once";
}

TEST_P(Groups, ARepeatedStepIsTakenOnce) {
  make(alice, "lab");
  const MembershipChange invite{w.request_id(), "lab", "bob", Step::kInvite, ""};
  ASSERT_TRUE(w.groups.change(alice, invite).ok());
  ASSERT_TRUE(step(bob, "lab", Step::kDeclineInvitation).ok());
  ASSERT_TRUE(w.groups.change(alice, invite).ok());
  EXPECT_THAT(members(alice, "lab"), ElementsAre("alice manager")) << "not invited once more";
  MembershipChange other = invite;
  other.user = "carol";
  EXPECT_EQ(code_of(w.groups.change(alice, other)), Code::kConflict) << "another person";
}

TEST_P(Groups, ContentIsSharedOnlyWithOnesOwnGroups) {
  make(alice, "lab");
  make(bob, "bobs", true);
  const Content data = w.publish(alice, "data");
  const auto set = [&](const std::string& group) {
    return w.contents.set_access(alice, w.request_id(), data.id,
                                 {AccessLevel::kShared, {{GroupId(), group}}, {}, false});
  };
  const auto foreign = set("bobs");
  EXPECT_EQ(code_of(foreign), Code::kNotFound);
  std::string as_missing = message_of(set("absent"));
  as_missing.replace(as_missing.find("absent"), 6, "bobs");
  EXPECT_EQ(message_of(foreign), as_missing);
  ASSERT_TRUE(set("lab").ok());
  const Actor dave = w.user("dave");
  join(alice, "lab", dave);
  ASSERT_TRUE(step(alice, "lab", Step::kPromote, "dave").ok());
  ASSERT_TRUE(step(alice, "lab", Step::kLeave).ok());
  EXPECT_TRUE(sees(dave, data)) << "what a leaver shared stays shared until they say otherwise";
  const auto kept = w.contents.set_access(alice, w.request_id(), data.id,
                                          {AccessLevel::kShared, {{GroupId(), "lab"}}, {"carol"}, false});
  EXPECT_TRUE(kept.ok()) << "a target that is there may stay: " << message_of(kept);
}

TEST_P(Groups, DeletingOneEndsWhatIsSharedWithItAndItsNameIsNobodysKey) {
  make(alice, "lab");
  join(alice, "lab", bob);
  join(alice, "lab", carol);
  const Content only = share(alice, "only", {"lab"});
  const Content more = share(alice, "more", {"lab"}, {"carol"});
  EXPECT_EQ(code_of(w.groups.remove(bob, w.request_id(), "lab")), Code::kDenied);
  const std::string id = w.request_id();
  ASSERT_TRUE(w.groups.remove(alice, id, "lab").ok());
  EXPECT_TRUE(w.groups.remove(alice, id, "lab").ok()) << "again";
  EXPECT_EQ(code_of(w.groups.get(bob, "lab")), Code::kNotFound);
  EXPECT_EQ(w.contents.get(alice, only.id.str())->content.access.level, AccessLevel::kPrivate);
  EXPECT_THAT(w.contents.get(alice, more.id.str())->content.access.users, ElementsAre("carol"));
  EXPECT_FALSE(sees(bob, more));
  EXPECT_TRUE(sees(carol, more));
  EXPECT_THAT(news(bob), Contains("alice group-deleted lab"));
  make(bob, "lab");
  EXPECT_FALSE(sees(bob, only)) << "another group of that name";
}

TEST_P(Groups, SearchFindsWhatIsSharedWithOne) {
  make(alice, "lab");
  join(alice, "lab", bob);
  share(alice, "data", {"lab"});
  w.publish(alice, "open");
  SearchQuery query;
  query.group = "lab";
  const auto found = w.contents.search(bob, query);
  ASSERT_TRUE(found.ok()) << message_of(found);
  ASSERT_THAT(found->contents, SizeIs(1));
  EXPECT_EQ(found->contents[0].content.name, "data");
  EXPECT_EQ(code_of(w.contents.search(carol, query)), Code::kNotFound);
}

TEST_P(Groups, TheNodesOfAMemberAreInTheAudienceFromTheirJoiningToTheirLeaving) {
  make(alice, "lab");
  const Actor alpha = w.node(alice, "alpha"), beta = w.node(bob, "beta");
  const Content data = share(alice, "data", {"lab"});
  const auto announce = w.announce_of(data, tracker::SwarmRole::kSeeding, data.bytes);
  ASSERT_TRUE(w.nodes.announce(alpha, announce).ok());
  const auto members = [&] {
    EXPECT_TRUE(w.audiences.refresh().ok());
    std::set<NodeId> nodes;
    for (const auto& audience : w.audiences.of_node(alpha.node)) {
      for (const auto& [print, node] : audience->members) nodes.insert(node);
    }
    return nodes;
  };
  EXPECT_THAT(members(), ElementsAre(alpha.node));
  std::string told;
  const auto stream = w.hub.open(beta.node, [] {});
  stream->take();
  join(alice, "lab", bob);
  EXPECT_THAT(members(), testing::UnorderedElementsAre(alpha.node, beta.node));
  const auto hints = stream->take().hints;
  ASSERT_THAT(hints, SizeIs(1)) << "beta looks again at what it was refused";
  EXPECT_TRUE(std::get<tracker::ContentChanged>(hints[0]).content.is_nil());
  ASSERT_TRUE(step(alice, "lab", Step::kRemove, "bob").ok());
  EXPECT_THAT(members(), ElementsAre(alpha.node));
  join(alice, "lab", bob);
  EXPECT_THAT(members(), SizeIs(2));
  ASSERT_TRUE(w.groups.remove(alice, w.request_id(), "lab").ok());
  EXPECT_THAT(members(), ElementsAre(alpha.node));
}

TEST_P(Groups, QuotasBoundGroupsRequestsAndBuddies) {
  ServerWorld small{GetParam(), [] {
                      Quotas quotas;
                      quotas.groups = 1;
                      quotas.open_requests_and_invitations = 1;
                      quotas.buddies = 1;
                      return quotas;
                    }()};
  const Actor one = small.user("one"), two = small.user("two"), three = small.user("three");
  ASSERT_TRUE(small.groups.create(one, {small.request_id(), "first", "", false}).ok());
  EXPECT_EQ(code_of(small.groups.create(one, {small.request_id(), "second", "", false})), Code::kExhausted);
  ASSERT_TRUE(small.groups.change(one, {small.request_id(), "first", "two", Step::kInvite, ""}).ok());
  EXPECT_EQ(code_of(small.groups.change(one, {small.request_id(), "first", "three", Step::kInvite, ""})),
            Code::kExhausted);
  ASSERT_TRUE(small.groups.change(two, {small.request_id(), "first", "", Step::kAcceptInvitation, ""}).ok());
  EXPECT_TRUE(small.groups.change(one, {small.request_id(), "first", "three", Step::kInvite, ""}).ok());
  ASSERT_TRUE(small.buddies.add(one, small.request_id(), "two").ok());
  EXPECT_EQ(code_of(small.buddies.add(one, small.request_id(), "three")), Code::kExhausted);
}

TEST_P(Groups, EveryStepIsAudited) {
  make(alice, "lab");
  join(alice, "lab", bob);
  ASSERT_TRUE(step(alice, "lab", Step::kRemove, "bob").ok());
  std::vector<std::string> actions;
  const auto records = w.audit(admin, 4);
  for (const AuditRecord& record : *records) {
    actions.push_back(record.actor_name + " " + record.action + " " + record.object);
  }
  EXPECT_THAT(actions, ElementsAre("alice group.remove lab bob", "bob group.accept-invitation lab bob",
                                   "alice group.invite lab bob", "alice group.create lab"));
}

TEST_P(Groups, StrangersNamesAndDisabledAccountsAreRefused) {
  make(alice, "lab");
  EXPECT_EQ(code_of(step(alice, "lab", Step::kInvite, "nobody")), Code::kNotFound);
  EXPECT_EQ(code_of(step(alice, "lab", Step::kInvite)), Code::kInvalid);
  ASSERT_TRUE(w.accounts.disable_user(admin, w.request_id(), "bob").ok());
  EXPECT_EQ(code_of(step(alice, "lab", Step::kInvite, "bob")), Code::kConflict);
  EXPECT_EQ(code_of(w.groups.change(alice, {"", "lab", "carol", Step::kInvite, ""})), Code::kInvalid)
      << "no request id";
}

TEST_P(Groups, BuddiesSeeWhatIsSharedWithBuddiesAndNothingElse) {
  const Content data = share(alice, "data", {}, {}, true);
  const Content other = share(alice, "other", {}, {"carol"});
  EXPECT_FALSE(sees(bob, data));
  ASSERT_TRUE(w.buddies.add(alice, w.request_id(), "bob").ok());
  EXPECT_TRUE(sees(bob, data));
  EXPECT_FALSE(sees(bob, other));
  EXPECT_THAT(w.contents.get(bob, data.id.str())->content.access, (Access{AccessLevel::kShared, {}, {}, false}))
      << "not told by which list";
  EXPECT_THAT(w.buddies.list(alice)->items, SizeIs(1));
  EXPECT_THAT(w.buddies.list(bob)->items, IsEmpty()) << "one-sided";
  EXPECT_THAT(news(bob), IsEmpty()) << "not told";
  ASSERT_TRUE(w.buddies.remove(alice, w.request_id(), "bob").ok());
  EXPECT_FALSE(sees(bob, data));
  EXPECT_EQ(code_of(w.buddies.add(alice, w.request_id(), "alice")), Code::kConflict);
  EXPECT_EQ(code_of(w.buddies.add(alice, w.request_id(), "nobody")), Code::kNotFound);
}

TEST_P(Groups, TheInboxShowsWhatIsSharedUntilItIsReadOrShareNoMore) {
  make(alice, "lab");
  join(alice, "lab", bob);
  w.inboxes.people.clear();
  const Content data = share(alice, "data", {"lab"});
  EXPECT_THAT(w.inboxes.people, Contains(bob.user));
  w.publish(alice, "open");
  auto inbox = w.inbox.read(bob);
  ASSERT_THAT(inbox->shares, SizeIs(1));
  EXPECT_EQ(inbox->shares[0].name, "data");
  EXPECT_EQ(inbox->shares[0].shared, w.clock.wall());
  EXPECT_LT(inbox->read_until, inbox->shares[0].shared) << "unread";
  ASSERT_TRUE(w.inbox.mark_read(bob, w.clock.wall() + std::chrono::hours(1)).ok());
  EXPECT_EQ(w.inbox.read(bob)->read_until, w.clock.wall()) << "not in the future";
  ASSERT_TRUE(w.inbox.mark_read(bob, {1}).ok());
  EXPECT_EQ(w.inbox.read(bob)->read_until, w.clock.wall()) << "never back";
  EXPECT_THAT(w.inbox.read(alice)->shares, IsEmpty()) << "one's own";
  ASSERT_TRUE(w.contents.set_access(alice, w.request_id(), data.id, {AccessLevel::kPrivate, {}, {}, false}).ok());
  EXPECT_THAT(w.inbox.read(bob)->shares, IsEmpty());
}

TEST_P(Groups, NoticesAreForgottenInTheEnd) {
  make(alice, "lab");
  join(alice, "lab", bob);
  ASSERT_THAT(news(alice), SizeIs(1));
  w.clock.advance(GroupService::kNoticeLifetime + std::chrono::milliseconds(1));
  ASSERT_TRUE(w.groups.sweep().ok());
  EXPECT_THAT(news(alice), IsEmpty());
}

TEST_P(Groups, WhoSharedWithAGroupAndLeftItLearnsNothingOfItsMembers) {
  make(alice, "lab", true);
  join(alice, "lab", bob);
  join(alice, "lab", carol);
  const Content data = share(bob, "data", {"lab"}, {"root"});
  EXPECT_TRUE(w.contents.explain(bob, data.id, "carol")->allowed) << "a member may know";
  ASSERT_TRUE(step(alice, "lab", Step::kRemove, "bob").ok());
  for (const char* person : {"alice", "carol", "nobody-of-it"}) {
    w.user(person);
    EXPECT_EQ(code_of(w.contents.explain(bob, data.id, person)), Code::kDenied) << person;
  }
  EXPECT_TRUE(w.contents.explain(bob, data.id, "root")->allowed) << "by name";
  EXPECT_EQ(w.contents.explain(carol, data.id, "")->reason, "it is shared with you") << "not by which target";
}

TEST_P(Groups, OnlyTheOwnerLearnsWhoseNodesHaveWhatIsShared) {
  make(alice, "lab");
  join(alice, "lab", bob);
  const Content data = share(alice, "data", {"lab"}, {"carol"});
  for (const Actor& person : {alice, bob, carol}) {
    const Actor node = w.node(person, "n1");
    ASSERT_TRUE(w.nodes.announce(node, w.announce_of(data, tracker::SwarmRole::kSeeding, data.bytes)).ok());
  }
  EXPECT_THAT(w.contents.replicas(alice, data.id)->items, SizeIs(3));
  const auto seen = w.contents.replicas(carol, data.id);
  ASSERT_THAT(seen->items, SizeIs(1));
  EXPECT_EQ(seen->items.front().replica.owner_name, "carol");
  ASSERT_TRUE(w.contents.set_access(alice, w.request_id(), data.id, {AccessLevel::kPublic, {}, {}, false}).ok());
  EXPECT_THAT(w.contents.replicas(carol, data.id)->items, SizeIs(3));
}

TEST_P(Groups, WhoInvitedAndWasRemovedIsNotToldOfTheAnswer) {
  make(alice, "lab");
  join(alice, "lab", bob);
  ASSERT_TRUE(step(alice, "lab", Step::kPromote, "bob").ok());
  ASSERT_TRUE(step(bob, "lab", Step::kInvite, "carol").ok());
  ASSERT_TRUE(step(alice, "lab", Step::kRemove, "bob").ok());
  ASSERT_TRUE(step(carol, "lab", Step::kAcceptInvitation).ok());
  EXPECT_THAT(news(bob), Not(Contains(HasSubstr("invitation-accepted"))));
}

TEST_P(Groups, WhatWasSharedBeforeSomebodyCameIsNewToThem) {
  make(alice, "lab");
  const Content by_group = share(alice, "by-group", {"lab"}), by_list = share(alice, "by-list", {}, {}, true);
  const Content by_name = share(alice, "by-name", {}, {"bob", "carol"});
  w.clock.advance(std::chrono::seconds(5));
  ASSERT_TRUE(w.inbox.mark_read(bob, w.clock.wall()).ok());
  w.clock.advance(std::chrono::seconds(5));
  join(alice, "lab", bob);
  w.clock.advance(std::chrono::seconds(5));
  ASSERT_TRUE(w.buddies.add(alice, w.request_id(), "bob").ok());
  const auto inbox = w.inbox.read(bob);
  std::vector<std::string> unread;
  for (const Content& one : inbox->shares) {
    if (one.shared > inbox->read_until) unread.push_back(one.name);
  }
  EXPECT_THAT(unread, ElementsAre("by-list", "by-group"));
  EXPECT_THAT(inbox->shares, SizeIs(3));
  w.clock.advance(std::chrono::seconds(5));
  ASSERT_TRUE(w.inbox.mark_read(bob, w.clock.wall()).ok());
  w.clock.advance(std::chrono::seconds(5));
  const Access fewer{AccessLevel::kShared, {}, {"bob"}, false};
  ASSERT_TRUE(w.contents.set_access(alice, w.request_id(), by_name.id, fewer).ok());
  const auto after = w.inbox.read(bob);
  for (const Content& one : after->shares) EXPECT_LE(one.shared, after->read_until) << one.name << " is no news";
}

TEST_P(Groups, AnAccessThatIsSetAsItWasIsNoNews) {
  const Content data = share(alice, "data", {}, {"bob"});
  w.inboxes.people.clear();
  const Access same{AccessLevel::kShared, {}, {"bob"}, false};
  ASSERT_TRUE(w.contents.set_access(alice, w.request_id(), data.id, same).ok());
  EXPECT_THAT(w.inboxes.people, IsEmpty());
}

TEST_P(Groups, AListOfBuddiesThatOpensNothingWakesNobody) {
  const Actor beta = w.node(bob, "beta");
  const auto stream = w.hub.open(beta.node, [] {});
  const auto woken = [&] {
    EXPECT_TRUE(w.audiences.refresh().ok());
    return !stream->take().hints.empty();
  };
  woken();
  w.inboxes.people.clear();
  ASSERT_TRUE(w.buddies.add(alice, w.request_id(), "bob").ok());
  EXPECT_FALSE(woken());
  EXPECT_THAT(w.inboxes.people, IsEmpty());
  share(alice, "data", {}, {}, true);
  woken();
  w.inboxes.people.clear();
  ASSERT_TRUE(w.buddies.add(alice, w.request_id(), "bob").ok());
  EXPECT_FALSE(woken()) << "is on it already";
  EXPECT_THAT(w.inboxes.people, IsEmpty());
  ASSERT_TRUE(w.buddies.remove(alice, w.request_id(), "bob").ok());
  EXPECT_TRUE(woken());
}

TEST_P(Groups, AnInvitationStaysOnTheAccountOfWhoMadeIt) {
  make(alice, "lab");
  join(alice, "lab", bob);
  ASSERT_TRUE(step(alice, "lab", Step::kPromote, "bob").ok());
  ASSERT_TRUE(step(alice, "lab", Step::kInvite, "carol").ok());
  ASSERT_TRUE(step(bob, "lab", Step::kInvite, "carol").ok());
  EXPECT_EQ(w.inbox.read(carol)->invitations[0].asked_by_name, "alice");
}

TEST_P(Groups, AManagerWithEnoughGroupsIsNotPromotedAndAFullGroupTakesNobody) {
  ServerWorld small{GetParam(), [] {
                      Quotas quotas;
                      quotas.groups = 1;
                      quotas.group_members = 2;
                      return quotas;
                    }()};
  const Actor one = small.user("one"), two = small.user("two"), three = small.user("three");
  ASSERT_TRUE(small.groups.create(one, {small.request_id(), "first", "", false}).ok());
  ASSERT_TRUE(small.groups.create(two, {small.request_id(), "second", "", false}).ok());
  ASSERT_TRUE(small.groups.change(two, {small.request_id(), "first", "", Step::kRequest, ""}).ok());
  EXPECT_EQ(code_of(small.groups.change(three, {small.request_id(), "first", "", Step::kRequest, ""})),
            Code::kExhausted);
  ASSERT_TRUE(small.groups.change(one, {small.request_id(), "first", "two", Step::kAcceptRequest, ""}).ok());
  EXPECT_EQ(code_of(small.groups.change(one, {small.request_id(), "first", "two", Step::kPromote, ""})),
            Code::kExhausted);
}

TEST_P(Groups, ARequestIdDeletesOneGroup) {
  make(alice, "one");
  make(alice, "two");
  const std::string id = w.request_id();
  ASSERT_TRUE(w.groups.remove(alice, id, "one").ok());
  EXPECT_TRUE(w.groups.remove(alice, id, "one").ok());
  const Status other = w.groups.remove(alice, id, "two");
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, Code::kConflict);
  EXPECT_TRUE(w.groups.get(alice, "two").ok());
}

TEST_P(Groups, WhatIsHiddenCostsTheSameQueriesAsWhatIsMissing) {
  make(alice, "hidden", true);
  const auto ask = [&](const std::string& name, Step one, const std::string& user) {
    w.store.take_statements();
    EXPECT_EQ(code_of(step(bob, name, one, user)), Code::kNotFound);
    EXPECT_EQ(code_of(w.groups.get(bob, name)), Code::kNotFound);
    SearchQuery query;
    query.group = name;
    EXPECT_EQ(code_of(w.contents.search(bob, query)), Code::kNotFound);
    return w.store.take_statements();
  };
  for (const Step one : {Step::kRequest, Step::kLeave, Step::kInvite, Step::kPromote}) {
    const std::string user = is_own_step(one) ? "" : "carol";
    EXPECT_EQ(ask("hidden", one, user), ask("absent", one, user)) << step_name(one);
  }
}

TEST_P(Groups, ATokenThatMayNotReadContentIsShownNone) {
  share(alice, "data", {}, {"bob"});
  Actor narrow = bob;
  narrow.scopes = {Scope::kGroup};
  EXPECT_THAT(w.inbox.read(narrow)->shares, IsEmpty());
  EXPECT_THAT(w.inbox.read(bob)->shares, SizeIs(1));
}

}  // namespace
}  // namespace gridtorrent::ccm
