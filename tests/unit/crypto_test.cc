#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/crypto/certificates.h"
#include "base/crypto/keys.h"
#include "base/crypto/password.h"
#include "base/crypto/random.h"
#include "common/hex.h"

namespace gridtorrent::crypto {
namespace {

using ::testing::ElementsAre;

constexpr ScryptCost kCheap{.log_n = 4, .r = 8, .p = 1};
constexpr WallTime kNow{1'763'666'150'000};

class Keys : public ::testing::Test {
 protected:
  Keys() {
    std::string pattern = (std::filesystem::temp_directory_path() / "gt-keys-XXXXXX").native();
    GT_CHECK(::mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
  }
  ~Keys() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

TEST(Random, SecretsDifferAndUseTheWholeAlphabet) {
  std::set<std::string> seen;
  std::set<char> letters;
  for (int i = 0; i < 200; ++i) {
    const std::string secret = random_base62(43);
    EXPECT_EQ(secret.size(), 43u);
    seen.insert(secret);
    letters.insert(secret.begin(), secret.end());
  }
  EXPECT_EQ(seen.size(), 200u);
  EXPECT_EQ(letters.size(), 62u);
}

TEST(Random, ComparingIsByContentAndLength) {
  EXPECT_TRUE(equal_in_constant_time(as_bytes("abc"), as_bytes("abc")));
  EXPECT_FALSE(equal_in_constant_time(as_bytes("abc"), as_bytes("abd")));
  EXPECT_FALSE(equal_in_constant_time(as_bytes("abc"), as_bytes("ab")));
}

TEST(Password, OnlyTheRightOneFits) {
  const auto phc = hash_password("correct horse", kCheap);
  ASSERT_TRUE(phc.ok());
  EXPECT_TRUE(phc->starts_with("$scrypt$ln=4,r=8,p=1$"));
  EXPECT_TRUE(*verify_password("correct horse", *phc));
  EXPECT_FALSE(*verify_password("correct horsf", *phc));
  EXPECT_FALSE(*verify_password("", *phc));
  EXPECT_NE(*hash_password("correct horse", kCheap), *phc) << "salts differ";
}

// RFC 7914, section 12: the second test vector, its salt "NaCl" and hash in PHC's base64.
TEST(Password, AgreesWithTheStandard) {
  EXPECT_TRUE(*verify_password("password",
                               "$scrypt$ln=10,r=8,p=16$TmFDbA$/bq+HJ00cgB4VucZDQHp/nxq18vII3gw53N2Y0s3MWIurzDZLiKjiG/"
                               "xCSedmDDaxyevuUqD7m2DYMvfoswGQA"));
}

TEST(Password, ADamagedHashIsNoAnswer) {
  for (const char* text : {"", "plain", "$scrypt$", "$scrypt$ln=4,r=8,p=1$", "$scrypt$ln=4,r=8,p=1$AAAA$",
                           "$scrypt$ln=40,r=8,p=1$AAAA$AAAAAAAAAAAAAAAAAAAAAAAA", "$scrypt$ln=4,r=8$AAAA$AAAA",
                           "$scrypt$ln=4,r=8,p=1$A$AAAAAAAAAAAAAAAAAAAAAAAA", "$argon2id$v=19$m=1$AAAA$AAAA"}) {
    const auto fits = verify_password("x", text);
    ASSERT_FALSE(fits.ok()) << text;
    EXPECT_EQ(fits.error().code, Code::kCorrupt);
  }
}

TEST(Password, TheDummyCostsAsMuchAsARealOneAndFitsNobody) {
  EXPECT_FALSE(needs_rehash(dummy_hash()));
  EXPECT_TRUE(needs_rehash(*hash_password("x", kCheap)));
  EXPECT_FALSE(*verify_password("", dummy_hash()));
}

TEST_F(Keys, AKeyIsMadeOnceAndKeptFromOthers) {
  const std::string path = folder_ + "/node.key";
  const auto made = EcKey::load_or_make(path);
  ASSERT_TRUE(made.ok()) << made.error().message;
  struct stat info{};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0600u);
  const auto again = EcKey::load_or_make(path);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->public_der(), made->public_der());

  ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
  const auto open = EcKey::load_or_make(path);
  ASSERT_FALSE(open.ok());
  EXPECT_EQ(open.error().code, Code::kDenied);
}

TEST_F(Keys, ADamagedKeyFileIsNeverReplaced) {
  const std::string path = folder_ + "/node.key";
  ASSERT_TRUE(write_secret_file(path, "not a key").ok());
  const auto key = EcKey::load_or_make(path);
  ASSERT_FALSE(key.ok());
  EXPECT_EQ(key.error().code, Code::kCorrupt);
  EXPECT_EQ(*read_secret_file(path), "not a key");
}

TEST(Signature, FitsItsMessageAndKeyAlone) {
  const auto key = EcKey::make();
  const auto other = EcKey::make();
  const auto signature = key->sign("message");
  ASSERT_TRUE(signature.ok());
  EXPECT_TRUE(*verify_signature(key->public_der(), "message", *signature));
  EXPECT_FALSE(*verify_signature(key->public_der(), "massage", *signature));
  EXPECT_FALSE(*verify_signature(other->public_der(), "message", *signature));
  EXPECT_FALSE(*verify_signature(key->public_der(), "message", "garbage"));
}

TEST(Signature, AKeyHasOneSpelling) {
  const auto key = EcKey::make();
  const auto signature = key->sign("message");
  EXPECT_EQ(verify_signature(key->public_der() + "x", "message", *signature).error().code, Code::kInvalid);
  EXPECT_EQ(verify_signature("", "message", *signature).error().code, Code::kInvalid);
  EXPECT_EQ(verify_signature(std::string(1000, 'x'), "message", *signature).error().code, Code::kInvalid);
}

TEST(Certificates, ALeafIsSignedNamedAndBackDated) {
  const auto authority = make_authority("test CA", kNow);
  ASSERT_TRUE(authority.ok());
  const auto key = EcKey::make();
  const auto leaf =
      issue_server_certificate(*authority, *key, {"Data.Example.org", "127.0.0.1", "::1", "localhost"}, kNow);
  ASSERT_TRUE(leaf.ok()) << leaf.error().message;
  EXPECT_TRUE(*is_signed_by(*leaf, authority->certificate_pem));
  EXPECT_FALSE(*is_signed_by(*leaf, make_authority("test CA", kNow)->certificate_pem));
  const auto facts = read_certificate(*leaf);
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(facts->not_before, kNow - kBackDating);
  EXPECT_EQ(facts->not_after, kNow + kServerLeafLife);
  EXPECT_THAT(facts->names, ElementsAre("127.0.0.1", "::1", "data.example.org", "localhost"));
  EXPECT_EQ(facts->public_der, key->public_der());
}

TEST(Certificates, ALeafDoesNotOutliveItsAuthority) {
  const auto authority = make_authority("short CA", kNow, std::chrono::hours(24));
  const auto leaf = issue_server_certificate(*authority, *EcKey::make(), {"localhost"}, kNow);
  EXPECT_EQ(read_certificate(*leaf)->not_after, kNow + std::chrono::hours(24));
}

TEST(Certificates, NoNameSmugglesAnotherEntryIn) {
  const auto authority = make_authority("test CA", kNow);
  for (const char* name : {"a,DNS:evil.example.org", "a\nb", ""}) {
    EXPECT_FALSE(issue_server_certificate(*authority, *EcKey::make(), {name}, kNow).ok()) << name;
  }
}

TEST(Certificates, ALeafIsMadeAnewForOtherNamesAndLateInItsLife) {
  const auto authority = make_authority("test CA", kNow);
  const auto leaf = issue_server_certificate(*authority, *EcKey::make(), {"localhost", "::1"}, kNow);
  const CertificateFacts facts = *read_certificate(*leaf);
  EXPECT_FALSE(needs_reissue(facts, {"::1", "localhost"}, kNow));
  EXPECT_TRUE(needs_reissue(facts, {"localhost"}, kNow));
  EXPECT_TRUE(needs_reissue(facts, {"localhost", "::1", "new.example.org"}, kNow));
  EXPECT_FALSE(needs_reissue(facts, {"localhost", "::1"}, kNow + std::chrono::hours(24 * 240)));
  EXPECT_TRUE(needs_reissue(facts, {"localhost", "::1"}, kNow + std::chrono::hours(24 * 250)));
  EXPECT_TRUE(needs_reissue(facts, {"localhost", "::1"}, kNow - std::chrono::hours(49)));
}

}  // namespace
}  // namespace gridtorrent::crypto
