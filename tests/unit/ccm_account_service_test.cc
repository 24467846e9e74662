#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/server_world.h"

namespace gridtorrent::ccm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing_support::code_of;
using testing_support::message_of;
using testing_support::ServerWorld;

class Accounts : public testing::TestWithParam<const char*> {
 protected:
  Token token(const std::string& id) {
    Token made;
    made.id = id;
    made.secret_hash = "hash";
    made.scopes = Scopes{Scope::kContentRead};
    made.label = "laptop";
    made.expires = w.clock.wall() + std::chrono::hours(1);
    return made;
  }
  ServerWorld w{GetParam()};
  Actor root = w.user("root", true);
  Actor alice = w.user("alice");
};

INSTANTIATE_TEST_SUITE_P(Over, Accounts, testing::Values("memory", "sqlite"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(Accounts, OnlyAnAdministratorManagesUsers) {
  EXPECT_EQ(code_of(w.accounts.add_user(alice, w.request_id(), "bob", "", Role::kUser)), Code::kDenied);
  EXPECT_EQ(code_of(w.accounts.list_users(alice)), Code::kDenied);
  EXPECT_EQ(code_of(w.accounts.disable_user(alice, w.request_id(), "root")), Code::kDenied);
  EXPECT_EQ(code_of(w.audit(alice, 1)), Code::kDenied);
  Actor narrow = root;
  narrow.scopes = Scopes{Scope::kContentRead};
  EXPECT_EQ(code_of(w.accounts.list_users(narrow)), Code::kDenied) << "the role alone is not enough";
}

TEST_P(Accounts, AddingAUserTwiceIsDoneOnce) {
  const std::string id = w.request_id();
  const auto first = w.accounts.add_user(root, id, "bob", "phc", Role::kUser);
  ASSERT_TRUE(first.ok()) << message_of(first);
  EXPECT_EQ(*w.accounts.add_user(root, id, "bob", "phc", Role::kUser), *first);
  const auto taken = w.accounts.add_user(root, w.request_id(), "bob", "phc", Role::kUser);
  EXPECT_EQ(code_of(taken), Code::kConflict);
  EXPECT_THAT(message_of(taken), HasSubstr("bob exists"));
  EXPECT_EQ(code_of(w.accounts.add_user(root, w.request_id(), "Bob", "", Role::kUser)), Code::kInvalid);
  EXPECT_THAT(w.accounts.list_users(root)->items, SizeIs(3));
  EXPECT_EQ((*w.accounts.find_user("bob"))->password_hash, "phc");
  EXPECT_EQ((*w.accounts.find_user(first->id))->name, "bob");
  EXPECT_EQ(*w.accounts.find_user("nobody"), std::nullopt);
  ASSERT_TRUE(w.accounts.set_password_hash(first->id, "other").ok());
  EXPECT_EQ((*w.accounts.find_user("bob"))->password_hash, "other");
}

TEST_P(Accounts, ADisabledUsersTokensEnd) {
  ASSERT_TRUE(w.accounts.add_token(alice, w.request_id(), token("t1")).ok());
  EXPECT_EQ(code_of(w.accounts.disable_user(root, w.request_id(), "root")), Code::kConflict);
  EXPECT_EQ(code_of(w.accounts.disable_user(root, w.request_id(), "nobody")), Code::kNotFound);
  const std::string id = w.request_id();
  ASSERT_TRUE(w.accounts.disable_user(root, id, alice.user.str()).ok());
  ASSERT_TRUE(w.accounts.disable_user(root, id, alice.user.str()).ok());
  const auto found = w.accounts.find_token("t1");
  EXPECT_FALSE((*found)->token.is_good(w.clock.wall()));
  EXPECT_TRUE((*found)->user.disabled);
}

TEST_P(Accounts, TokensNeverReachFurtherThanTheirMaker) {
  Token wide = token("t");
  wide.scopes = full_scopes(true);
  EXPECT_EQ(code_of(w.accounts.add_token(alice, "", wide)), Code::kDenied);
  wide.scopes = node_scopes();
  EXPECT_EQ(code_of(w.accounts.add_token(root, "", wide)), Code::kDenied);
  wide.scopes = Scopes();
  EXPECT_EQ(code_of(w.accounts.add_token(alice, "", wide)), Code::kDenied);
  Token wrong = token("t");
  wrong.expires = w.clock.wall();
  EXPECT_EQ(code_of(w.accounts.add_token(alice, "", wrong)), Code::kInvalid);
  wrong.expires = w.clock.wall() + std::chrono::hours(24 * 400);
  EXPECT_EQ(code_of(w.accounts.add_token(alice, "", wrong)), Code::kInvalid);
  wrong = token("t");
  wrong.kind = TokenKind::kNode;
  EXPECT_EQ(code_of(w.accounts.add_token(alice, "", wrong)), Code::kInvalid);
  wrong = token("t");
  wrong.label = "a\nb";
  EXPECT_EQ(code_of(w.accounts.add_token(alice, "", wrong)), Code::kInvalid);
}

TEST_P(Accounts, ATokenIsShownOnceAndRevokedByItsOwnerOrAnAdministrator) {
  const std::string id = w.request_id();
  ASSERT_TRUE(w.accounts.add_token(alice, id, token("t1")).ok());
  const auto again = w.accounts.add_token(alice, id, token("t2"));
  EXPECT_EQ(code_of(again), Code::kConflict);
  EXPECT_THAT(message_of(again), HasSubstr("t1"));
  ASSERT_TRUE(w.accounts.add_token(alice, "", token("t3")).ok());
  EXPECT_THAT(w.accounts.list_tokens(alice)->items, SizeIs(2));
  EXPECT_THAT(w.accounts.list_tokens(root)->items, SizeIs(0));
  EXPECT_EQ(code_of(w.accounts.revoke_token(w.user("bob"), w.request_id(), "t1")), Code::kNotFound);
  EXPECT_EQ(code_of(w.accounts.revoke_token(alice, w.request_id(), "none")), Code::kNotFound);
  ASSERT_TRUE(w.accounts.revoke_token(alice, w.request_id(), "t1").ok());
  ASSERT_TRUE(w.accounts.revoke_token(alice, w.request_id(), "t1").ok());
  EXPECT_FALSE((*w.accounts.find_token("t1"))->token.is_good(w.clock.wall()));
  EXPECT_FALSE(w.accounts.find_token("none")->has_value());
  ASSERT_TRUE(w.accounts.revoke_token(root, w.request_id(), "t3").ok());
  EXPECT_FALSE((*w.accounts.find_token("t3"))->token.is_good(w.clock.wall()));
}

TEST_P(Accounts, ALoginWithoutRoomTakesThePlaceOfTheIdlestOfItsLabel) {
  Quotas quotas;
  quotas.tokens = 4;
  ServerWorld small{GetParam(), quotas};
  const Actor admin = small.user("admin", true), user = small.user("user");
  const auto advance = [&] { small.clock.advance(std::chrono::minutes(2)); };
  Token made = token("made");
  made.label = "script";
  ASSERT_TRUE(small.accounts.add_token(user, "", made).ok());
  Token wider = token("wider");
  wider.scopes = Scopes{Scope::kContentRead, Scope::kAccount};
  ASSERT_TRUE(small.accounts.add_token(user, "", wider).ok());
  ASSERT_TRUE(small.accounts.add_token(user, "", token("first")).ok());
  advance();
  ASSERT_TRUE(small.accounts.add_token(user, "", token("second")).ok());
  advance();
  ASSERT_TRUE(small.accounts.note_token_used((*small.accounts.find_token("first"))->token).ok());
  const auto good = [&](const char* id) { return (*small.accounts.find_token(id))->token.is_good(small.clock.wall()); };

  EXPECT_EQ(code_of(small.accounts.add_token(user, "", token("third"))), Code::kExhausted);
  ASSERT_TRUE(small.accounts.add_token(user, "", token("third"), FullQuota::kReplaceSameLabel).ok());
  EXPECT_FALSE(good("second")) << "used least recently";
  EXPECT_TRUE(good("first") && good("made") && good("wider") && good("third"));
  EXPECT_EQ((*small.audit(admin, 2)).back().action, "token.revoke");

  Token elsewhere = token("elsewhere");
  elsewhere.label = "desktop";
  EXPECT_EQ(code_of(small.accounts.add_token(user, "", elsewhere, FullQuota::kReplaceSameLabel)), Code::kExhausted)
      << "nothing of that label";
}

TEST_P(Accounts, DisablingTwoUsersTakesTwoRequestIds) {
  w.user("carol");
  const std::string id = w.request_id();
  ASSERT_TRUE(w.accounts.disable_user(root, id, "alice").ok());
  EXPECT_TRUE(w.accounts.disable_user(root, id, "alice").ok()) << "again";
  EXPECT_EQ(code_of(w.accounts.disable_user(root, id, "carol")), Code::kConflict) << "not answered as done";
  EXPECT_FALSE((*w.accounts.find_user("carol"))->disabled);
}

TEST_P(Accounts, UseIsNotedOnceAMinute) {
  ASSERT_TRUE(w.accounts.add_token(alice, "", token("t1")).ok());
  const auto used = [&] { return (*w.accounts.find_token("t1"))->token; };
  ASSERT_TRUE(w.accounts.note_token_used(used()).ok());
  const WallTime first = w.clock.wall();
  w.clock.advance(std::chrono::seconds(59));
  ASSERT_TRUE(w.accounts.note_token_used(used()).ok());
  EXPECT_EQ(used().last_used, first);
  w.clock.advance(std::chrono::seconds(1));
  ASSERT_TRUE(w.accounts.note_token_used(used()).ok());
  EXPECT_EQ(used().last_used, w.clock.wall());
  ASSERT_TRUE(w.accounts.set_token_expiry("t1", w.clock.wall()).ok());
  EXPECT_FALSE(used().is_good(w.clock.wall()));
}

TEST_P(Accounts, AdministratorsReadsAreAuditedThemselves) {
  ASSERT_TRUE(
      w.accounts.audit({w.clock.wall(), UserId(), "mallory", "", "192.0.2.9", "login", "mallory", "unknown", ""}).ok());
  ASSERT_TRUE(w.accounts.list_users(root).ok());
  const auto records = w.audit(root, 10);
  ASSERT_TRUE(records.ok());
  EXPECT_EQ(records->at(0).action, "user.list");
  EXPECT_EQ(records->at(1).actor_name, "mallory");
  EXPECT_EQ(w.audit(root, 1)->at(0).action, "audit.read");
}

/// A store that says which transactions it was asked for.
class WatchedStore final : public Store {
 public:
  explicit WatchedStore(Store& store) : store_(store) {}
  Status write(const std::function<Status(Tx&)>& work) override {
    asked.emplace_back("write");
    return store_.write(work);
  }
  Status read(const std::function<Status(Tx&)>& work) override {
    asked.emplace_back("read");
    return store_.read(work);
  }
  std::vector<std::string> asked;

 private:
  Store& store_;
};

TEST_P(Accounts, WhatAdministratorsListIsReadBeforeTheWriterIsAskedForTheirRecord) {
  WatchedStore store(w.store.ccm());
  AccountService accounts({store, w.news, w.clock, w.rng, Quotas()});
  ASSERT_TRUE(accounts.list_users(root).ok());
  EXPECT_THAT(store.asked, ElementsAre("read", "write"));
  store.asked.clear();
  ASSERT_TRUE(accounts.audit_records(root, AuditFilter()).ok());
  EXPECT_THAT(store.asked, ElementsAre("read", "write"));
}

TEST_P(Accounts, AServiceAccountHasNoPasswordAndTokensThatAnAdministratorMakes) {
  EXPECT_EQ(code_of(w.accounts.add_user(root, w.request_id(), "robot", "phc", Role::kService)), Code::kInvalid);
  const User robot = *w.accounts.add_user(root, w.request_id(), "robot", "", Role::kService);
  EXPECT_THAT(robot.roles(), ElementsAre(Role::kService));
  EXPECT_EQ(code_of(w.accounts.change_password(root, w.request_id(), robot.id, "phc")), Code::kConflict);

  Token key = token("k1");
  key.user = robot.id;
  EXPECT_EQ(code_of(w.accounts.add_token(alice, w.request_id(), key)), Code::kDenied) << "no administrator";
  Token mighty = key;
  mighty.scopes = Scopes{Scope::kContentRead, Scope::kAdmin};
  EXPECT_EQ(code_of(w.accounts.add_token(root, w.request_id(), mighty)), Code::kDenied);
  Token persons = token("p1");
  persons.user = alice.user;
  const auto posing = w.accounts.add_token(root, w.request_id(), persons);
  EXPECT_EQ(code_of(posing), Code::kDenied);
  EXPECT_THAT(message_of(posing), HasSubstr("alice is a person"));

  ASSERT_TRUE(w.accounts.add_token(root, w.request_id(), key).ok());
  EXPECT_EQ((*w.accounts.find_token("k1"))->user.name, "robot");
  EXPECT_EQ(w.audit(root, 1)->at(0).object, "k1 for robot");
  EXPECT_EQ(code_of(w.accounts.list_tokens(alice, "robot")), Code::kDenied);
  EXPECT_THAT(w.accounts.list_tokens(root, "robot")->items, SizeIs(1));
  EXPECT_THAT(w.accounts.list_tokens(alice, "alice")->items, SizeIs(0)) << "one's own by name";
  EXPECT_EQ(code_of(w.accounts.revoke_token(alice, w.request_id(), "k1")), Code::kNotFound) << "not alice's to know";
  ASSERT_TRUE(w.accounts.revoke_token(root, w.request_id(), "k1").ok());
  EXPECT_FALSE((*w.accounts.find_token("k1"))->token.is_good(w.clock.wall()));

  ASSERT_TRUE(w.accounts.disable_user(root, w.request_id(), "robot").ok());
  key.id = "k2";
  EXPECT_EQ(code_of(w.accounts.add_token(root, w.request_id(), key)), Code::kConflict);
}

TEST_P(Accounts, WhoIsEnabledAgainStartsWithoutTokens) {
  ASSERT_TRUE(w.accounts.add_token(alice, "", token("t1")).ok());
  ASSERT_TRUE(w.accounts.disable_user(root, w.request_id(), "alice").ok());
  EXPECT_EQ(code_of(w.accounts.enable_user(alice, w.request_id(), "alice")), Code::kDenied);
  EXPECT_EQ(code_of(w.accounts.enable_user(root, w.request_id(), "nobody")), Code::kNotFound);
  const std::string id = w.request_id();
  ASSERT_TRUE(w.accounts.enable_user(root, id, "alice").ok());
  EXPECT_FALSE((*w.accounts.find_user("alice"))->disabled);
  EXPECT_FALSE((*w.accounts.find_token("t1"))->token.is_good(w.clock.wall()));
  ASSERT_TRUE(w.accounts.disable_user(root, w.request_id(), "alice").ok());
  ASSERT_TRUE(w.accounts.enable_user(root, id, "alice").ok()) << "repeated, it has been done once";
  EXPECT_TRUE((*w.accounts.find_user("alice"))->disabled);
}

TEST_P(Accounts, ANewPasswordFromAnAdministratorEndsLoginsAndNoNodes) {
  const Actor node = w.node(alice, "alpha");
  ASSERT_TRUE(w.accounts.add_token(alice, "", token("t1")).ok());
  const Actor bob = w.user("bob");
  EXPECT_EQ(code_of(w.accounts.change_password(bob, w.request_id(), alice.user, "phc")), Code::kDenied);
  ASSERT_TRUE(w.accounts.change_password(alice, w.request_id(), alice.user, "her own").ok());
  EXPECT_TRUE((*w.accounts.find_token("t1"))->token.is_good(w.clock.wall())) << "her own change ends none";
  EXPECT_EQ(w.audit(root, 1)->at(0).action, "password.change");
  ASSERT_TRUE(w.accounts.change_password(root, w.request_id(), alice.user, "phc").ok());
  EXPECT_EQ((*w.accounts.find_user("alice"))->password_hash, "phc");
  EXPECT_FALSE((*w.accounts.find_token("t1"))->token.is_good(w.clock.wall()));
  EXPECT_EQ(w.audit(root, 1)->at(0).action, "password.reset");
  const auto tokens = w.accounts.list_tokens(alice)->items;
  for (const Token& one : tokens) {
    EXPECT_EQ(one.is_good(w.clock.wall()), one.kind == TokenKind::kNode) << one.id;
  }
}

TEST_P(Accounts, KnownDevicesEndWithANewPasswordAndWithTheAccount) {
  const auto add = [&](const std::string& id, const std::string& hash) {
    Token device = token(id);
    device.kind = TokenKind::kDevice;
    return w.accounts.add_device(alice, device, hash);
  };
  const auto good = [&](const std::string& id) { return (*w.accounts.find_token(id))->token.is_good(w.clock.wall()); };
  ASSERT_TRUE(w.accounts.add_token(alice, "", token("t1")).ok());
  ASSERT_TRUE(w.accounts.change_password(alice, w.request_id(), alice.user, "first").ok());
  EXPECT_FALSE(*add("late", "an older one")) << "its password was changed meanwhile";
  EXPECT_FALSE(w.accounts.find_token("late")->has_value());
  EXPECT_TRUE(*add("d1", "first"));
  EXPECT_TRUE(good("d1"));
  ASSERT_TRUE(w.accounts.change_password(alice, w.request_id(), alice.user, "second").ok());
  EXPECT_FALSE(good("d1")) << "her own change ends devices";
  EXPECT_TRUE(good("t1")) << "and no tokens";
  EXPECT_TRUE(*add("d2", "second"));
  ASSERT_TRUE(w.accounts.change_password(root, w.request_id(), alice.user, "third").ok());
  EXPECT_FALSE(good("d2"));
  EXPECT_TRUE(*add("d3", "third"));
  ASSERT_TRUE(w.accounts.disable_user(root, w.request_id(), "alice").ok());
  EXPECT_FALSE(good("d3"));
  EXPECT_FALSE(*add("d4", "third")) << "the account is disabled";
}

TEST_P(Accounts, TheSeventeenthDeviceTakesThePlaceOfOneOfTheSameNameOrTheMostIdle) {
  const auto add = [&](int number, const std::string& label) {
    w.clock.advance(std::chrono::minutes(1));
    Token device = token("d" + std::to_string(number));
    device.kind = TokenKind::kDevice;
    device.label = label;
    EXPECT_TRUE(*w.accounts.add_device(alice, device, ""));
  };
  const auto good = [&](int number) {
    return (*w.accounts.find_token("d" + std::to_string(number)))->token.is_good(w.clock.wall());
  };
  for (int i = 1; i <= 16; ++i) add(i, "host-" + std::to_string(i));
  ASSERT_TRUE(w.accounts.note_device_used("d1", w.clock.wall() + std::chrono::hours(24)).ok());
  add(17, "host-9");
  EXPECT_FALSE(good(9));
  add(18, "other");
  EXPECT_FALSE(good(2)) << "the first has logged in since";
  int left = 0;
  for (int i = 1; i <= 18; ++i) left += good(i) ? 1 : 0;
  EXPECT_EQ(left, 16);
}

TEST_P(Accounts, AQuotaThatIsSetForOnePersonHoldsForThemAlone) {
  const auto limit = [&](const Actor& who, Quota quota) {
    return w.accounts.quotas(who, "")->at(static_cast<std::size_t>(quota));
  };
  EXPECT_EQ(code_of(w.accounts.quotas(alice, "root")), Code::kDenied);
  EXPECT_EQ(code_of(w.accounts.change_quotas(alice, w.request_id(), "alice", {{Quota::kTokens, 1000}})), Code::kDenied);
  EXPECT_EQ(code_of(w.accounts.change_quotas(root, w.request_id(), "alice", {{Quota::kTokens, ~std::uint64_t{0}}})),
            Code::kInvalid);
  ASSERT_TRUE(w.accounts.change_quotas(root, w.request_id(), "alice", {{Quota::kTokens, 1}, {Quota::kNodes, 0}}).ok());
  EXPECT_EQ(w.audit(root, 1)->at(0).object, "alice tokens=1 nodes=0");

  ASSERT_TRUE(w.accounts.add_token(alice, "", token("t1")).ok());
  EXPECT_EQ(code_of(w.accounts.add_token(alice, "", token("t2"))), Code::kExhausted);
  EXPECT_EQ(limit(alice, Quota::kTokens).used, 1);
  EXPECT_EQ(limit(alice, Quota::kTokens).limit, 1);
  EXPECT_TRUE(limit(alice, Quota::kTokens).own_limit);
  const Actor bob = w.user("bob");
  ASSERT_TRUE(w.accounts.add_token(bob, "", token("b1")).ok());
  ASSERT_TRUE(w.accounts.add_token(bob, "", token("b2")).ok());
  EXPECT_FALSE(limit(bob, Quota::kTokens).own_limit);
  EXPECT_EQ(*w.accounts.own_limit(alice.user, Quota::kTokens), 1u);
  EXPECT_EQ(*w.accounts.own_limit(bob.user, Quota::kTokens), std::nullopt);

  ASSERT_TRUE(w.accounts.change_quotas(root, w.request_id(), "alice", {{Quota::kTokens, std::nullopt}}).ok());
  EXPECT_TRUE(w.accounts.add_token(alice, "", token("t2")).ok());
  EXPECT_EQ(limit(alice, Quota::kNodes).limit, 0) << "the other one stays";
}

TEST_P(Accounts, EveryQuotaIsEnforcedAtItsOwnDoor) {
  const auto none = [&](Quota quota) {
    EXPECT_TRUE(w.accounts.change_quotas(root, w.request_id(), "alice", {{quota, 0}}).ok());
  };
  const Actor bob = w.user("bob");
  ASSERT_TRUE(w.groups.create(alice, {w.request_id(), "lab", "", false}).ok());
  none(Quota::kGroups);
  EXPECT_EQ(code_of(w.groups.create(alice, {w.request_id(), "other", "", false})), Code::kExhausted);
  none(Quota::kOpenRequests);
  EXPECT_EQ(code_of(w.groups.change(alice, {w.request_id(), "lab", "bob", MembershipStep::kInvite, ""})),
            Code::kExhausted);
  none(Quota::kBuddies);
  EXPECT_EQ(code_of(w.buddies.add(alice, w.request_id(), "bob")), Code::kExhausted);
  none(Quota::kEnrollTokens);
  Token enroll;
  enroll.id = "e-new";
  enroll.uses_left = 1;
  enroll.expires = w.clock.wall() + std::chrono::minutes(15);
  EXPECT_EQ(code_of(w.nodes.add_enroll_token(alice, w.request_id(), enroll)), Code::kExhausted);
}

TEST_P(Accounts, AuditRecordsAreFoundByActorActionTimeAndPage) {
  const auto record = [&](const std::string& actor, const std::string& action) {
    ASSERT_TRUE(w.accounts.audit({w.clock.wall(), UserId(), actor, "", "", action, "x", "ok", ""}).ok());
    w.clock.advance(std::chrono::minutes(1));
  };
  const auto found = [&](const AuditFilter& filter) {
    std::string text;
    const auto records = *w.accounts.audit_records(root, filter);
    for (const auto& one : records) {
      text += one.record.actor_name + ":" + one.record.action + " ";
    }
    return text;
  };
  record("ann", "content.publish");
  const WallTime later = w.clock.wall();
  record("ben", "contents");
  record("ben", "content.access");
  AuditFilter filter;
  filter.action = "content";
  EXPECT_EQ(found(filter), "ben:content.access ann:content.publish ");
  filter.action = "content.publish";
  EXPECT_EQ(found(filter), "ann:content.publish ");
  filter = {};
  filter.actor = "ben";
  EXPECT_EQ(found(filter), "ben:content.access ben:contents ");
  filter.since = later;
  filter.limit = 1;
  const auto first = *w.accounts.audit_records(root, filter);
  ASSERT_THAT(first, SizeIs(1));
  filter.below = first.front().number;
  EXPECT_EQ(found(filter), "ben:contents ");
  filter.actor = "' OR 1=1 --";
  EXPECT_EQ(found(filter), "");
  EXPECT_EQ(code_of(w.accounts.audit_records(alice, {})), Code::kDenied);
}

TEST_P(Accounts, TheFirstUserIsMadeOnlyInAnEmptyServer) {
  EXPECT_FALSE(w.accounts.make_first_user("admin", true)->has_value());
  ServerWorld fresh(GetParam());
  const auto made = fresh.accounts.make_first_user("admin", true);
  ASSERT_TRUE(made.ok() && made->has_value());
  EXPECT_TRUE((*made)->admin);
  EXPECT_FALSE(fresh.accounts.make_first_user("admin", true)->has_value());
  EXPECT_EQ(code_of(fresh.accounts.make_first_user("A", true)), Code::kInvalid);
}

TEST(TokenQuotas, AreRefusedByName) {
  Quotas quotas;
  quotas.tokens = 1;
  ServerWorld w("memory", quotas);
  const Actor alice = w.user("alice");
  Token made;
  made.id = "t1";
  made.scopes = Scopes{Scope::kContentRead};
  made.expires = w.clock.wall() + std::chrono::hours(1);
  ASSERT_TRUE(w.accounts.add_token(alice, "", made).ok());
  made.id = "t2";
  EXPECT_EQ(code_of(w.accounts.add_token(alice, "", made)), Code::kExhausted);
  w.clock.advance(std::chrono::hours(1));
  made.expires = w.clock.wall() + std::chrono::hours(1);
  EXPECT_TRUE(w.accounts.add_token(alice, "", made).ok()) << "what has ended does not count";
}

}  // namespace
}  // namespace gridtorrent::ccm
