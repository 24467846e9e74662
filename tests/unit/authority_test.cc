#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

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
  EXPECT_TRUE(mint_token(ccm::TokenKind::kDevice).text.starts_with("gtd_"));
  EXPECT_EQ(parse_token(mint_token(ccm::TokenKind::kDevice).text)->kind, ccm::TokenKind::kDevice);
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

class Throttle : public ::testing::Test {
 protected:
  static ccm::LoginAttempt from(const std::string& address, const std::string& account = "alice") {
    return {account, address, ""};
  }
  static ccm::LoginAttempt device(const std::string& id, const std::string& account = "alice") {
    return {account, "192.0.2.9", id};
  }
  bool admitted(const ccm::LoginAttempt& attempt) { return throttle_.admit(attempt, clock_.mono()).ok(); }
  /// So many failures, with pauses in which no delay and no rate holds.
  void fail(const ccm::LoginAttempt& attempt, int times) {
    for (int i = 0; i < times; ++i) {
      ASSERT_TRUE(admitted(attempt)) << i;
      clock_.advance(LoginThrottle::kLongestDelay);
    }
  }

  ManualClock clock_;
  LoginThrottle throttle_;
};

TEST_F(Throttle, AnAccountWaitsLongerAtAnAddressAfterEachFailureButNeverForGood) {
  for (int i = 0; i < LoginThrottle::kFreeFailures; ++i) EXPECT_TRUE(admitted(from("192.0.2.1"))) << i;
  const Status refused = throttle_.admit(from("192.0.2.1"), clock_.mono());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kBusy);
  EXPECT_TRUE(admitted(from("192.0.2.1", "bob"))) << "another account";
  clock_.advance(std::chrono::milliseconds(1001));
  EXPECT_TRUE(admitted(from("192.0.2.1")));
  clock_.advance(std::chrono::milliseconds(1001));
  EXPECT_FALSE(admitted(from("192.0.2.1"))) << "2 s now";
  fail({"carol", "192.0.2.1", ""}, 19);
  EXPECT_TRUE(admitted(from("192.0.2.1", "carol")));
  clock_.advance(LoginThrottle::kLongestDelay - std::chrono::seconds(1));
  EXPECT_FALSE(admitted(from("192.0.2.1", "carol")));
  clock_.advance(std::chrono::seconds(1));
  EXPECT_TRUE(admitted(from("192.0.2.1", "carol")));
}

TEST_F(Throttle, WrongPasswordsFromElsewhereDoNotHoldUpAnOwner) {
  fail(from("192.0.2.1"), 10);
  EXPECT_TRUE(admitted(from("198.51.100.1"))) << "at another address";
  EXPECT_TRUE(admitted(device("d1"))) << "from a known device";
}

TEST_F(Throttle, WrongPasswordsFromManyAddressesHoldUpStrangersAMinuteAtMostAndNoKnownDevice) {
  for (int i = 0; i < LoginThrottle::kFreeAccountFailures; ++i) {
    ASSERT_TRUE(admitted(from("address-" + std::to_string(i)))) << i;
  }
  EXPECT_FALSE(admitted(from("fresh"))) << "1 s";
  EXPECT_TRUE(admitted(device("d1")));
  EXPECT_TRUE(admitted(from("fresh", "bob")));
  int guesses = 0;
  for (int second = 0; second < 3600; ++second) {
    clock_.advance(std::chrono::seconds(1));
    for (int caller = 0; caller < 5; ++caller) {
      guesses += admitted(from("more-" + std::to_string(second * 5 + caller))) ? 1 : 0;
    }
  }
  EXPECT_LE(guesses, 70) << "one a minute, after the first few";
  EXPECT_GE(guesses, 60) << "and never none at all";
  EXPECT_TRUE(admitted(device("d1")));
}

TEST_F(Throttle, AKnownDeviceWaitsForItsOwnFailuresAlone) {
  for (int i = 0; i < LoginThrottle::kFreeFailures; ++i) EXPECT_TRUE(admitted(device("stolen"))) << i;
  EXPECT_FALSE(admitted(device("stolen")));
  EXPECT_TRUE(admitted(device("mine")));
  EXPECT_TRUE(admitted(from("192.0.2.9"))) << "a stranger at the same address has failed nothing";
}

TEST_F(Throttle, FailuresAreForgottenAnHourAfterTheLast) {
  fail(from("192.0.2.1"), 12);
  clock_.advance(LoginThrottle::kForgetAfter);
  for (int i = 0; i < LoginThrottle::kFreeFailures; ++i) EXPECT_TRUE(admitted(from("192.0.2.1"))) << i;
  EXPECT_FALSE(admitted(from("192.0.2.1")));
}

