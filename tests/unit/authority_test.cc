#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tracker/authority/passwords.h"
#include "tracker/authority/throttle.h"
#include "tracker/authority/tokens.h"

namespace gridtorrent::tracker::authority {
namespace {

TEST(Tokens, HaveTheFormThatScannersKnow) {
  const MintedToken minted = mint_token(ccm::TokenKind::kPersonal);
  EXPECT_THAT(minted.text, ::testing::MatchesRegex("gtp_[0-9A-Za-z]{10}_[0-9A-Za-z]{49}"));
  EXPECT_TRUE(mint_token(ccm::TokenKind::kNode).text.starts_with("gtn_"));
  EXPECT_TRUE(mint_token(ccm::TokenKind::kEnroll).text.starts_with("gte_"));
  const auto parsed = parse_token(minted.text);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->id, minted.id);
  EXPECT_EQ(parsed->secret_hash, minted.secret_hash);
  EXPECT_EQ(minted.secret_hash.size(), 32u);
  EXPECT_EQ(minted.text.find(minted.secret_hash), std::string::npos);
}

TEST(Tokens, EveryChangedCharacterIsNoticed) {
  const std::string good = mint_token(ccm::TokenKind::kNode).text;
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = bad[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(parse_token(bad)) << i;
  }
  for (const std::string& bad : {std::string(), good + "x", good.substr(1), good.substr(0, good.size() - 1)}) {
    EXPECT_FALSE(parse_token(bad)) << bad;
  }
}

// CRC-32 of "123456789" is 0xCBF43926 (the check value of the standard), 3421780262 in base 62.
TEST(Tokens, TheChecksumIsTheStandardOne) {
  EXPECT_EQ(token_checksum("123456789"), "3jZRME");
}

TEST(Passwords, WeakOnesAreRefused) {
  EXPECT_TRUE(check_new_password("alice", "correct horse battery").ok());
  const std::string nul("correct\0horse", 13);
  for (const std::string& weak :
       {std::string("short"), std::string(257, 'x'), nul, std::string("password1234"), std::string("Password1234!"),
        std::string("123456789012"), std::string("alice1234567").substr(0, 12)}) {
    const bool own_name = weak.starts_with("alice");
    EXPECT_FALSE(check_new_password(own_name ? "alice12" : "bob", weak).ok()) << weak;
  }
}

TEST(LoginThrottle, AnAccountWaitsLongerAfterEachFailureButNeverForGood) {
  ManualClock clock;
  LoginThrottle throttle;
  for (int i = 0; i < LoginThrottle::kFreeFailures; ++i) {
    EXPECT_TRUE(throttle.admit("alice", "192.0.2.1", clock.mono()).ok());
    throttle.failed("alice", clock.mono());
  }
  EXPECT_FALSE(throttle.admit("alice", "192.0.2.2", clock.mono()).ok()) << "from another address, too";
  EXPECT_TRUE(throttle.admit("bob", "192.0.2.1", clock.mono()).ok());
  clock.advance(std::chrono::milliseconds(1001));
  EXPECT_TRUE(throttle.admit("alice", "192.0.2.1", clock.mono()).ok());
  for (int i = 0; i < 40; ++i) throttle.failed("alice", clock.mono());
  clock.advance(std::chrono::minutes(14));
  EXPECT_FALSE(throttle.admit("alice", "192.0.2.1", clock.mono()).ok());
  clock.advance(std::chrono::minutes(1));
  EXPECT_TRUE(throttle.admit("alice", "192.0.2.1", clock.mono()).ok());
  throttle.succeeded("alice");
  throttle.failed("alice", clock.mono());
  EXPECT_TRUE(throttle.admit("alice", "192.0.2.1", clock.mono()).ok());
}

TEST(LoginThrottle, AnAddressHasSoManyAttemptsAMinute) {
  ManualClock clock;
  LoginThrottle throttle;
  for (std::size_t i = 0; i < LoginThrottle::kAttemptsPerMinute; ++i) {
    EXPECT_TRUE(throttle.admit("user-" + std::to_string(i), "192.0.2.1", clock.mono()).ok());
  }
  const Status refused = throttle.admit("another", "192.0.2.1", clock.mono());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kBusy);
  EXPECT_TRUE(throttle.admit("another", "192.0.2.2", clock.mono()).ok());
  clock.advance(std::chrono::seconds(61));
  EXPECT_TRUE(throttle.admit("another", "192.0.2.1", clock.mono()).ok());
}

TEST(LoginThrottle, AttemptsOnAnAccountThatWaitsCountForTheAddress) {
  ManualClock clock;
  LoginThrottle throttle;
  for (int i = 0; i < 40; ++i) throttle.failed("alice", clock.mono());
  for (std::size_t i = 0; i < LoginThrottle::kAttemptsPerMinute; ++i) {
    EXPECT_FALSE(throttle.admit("alice", "192.0.2.1", clock.mono()).ok());
  }
  EXPECT_FALSE(throttle.admit("bob", "192.0.2.1", clock.mono()).ok());
}

TEST(LoginThrottle, RefusalsAreNotedOnceAMinuteAnAddress) {
  ManualClock clock;
  LoginThrottle throttle;
  EXPECT_FALSE(throttle.is_noteworthy("192.0.2.1", clock.mono())) << "never seen";
  ASSERT_TRUE(throttle.admit("alice", "192.0.2.1", clock.mono()).ok());
  EXPECT_TRUE(throttle.is_noteworthy("192.0.2.1", clock.mono()));
  EXPECT_FALSE(throttle.is_noteworthy("192.0.2.1", clock.mono()));
  clock.advance(std::chrono::seconds(61));
  EXPECT_TRUE(throttle.is_noteworthy("192.0.2.1", clock.mono()));
}

TEST(LoginThrottle, ManyAddressesPushOutTheOldest) {
  ManualClock clock;
  LoginThrottle throttle;
  for (std::size_t i = 0; i < LoginThrottle::kAttemptsPerMinute; ++i) {
    ASSERT_TRUE(throttle.admit("alice", "first", clock.mono()).ok());
  }
  ASSERT_FALSE(throttle.admit("alice", "first", clock.mono()).ok());
  clock.advance(std::chrono::milliseconds(1));
  for (std::size_t i = 0; i < LoginThrottle::kMaxEntries; ++i) {
    ASSERT_TRUE(throttle.admit("alice", std::to_string(i), clock.mono()).ok());
  }
  EXPECT_TRUE(throttle.admit("alice", "first", clock.mono()).ok()) << "forgotten, so that the table stays bounded";
}

}  // namespace
}  // namespace gridtorrent::tracker::authority
