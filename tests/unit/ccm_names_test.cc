#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ccm/domain/content.h"
#include "ccm/domain/names.h"
#include "ccm/domain/user.h"
#include "common/request_id.h"

namespace gridtorrent::ccm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kSomeId = "c_aguox6ktnj2w3jvyvdh2ehzvmi";

TEST(UserNames, FollowTheRule) {
  for (const char* good : {"ab", "a1", "0x", "alice.b_c-d", "aa.."}) EXPECT_TRUE(check_name("user name", good)) << good;
  const std::string longest = "a" + std::string(63, 'b');
  EXPECT_TRUE(check_name("user name", longest));
  for (const std::string& bad : {std::string(""), std::string("a"), std::string("Alice"), std::string("-a"),
                                 std::string(".a"), std::string("a b"), std::string("a/b"), std::string("ä1"),
                                 std::string("a\n"), longest + "b", std::string("a\0b", 3)}) {
    const Status refused = check_name("user name", bad);
    ASSERT_FALSE(refused.ok()) << bad;
    EXPECT_EQ(refused.error().code, Code::kInvalid);
  }
}

TEST(UserNames, NeverLookLikeAnId) {
  EXPECT_FALSE(check_name("user name", "u_aguox6ktnj2w3jvyvdh2ehzvmi"));
}

TEST(ContentNames, BecomeNfcAndKeepTheirCase) {
  EXPECT_EQ(*normalize_content_name("Gru\u0308\u00dfe 2024"), "Gr\u00fc\u00dfe 2024");
  EXPECT_EQ(*normalize_content_name("Climate (v1.0)"), "Climate (v1.0)");
}

TEST(ContentNames, CountCharactersNotBytes) {
  std::string long_name;
  for (int i = 0; i < 128; ++i) long_name += "\u00fc";
  EXPECT_TRUE(normalize_content_name(long_name).ok());
  EXPECT_FALSE(normalize_content_name(long_name + "x").ok());
}

TEST(ContentNames, RefuseWhatMisleadsOrBreaks) {
  for (const std::string& bad :
       {std::string(""), std::string("a/b"), std::string("a\nb"), std::string("a\tb"), std::string("a\0b", 3),
        std::string("\xff\xfe"), std::string(" a"), std::string("a "), std::string("a\u202eb"), std::string("a\u200bb"),
        std::string("a\u2028b"), std::string(kSomeId), std::string(2000, 'x'), std::string("\U000e0fff")}) {
    const auto refused = normalize_content_name(bad);
    ASSERT_FALSE(refused.ok()) << bad;
    EXPECT_EQ(refused.error().code, Code::kInvalid);
    EXPECT_EQ(refused.error().message.find('\n'), std::string::npos) << "one line";
  }
}

TEST(NewContentNames, RefuseWhatIsNotShownOrLooksLikeAnother) {
  for (const std::string& bad :
       {std::string("."), std::string(".."), std::string("a\u00adb"), std::string("a\u034fb"), std::string("\u3164"),
        std::string("a\ufe0f"), std::string("a\u115fb"), std::string("\u00a0a"), std::string("a\u2003"),
        std::string("a\u3000"), std::string("\u0441limate"), std::string("data \u0434\u0430\u043d\u043d\u044b\u0435"),
        std::string("\u0561rm"), std::string("\u13a0b"), std::string("\uff41\u0430"), std::string("data@2")}) {
    const Status refused = check_new_content_name(bad);
    ASSERT_FALSE(refused.ok()) << bad;
    EXPECT_EQ(refused.error().code, Code::kInvalid);
    EXPECT_EQ(refused.error().message.find('\n'), std::string::npos) << "one line";
  }
  EXPECT_THAT(check_new_content_name("\u0441limate").error().message, HasSubstr("Latin and Cyrillic"));
}