TEST_F(Throttle, ARightPasswordEndsTheDelaysOfItsAddressButNotOfOthers) {
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(admitted(from("192.0.2.1")));
    ASSERT_TRUE(admitted(from("192.0.2.2")));
  }
  throttle_.succeeded(from("192.0.2.1"));
  for (int i = 0; i < LoginThrottle::kFreeFailures; ++i) EXPECT_TRUE(admitted(from("192.0.2.1"))) << i;
  EXPECT_TRUE(admitted(from("192.0.2.2")));
  EXPECT_FALSE(admitted(from("192.0.2.2")));
}

TEST_F(Throttle, LoggingInEachDayGivesNobodyFreeGuesses) {
  for (int i = 0; i < LoginThrottle::kFreeAccountFailures; ++i) {
    ASSERT_TRUE(admitted(from("address-" + std::to_string(i)))) << i;
  }
  ASSERT_TRUE(admitted(device("d1")));
  throttle_.succeeded(device("d1"));
  EXPECT_FALSE(admitted(from("fresh")));
}

TEST_F(Throttle, AttemptsThatWaitTogetherCannotOutrunTheDelays) {
  int under_way = 0;
  while (admitted(from("192.0.2.1"))) ++under_way;
  EXPECT_EQ(under_way, LoginThrottle::kFreeFailures) << "none has failed yet";
}

TEST_F(Throttle, AnAttemptWhosePasswordWasNotLookedAtCountsForNothing) {
  for (int i = 0; i < 19; ++i) {
    ASSERT_TRUE(admitted(from("192.0.2.1"))) << i;
    throttle_.withdrawn(from("192.0.2.1"), clock_.mono());
  }
  clock_.advance(std::chrono::minutes(1));
  for (int i = 0; i < LoginThrottle::kFreeFailures; ++i) EXPECT_TRUE(admitted(from("192.0.2.1"))) << i;
  EXPECT_FALSE(admitted(from("192.0.2.1")));
}

TEST_F(Throttle, AnAddressHasTwentyAttemptsAMinuteAndADeviceItsOwn) {
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(admitted(from("192.0.2.9", "user-" + std::to_string(i)))) << i;
  EXPECT_FALSE(admitted(from("192.0.2.9", "another")));
  EXPECT_TRUE(admitted(from("192.0.2.2", "another")));
  EXPECT_TRUE(admitted(device("d1", "another"))) << "a known device behind the same NAT";
  clock_.advance(std::chrono::milliseconds(3001));
  EXPECT_TRUE(admitted(from("192.0.2.9", "another")));
  EXPECT_FALSE(admitted(from("192.0.2.9", "one-more")));
}

TEST_F(Throttle, AttemptsOnAnAccountThatWaitsCountForTheAddress) {
  for (int i = 0; i < 20; ++i) static_cast<void>(admitted(from("192.0.2.1")));
  EXPECT_FALSE(admitted(from("192.0.2.1", "bob")));
}

TEST_F(Throttle, RefusalsAreNotedOnceAMinuteAnAddressAndSixtyTimesInAll) {
  EXPECT_FALSE(throttle_.is_noteworthy(from("192.0.2.1"), clock_.mono())) << "never seen";
  ASSERT_TRUE(admitted(from("192.0.2.1")));
  EXPECT_TRUE(throttle_.is_noteworthy(from("192.0.2.1"), clock_.mono()));
  EXPECT_FALSE(throttle_.is_noteworthy(from("192.0.2.1"), clock_.mono()));
  int noted = 1;
  for (int i = 0; i < 100; ++i) {
    const auto other = from("address-" + std::to_string(i), "user-" + std::to_string(i));
    ASSERT_TRUE(admitted(other));
    noted += throttle_.is_noteworthy(other, clock_.mono()) ? 1 : 0;
  }
  EXPECT_EQ(noted, LoginThrottle::kNotesPerMinute);
  clock_.advance(std::chrono::seconds(61));
  EXPECT_TRUE(throttle_.is_noteworthy(from("192.0.2.1"), clock_.mono()));
}

TEST_F(Throttle, MoreAddressesThanTheTableHoldsWaitButKnownDevicesDoNot) {
  for (std::size_t i = 0; i < LoginThrottle::kMaxEntries; ++i) {
    const auto stranger = from(std::to_string(i), "user-" + std::to_string(i));
    ASSERT_TRUE(admitted(stranger));
    throttle_.withdrawn(stranger, clock_.mono());
  }
  EXPECT_FALSE(admitted(from("fresh")));
  EXPECT_TRUE(admitted(device("d1")));
  clock_.advance(std::chrono::seconds(61));
  EXPECT_TRUE(admitted(from("fresh"))) << "the table is bounded by forgetting";
}

}  // namespace
}  // namespace gridtorrent::tracker::authority
