#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/server_world.h"

namespace gridtorrent::ccm {
namespace {

using testing::HasSubstr;
using testing_support::code_of;
using testing_support::message_of;
using testing_support::ServerWorld;

TEST(MayInvite, TakesAManagerForAGroupAndAnAdministratorForAnAccount) {
  const Inviter nobody, admin{true, false, false}, manager{false, true, false}, trusted{false, true, true};
  EXPECT_FALSE(check_may_invite(nobody, false, true).ok());
  EXPECT_TRUE(check_may_invite(admin, false, true).ok());
  EXPECT_FALSE(check_may_invite(admin, true, false).ok()) << "an administrator is no manager";
  EXPECT_TRUE(check_may_invite(manager, true, false).ok());
  EXPECT_FALSE(check_may_invite(manager, true, true).ok());
  EXPECT_TRUE(check_may_invite(trusted, true, true).ok());
  EXPECT_FALSE(check_may_invite(trusted, false, true).ok()) << "not to the server alone";
}

class Invites : public testing::TestWithParam<const char*> {
 protected:
  NewInvite wish(const std::string& user, const std::string& group, std::uint32_t uses = 1) {
    NewInvite invite{w.request_id(), user, group, {}};
    invite.token.id = "invite" + std::to_string(++codes_);
    invite.token.secret_hash = "hash";
    invite.token.kind = TokenKind::kInvite;
    invite.token.uses_left = uses;
    invite.token.expires = w.clock.wall() + std::chrono::hours(1);
    return invite;
  }
  /// The id of a fresh code.
  std::string invite(const Actor& by, const std::string& user, const std::string& group, std::uint32_t uses = 1) {
    const auto made = w.invites.add(by, wish(user, group, uses));
    EXPECT_TRUE(made.ok()) << message_of(made);
    return made.ok() ? made->id : "";
  }
  Result<User> join(const std::string& code, const std::string& user, bool proven = false) {
    return w.invites.join({code, user, proven ? "" : "phc of " + user, proven, "192.0.2.7"});
  }
  void root_manages_lab() {
    ASSERT_TRUE(w.groups.change(alice, {w.request_id(), "lab", "root", MembershipStep::kInvite, ""}).ok());
    ASSERT_TRUE(w.groups.change(root, {w.request_id(), "lab", "", MembershipStep::kAcceptInvitation, ""}).ok());
    ASSERT_TRUE(w.groups.change(alice, {w.request_id(), "lab", "root", MembershipStep::kPromote, ""}).ok());
  }
  Standing standing(const std::string& group, const std::string& user) {
    const auto view = w.groups.get(alice, group);
    EXPECT_TRUE(view.ok()) << message_of(view);
    for (const Membership& one : view->members) {
      if (one.user_name == user) return one.standing;
    }
    return Standing::kNone;
  }
  std::uint32_t uses_left(const Actor& of, const std::string& code) {
    const auto listed = w.accounts.list_tokens(of);
    for (const Token& token : listed->items) {
      if (token.id == code) return token.uses_left;
    }
    ADD_FAILURE() << "no code " << code;
    return 0;
  }

  ServerWorld w{GetParam()};
  Actor root = w.user("root", true);
  Actor alice = w.user("alice");
  Actor bob = w.user("bob");
  GroupView lab = *w.groups.create(alice, {w.request_id(), "lab", "", false});

