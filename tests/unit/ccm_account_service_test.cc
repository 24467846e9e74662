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
  EXPECT_EQ(code_of(w.accounts.add_user(alice, w.request_id(), "bob", "", false)), Code::kDenied);
  EXPECT_EQ(code_of(w.accounts.list_users(alice)), Code::kDenied);
  EXPECT_EQ(code_of(w.accounts.disable_user(alice, w.request_id(), "root")), Code::kDenied);
  EXPECT_EQ(code_of(w.accounts.newest_audit_records(alice, 1)), Code::kDenied);
  Actor narrow = root;
  narrow.scopes = Scopes{Scope::kContentRead};
  EXPECT_EQ(code_of(w.accounts.list_users(narrow)), Code::kDenied) << "the role alone is not enough";
}

TEST_P(Accounts, AddingAUserTwiceIsDoneOnce) {
  const std::string id = w.request_id();
  const auto first = w.accounts.add_user(root, id, "bob", "phc", false);
  ASSERT_TRUE(first.ok()) << message_of(first);
  EXPECT_EQ(*w.accounts.add_user(root, id, "bob", "phc", false), *first);
  const auto taken = w.accounts.add_user(root, w.request_id(), "bob", "phc", false);
  EXPECT_EQ(code_of(taken), Code::kConflict);
  EXPECT_THAT(message_of(taken), HasSubstr("bob exists"));
  EXPECT_EQ(code_of(w.accounts.add_user(root, w.request_id(), "Bob", "", false)), Code::kInvalid);
  EXPECT_THAT(*w.accounts.list_users(root), SizeIs(3));
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

TEST_P(Accounts, ATokenIsShownOnceAndRevokedByItsOwnerAlone) {
  const std::string id = w.request_id();
  ASSERT_TRUE(w.accounts.add_token(alice, id, token("t1")).ok());
  const auto again = w.accounts.add_token(alice, id, token("t2"));
  EXPECT_EQ(code_of(again), Code::kConflict);
  EXPECT_THAT(message_of(again), HasSubstr("t1"));
  ASSERT_TRUE(w.accounts.add_token(alice, "", token("t3")).ok());
  EXPECT_THAT(*w.accounts.list_tokens(alice), SizeIs(2));
  EXPECT_THAT(*w.accounts.list_tokens(root), SizeIs(0));
  EXPECT_EQ(code_of(w.accounts.revoke_token(root, w.request_id(), "t1")), Code::kNotFound);
  EXPECT_EQ(code_of(w.accounts.revoke_token(alice, w.request_id(), "none")), Code::kNotFound);
  ASSERT_TRUE(w.accounts.revoke_token(alice, w.request_id(), "t1").ok());
  ASSERT_TRUE(w.accounts.revoke_token(alice, w.request_id(), "t1").ok());
  EXPECT_FALSE((*w.accounts.find_token("t1"))->token.is_good(w.clock.wall()));
  EXPECT_FALSE(w.accounts.find_token("none")->has_value());
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
  EXPECT_EQ((*small.accounts.newest_audit_records(admin, 2)).back().action, "token.revoke");

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
  const auto records = w.accounts.newest_audit_records(root, 10);
  ASSERT_TRUE(records.ok());
  EXPECT_EQ(records->at(0).action, "user.list");
  EXPECT_EQ(records->at(1).actor_name, "mallory");
  EXPECT_EQ(w.accounts.newest_audit_records(root, 1)->at(0).action, "audit.read");
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