TEST(NewContentNames, LeaveEveryScriptGreekAndMathematicsAlone) {
  for (const std::string& good :
       {std::string("..."), std::string(".hidden"), std::string("data@"), std::string("data@02"), std::string("@2"),
        std::string("a b"), std::string("Gr\u00fc\u00dfe 2024"),
        std::string("\u0434\u0430\u043d\u043d\u044b\u0435 2024"), std::string("\u0561\u0562"),
        std::string("\u13a0\u13a1"), std::string("\u03b2-decay of 40K"),
        std::string("\u2207\u00b7E = \u03c1/\u03b5\u2080"), std::string("\U0001d400\u0434"),
        std::string("\u6c17\u5019 data"), std::string("\u05d0\u05d1 data")}) {
    const Status taken = check_new_content_name(good);
    EXPECT_TRUE(taken.ok()) << taken.error().message;
  }
}

TEST(ContentReferences, StillFindNamesThatNobodyCouldGiveAnyMore) {
  for (const char* old : {"data@2", "a\u034fb", "\u0441limate", "..", "a\u00a0"}) {
    const auto found = parse_content_reference(std::string("alice/") + old);
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_EQ(found->name, old);
  }
}

TEST(Tags, AreNormalisedAndUnique) {
  EXPECT_THAT(*normalize_tags({"b", "u\u0308", "a", "\u00fc", "b"}), ElementsAre("b", "\u00fc", "a"));
  for (const std::string& bad : {std::string(""), std::string("a,b"), std::string("a\nb"), std::string("a\u200eb"),
                                 std::string(65, 'x'), std::string(5000, 'x'), std::string("\xff")}) {
    EXPECT_FALSE(normalize_tags({bad}).ok()) << bad;
  }
  std::vector<std::string> many;
  for (int i = 0; i < 33; ++i) many.push_back("t" + std::to_string(i));
  EXPECT_FALSE(normalize_tags(many).ok());
  many.pop_back();
  EXPECT_TRUE(normalize_tags(many).ok());
}

TEST(Texts, KeepLinesOnlyWhereAllowed) {
  EXPECT_EQ(*normalize_text("description", "a\n\tb", 10, true), "a\n\tb");
  EXPECT_FALSE(normalize_text("license", "a\nb", 10, false).ok());
  EXPECT_FALSE(normalize_text("license", "a\rb", 10, true).ok());
  EXPECT_FALSE(normalize_text("license", "12345678901", 10, true).ok());
  EXPECT_FALSE(normalize_text("license", "\xc3", 10, true).ok());
}

TEST(FoldCase, IgnoresCaseInEveryScript) {
  EXPECT_EQ(fold_case("GR\u00dc\u1e9e"), fold_case("gr\u00fc\u00df"));
  EXPECT_EQ(fold_case("\u0416"), fold_case("\u0436"));
  EXPECT_EQ(fold_case("\xff"), "\xff");
}

TEST(RequestIds, AreShortPrintableAscii) {
  EXPECT_TRUE(check_request_id("x"));
  EXPECT_TRUE(check_request_id(std::string(64, 'z')));
  for (const std::string& bad :
       {std::string(), std::string(65, 'z'), std::string("a b"), std::string("\x7f"), std::string("\u00fc")}) {
    EXPECT_FALSE(check_request_id(bad)) << bad;
  }
}

TEST(ContentReferences, AreIdsOrNamesOrOwnersNames) {
  EXPECT_EQ(parse_content_reference(kSomeId)->id, kSomeId);
  const auto bare = parse_content_reference("u\u0308");
  EXPECT_EQ(bare->name, "\u00fc");
  EXPECT_EQ(bare->owner, "");
  const auto owned = parse_content_reference("alice/data");
  EXPECT_EQ(owned->owner, "alice");
  EXPECT_EQ(owned->name, "data");
  for (const std::string& bad :
       {std::string("/data"), std::string("Alice/data"), std::string("alice/"), std::string("alice/a/b"),
        std::string(""), std::string(3000, 'x'), std::string("n_aguox6ktnj2w3jvyvdh2ehzvmi")}) {
    EXPECT_FALSE(parse_content_reference(bad).ok()) << bad;
  }
}