 private:
  int codes_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Over, Invites, testing::Values("memory", "sqlite"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(Invites, AreRefusedToWhoMayNotMakeThem) {
  EXPECT_EQ(code_of(w.invites.add(alice, wish("", ""))), Code::kDenied);
  EXPECT_EQ(code_of(w.invites.add(alice, wish("carol", "lab"))), Code::kDenied) << "that would be an account";
  EXPECT_EQ(code_of(w.invites.add(bob, wish("", "lab"))), Code::kNotFound) << "no group of his";
  EXPECT_EQ(code_of(w.invites.add(root, wish("carol", "lab"))), Code::kNotFound);
  EXPECT_TRUE(w.invites.add(alice, wish("bob", "lab")).ok()) << "bob has an account";
  Actor narrow = root;
  narrow.scopes = Scopes{Scope::kAccount};
  EXPECT_EQ(code_of(w.invites.add(narrow, wish("carol", ""))), Code::kDenied);
  narrow = alice;
  narrow.scopes = Scopes{Scope::kAccount};
  EXPECT_EQ(code_of(w.invites.add(narrow, wish("bob", "lab"))), Code::kDenied);
}

TEST_P(Invites, AreRefusedWhereTheyMakeNoSense) {
  EXPECT_EQ(code_of(w.invites.add(root, wish("Not A Name", ""))), Code::kInvalid);
  EXPECT_EQ(code_of(w.invites.add(root, wish("carol", "", 2))), Code::kInvalid) << "two people of one name";
  EXPECT_EQ(code_of(w.invites.add(root, wish("", "", 0))), Code::kInvalid);
  EXPECT_EQ(code_of(w.invites.add(root, wish("", "", InviteService::kMostUses + 1))), Code::kInvalid);
  NewInvite ended = wish("carol", "");
  ended.token.expires = w.clock.wall();
  EXPECT_EQ(code_of(w.invites.add(root, ended)), Code::kInvalid);
  ended.token.expires = w.clock.wall() + InviteService::kLongestLife + std::chrono::milliseconds(1);
  EXPECT_EQ(code_of(w.invites.add(root, ended)), Code::kInvalid);
  const auto has_one = w.invites.add(root, wish("bob", ""));
  EXPECT_EQ(code_of(has_one), Code::kConflict);
  EXPECT_THAT(message_of(has_one), HasSubstr("--group"));
  EXPECT_THAT(message_of(has_one), HasSubstr("'gridtorrent invite --no-code'"));
  const NewInvite once = wish("carol", "");
  ASSERT_TRUE(w.invites.add(root, once).ok());
  EXPECT_EQ(code_of(w.invites.add(root, once)), Code::kConflict) << "its code was shown";
}

TEST_P(Invites, MakeAnAccountOnceAndTheSamePersonMayAskAgain) {
  const std::string code = invite(root, "", "");
  const auto carol = join(code, "carol");
  ASSERT_TRUE(carol.ok()) << message_of(carol);
  EXPECT_EQ((*w.accounts.find_user("carol"))->password_hash, "phc of carol");
  EXPECT_FALSE(carol->admin);
  EXPECT_EQ(uses_left(root, code), 0u);
  EXPECT_TRUE(join(code, "carol", true).ok()) << "the answer to the first may have been lost";
  EXPECT_EQ(code_of(join(code, "carol")), Code::kConflict) << "somebody who has not shown her password";
  EXPECT_EQ(code_of(join(code, "dave")), Code::kUnauthenticated) << "used up";
  EXPECT_EQ(*w.accounts.find_user("dave"), std::nullopt);
}

TEST_P(Invites, OutOfDateStillLetTheirOwnPeopleJoinAnotherMachine) {
  root_manages_lab();
  const std::string plain = invite(root, "carol", ""), to_lab = invite(root, "", "lab", 3);
  ASSERT_TRUE(join(plain, "carol").ok());
  ASSERT_TRUE(join(to_lab, "dora").ok());
  w.clock.advance(std::chrono::hours(24 * 7));
  EXPECT_TRUE(join(plain, "carol", true).ok());
  EXPECT_TRUE(join(to_lab, "dora", true).ok()) << "a member already";
  EXPECT_EQ(uses_left(root, to_lab), 2u);
  const auto refused = join(to_lab, "carol", true);
  EXPECT_EQ(code_of(refused), Code::kUnauthenticated) << "it would make her a member";
  EXPECT_THAT(message_of(refused), HasSubstr("'gridtorrent invite --no-code'"));
  EXPECT_EQ(code_of(join(plain, "dora", true)), Code::kUnauthenticated) << "it is for carol";
  EXPECT_EQ(code_of(join(plain, "carol")), Code::kUnauthenticated) << "somebody who has not shown her password";
}

TEST_P(Invites, ForOneNameServeNoOther) {
  const std::string code = invite(root, "carol", "");
  EXPECT_EQ(code_of(join(code, "dave")), Code::kDenied);
  EXPECT_EQ(code_of(join(code, "bob", true)), Code::kDenied);
  EXPECT_TRUE(join(code, "carol").ok());
}

TEST_P(Invites, ToAGroupMakeAMember) {
  root_manages_lab();
  const std::string code = invite(root, "", "lab", 3);
  ASSERT_TRUE(join(code, "carol").ok());
  EXPECT_EQ(standing("lab", "carol"), Standing::kMember);
  const auto bobs = join(code, "bob", true);
  ASSERT_TRUE(bobs.ok()) << message_of(bobs);
  EXPECT_EQ(standing("lab", "bob"), Standing::kMember);
  EXPECT_EQ(uses_left(root, code), 1u);
  EXPECT_TRUE(join(code, "bob", true).ok());
  EXPECT_EQ(uses_left(root, code), 1u) << "bob changed nothing by it";
}

TEST_P(Invites, OlderThanARemovalLetNobodyBackIn) {
  root_manages_lab();
  const std::string code = invite(root, "", "lab", 3);
  ASSERT_TRUE(join(code, "bob", true).ok());
  w.clock.advance(std::chrono::minutes(5));
  ASSERT_TRUE(w.groups.change(alice, {w.request_id(), "lab", "bob", MembershipStep::kRemove, ""}).ok());
  const auto again = join(code, "bob", true);
  EXPECT_EQ(code_of(again), Code::kDenied);
  EXPECT_THAT(message_of(again), HasSubstr("user bob was removed from group lab after this invitation was made"));
  EXPECT_EQ(standing("lab", "bob"), Standing::kNone);
  EXPECT_EQ(uses_left(root, code), 2u);
  w.user("dora");
  EXPECT_TRUE(join(code, "dora", true).ok()) << "it is good for others";
  w.clock.advance(std::chrono::minutes(5));
  EXPECT_TRUE(join(invite(alice, "bob", "lab"), "bob", true).ok()) << "whom a manager invites anew";
  EXPECT_EQ(standing("lab", "bob"), Standing::kMember);
}

TEST_P(Invites, LetWhoLeftByThemselvesBackIn) {
  root_manages_lab();
  const std::string code = invite(root, "", "lab", 3);
  const Actor dora = w.user("dora");
  ASSERT_TRUE(join(code, "dora", true).ok());
  ASSERT_TRUE(w.groups.change(dora, {w.request_id(), "lab", "", MembershipStep::kLeave, ""}).ok());
  EXPECT_TRUE(join(code, "dora", true).ok());
  EXPECT_EQ(standing("lab", "dora"), Standing::kMember);
}

TEST_P(Invites, AreAnswersToARequestToBeLetIn) {
  ASSERT_TRUE(w.groups.change(bob, {w.request_id(), "lab", "", MembershipStep::kRequest, ""}).ok());
  ASSERT_TRUE(join(invite(alice, "bob", "lab"), "bob", true).ok());
  EXPECT_EQ(standing("lab", "bob"), Standing::kMember);
}

TEST_P(Invites, EndWithTimeRevocationAndTheRightsOfWhoMadeThem) {
  const std::string old = invite(root, "", "");
  w.clock.advance(std::chrono::hours(2));
  EXPECT_EQ(code_of(join(old, "carol")), Code::kUnauthenticated);

  const std::string revoked = invite(root, "", "");
  ASSERT_TRUE(w.accounts.revoke_token(root, w.request_id(), revoked).ok());
  EXPECT_EQ(code_of(join(revoked, "carol")), Code::kUnauthenticated);

  const std::string left = invite(alice, "bob", "lab");
  ASSERT_TRUE(w.groups.change(alice, {w.request_id(), "lab", "bob", MembershipStep::kInvite, ""}).ok());
  ASSERT_TRUE(w.groups.change(bob, {w.request_id(), "lab", "", MembershipStep::kAcceptInvitation, ""}).ok());
  ASSERT_TRUE(w.groups.change(alice, {w.request_id(), "lab", "bob", MembershipStep::kPromote, ""}).ok());
  const std::string of_bob = invite(bob, "root", "lab");
  ASSERT_TRUE(w.groups.change(alice, {w.request_id(), "lab", "bob", MembershipStep::kDemote, ""}).ok());
  EXPECT_EQ(code_of(join(of_bob, "root", true)), Code::kDenied) << "bob speaks for the group no more";

  const Actor other = w.user("other", true);
  const std::string of_other = invite(other, "", "");
  ASSERT_TRUE(w.accounts.disable_user(root, w.request_id(), "other").ok());
  EXPECT_EQ(code_of(join(of_other, "carol")), Code::kUnauthenticated);
  EXPECT_EQ(*w.accounts.find_user("carol"), std::nullopt);
}

TEST_P(Invites, ThatFailTakeNoUse) {
  const std::string code = invite(root, "", "");
  EXPECT_EQ(code_of(join(code, "Not A Name")), Code::kInvalid);
  EXPECT_EQ(code_of(join(code, "bob")), Code::kConflict);
  EXPECT_EQ(uses_left(root, code), 1u);
  EXPECT_EQ(code_of(join("nosuchcode", "carol")), Code::kUnauthenticated);
}

TEST_P(Invites, ToAGroupLeaveTheRecordsOfBothConsents) {
  ASSERT_TRUE(join(invite(alice, "bob", "lab"), "bob", true).ok());
  const auto records = w.audit(root, 3);
  ASSERT_TRUE(records.ok());
  EXPECT_EQ(records->at(1).action + " " + records->at(1).actor_name, "group.accept-invitation bob");
  EXPECT_EQ(records->at(2).action + " " + records->at(2).actor_name, "group.invite alice");
  EXPECT_EQ(records->at(2).object, "lab bob");
}

TEST_P(Invites, AreAudited) {
  const std::string code = invite(root, "carol", "");
  ASSERT_TRUE(join(code, "carol").ok());
  const auto records = w.audit(root, 2);
  ASSERT_TRUE(records.ok());
  EXPECT_EQ(records->at(0).action, "invite.use");
  EXPECT_EQ(records->at(0).actor_name, "carol");
  EXPECT_EQ(records->at(0).address, "192.0.2.7");
  EXPECT_THAT(records->at(0).object, HasSubstr(code));
  EXPECT_EQ(records->at(1).action, "invite.create");
  EXPECT_THAT(records->at(1).object, HasSubstr("carol"));
}

TEST_P(Invites, AreAsManyAsTheQuotaAllows) {
  ASSERT_TRUE(w.accounts.change_quotas(root, w.request_id(), "root", {{Quota::kOpenRequests, 1}}).ok());
  const std::string code = invite(root, "", "");
  EXPECT_EQ(code_of(w.invites.add(root, wish("", ""))), Code::kExhausted);
  ASSERT_TRUE(join(code, "carol").ok());
  EXPECT_TRUE(w.invites.add(root, wish("", "")).ok()) << "one that is used up does not count";
}

}  // namespace
}  // namespace gridtorrent::ccm