TEST(Pages, ComeBackOnlyAsTheyWereMade) {
  const PageCursor cursor{{1'700'000'000'123}, *ContentId::parse(kSomeId)};
  EXPECT_EQ(*parse_page(encode_page(cursor)), cursor);
  for (const std::string& bad :
       {std::string(""), std::string("1"), std::string(".") + kSomeId, std::string("1.c_short"),
        std::string("x.") + kSomeId, std::string("1x.") + kSomeId, std::string("99999999999999999999.") + kSomeId}) {
    EXPECT_FALSE(parse_page(bad).ok()) << bad;
  }
}

TEST(Words, GoThereAndBack) {
  for (const auto level : {AccessLevel::kPublic, AccessLevel::kPrivate, AccessLevel::kShared}) {
    EXPECT_EQ(*parse_access_level(access_level_name(level)), level);
  }
  EXPECT_FALSE(parse_access_level("Public").ok());
  for (const auto state :
       {ContentState::kDraft, ContentState::kPublished, ContentState::kWithdrawn, ContentState::kPurged}) {
    EXPECT_EQ(*parse_content_state(content_state_name(state)), state);
  }
  EXPECT_FALSE(parse_content_state("x").ok());
  for (const auto role : {Role::kUser, Role::kAdmin}) EXPECT_EQ(*parse_role(role_name(role)), role);
  EXPECT_FALSE(parse_role("root").ok());
  for (const auto kind : {TokenKind::kPersonal, TokenKind::kNode, TokenKind::kEnroll, TokenKind::kDevice}) {
    EXPECT_EQ(*parse_token_kind(token_kind_name(kind)), kind);
  }
  EXPECT_FALSE(parse_token_kind("x").ok());
}

TEST(ScopeSets, GoThereAndBack) {
  const Scopes all = full_scopes(true);
  EXPECT_EQ(*parse_scopes(scope_names(all)), all);
  EXPECT_EQ(scope_name(Scope::kNodeRun), "node:run");
  EXPECT_FALSE(parse_scopes({"content:read", "everything"}).ok());
  EXPECT_TRUE(parse_scopes({})->empty());
  EXPECT_FALSE(full_scopes(false).has(Scope::kAdmin));
  EXPECT_TRUE(full_scopes(false).within(all));
  EXPECT_FALSE(node_scopes().within(all)) << "no person's login runs as a node";
  EXPECT_TRUE(node_scopes().has(Scope::kNodeRun));
}

TEST(Users, AllHaveTheRoleUser) {
  User user;
  EXPECT_THAT(user.roles(), ElementsAre(Role::kUser));
  user.admin = true;
  EXPECT_THAT(user.roles(), ElementsAre(Role::kUser, Role::kAdmin));
}

TEST(AccessText, NamesTheTargets) {
  EXPECT_EQ(to_text({AccessLevel::kPublic, {}, {}, false}), "public");
  EXPECT_EQ(to_text({AccessLevel::kShared, {{GroupId(), "g"}}, {"bob"}, true}), "group:g,user:bob,buddies");
  EXPECT_EQ(to_text({AccessLevel::kShared, {}, {}, false}), "shared");
}

TEST(ContentStates, MoveForwardOnly) {
  const auto step = [](ContentState from, ContentEvent event) { return next_state(from, event); };
  EXPECT_EQ(*step(ContentState::kDraft, ContentEvent::kFinish), ContentState::kPublished);
  EXPECT_EQ(*step(ContentState::kPublished, ContentEvent::kWithdraw), ContentState::kWithdrawn);
  for (const auto from : {ContentState::kDraft, ContentState::kPublished, ContentState::kWithdrawn}) {
    EXPECT_EQ(*step(from, ContentEvent::kPurge), ContentState::kPurged);
  }
  for (const auto& [from, event] : {std::pair(ContentState::kPublished, ContentEvent::kFinish),
                                    std::pair(ContentState::kWithdrawn, ContentEvent::kFinish),
                                    std::pair(ContentState::kPurged, ContentEvent::kFinish),
                                    std::pair(ContentState::kDraft, ContentEvent::kWithdraw),
                                    std::pair(ContentState::kWithdrawn, ContentEvent::kWithdraw),
                                    std::pair(ContentState::kPurged, ContentEvent::kPurge)}) {
    EXPECT_EQ(step(from, event).error().code, Code::kConflict);
  }
}

}  // namespace
}  // namespace gridtorrent::ccm
