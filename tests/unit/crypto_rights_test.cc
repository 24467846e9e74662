// What rights on the data plane are built from: requests, node certificates, sealed keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>

#include "base/crypto/certificate_request.h"
#include "base/crypto/certificates.h"
#include "base/crypto/sealed.h"
#include "common/hex.h"

namespace gridtorrent::crypto {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using KeyPtr = std::shared_ptr<EVP_PKEY>;

constexpr WallTime kNow{1'763'666'150'000};

KeyPtr owned(EVP_PKEY* key) {
  GT_CHECK(key != nullptr);
  return {key, EVP_PKEY_free};
}

/// A request as a hostile client would make it.
std::string request_of(const KeyPtr& key, const EVP_MD* digest, const std::function<void(X509_REQ*)>& change = {},
                       const KeyPtr& signer = {}) {
  const std::unique_ptr<X509_REQ, decltype(&X509_REQ_free)> request(X509_REQ_new(), X509_REQ_free);
  GT_CHECK(X509_REQ_set_pubkey(request.get(), key.get()) == 1);
  if (change) change(request.get());
  GT_CHECK(X509_REQ_sign(request.get(), (signer ? signer : key).get(), digest) > 0);
  unsigned char* der = nullptr;
  const int size = i2d_X509_REQ(request.get(), &der);
  std::string out(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return out;
}

KeyPtr p256_encoded(const char* parameter, const char* value) {
  const KeyPtr key = owned(EVP_EC_gen("P-256"));
  GT_CHECK(EVP_PKEY_set_utf8_string_param(key.get(), parameter, value) == 1);
  return key;
}

void ask_for_names_and_powers(X509_REQ* request) {
  X509_NAME_add_entry_by_txt(X509_REQ_get_subject_name(request), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>("gridtorrent-server"), -1, -1, 0);
  STACK_OF(X509_EXTENSION)* extensions = sk_X509_EXTENSION_new_null();
  for (const auto& [nid, value] : {std::pair(NID_subject_alt_name, "DNS:evil.example.org"),
                                   std::pair(NID_basic_constraints, "critical,CA:TRUE")}) {
    sk_X509_EXTENSION_push(extensions, X509V3_EXT_conf_nid(nullptr, nullptr, nid, value));
  }
  GT_CHECK(X509_REQ_add_extensions(request, extensions) == 1);
  sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
}

std::string why_refused(const std::string& der) {
  const auto read = read_certificate_request(der);
  EXPECT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, Code::kInvalid);
  return read.ok() ? "" : read.error().message;
}

TEST(CertificateRequest, GivesItsKey) {
  const auto key = EcKey::make();
  const auto request = make_certificate_request(*key);
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(*read_certificate_request(*request), key->public_der());
}

TEST(CertificateRequest, IsRefusedWhereItIsNotExactlyOneInDerForm) {
  const std::string request = *make_certificate_request(*EcKey::make());
  for (std::size_t size = 0; size < request.size(); ++size) why_refused(request.substr(0, size));
  EXPECT_THAT(why_refused(request + "x"), HasSubstr("not one PKCS#10 request"));
  EXPECT_THAT(why_refused(request + request), HasSubstr("not one PKCS#10 request"));
  EXPECT_THAT(why_refused("-----BEGIN CERTIFICATE REQUEST-----\n"), HasSubstr("not one PKCS#10 request"));
  EXPECT_THAT(why_refused(std::string(5000, 'x')), HasSubstr("5000 bytes, 4096 are allowed"));
}

TEST(CertificateRequest, IsRefusedForKeysOfOtherKindsAndOtherSpellings) {
  EXPECT_THAT(why_refused(request_of(owned(EVP_EC_gen("P-384")), EVP_sha256())), HasSubstr("no P-256 key"));
  EXPECT_THAT(why_refused(request_of(owned(EVP_RSA_gen(2048)), EVP_sha256())), HasSubstr("no P-256 key"));
  EXPECT_THAT(why_refused(request_of(owned(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")), nullptr)),
              HasSubstr("no P-256 key"));
  EXPECT_THAT(why_refused(request_of(p256_encoded(OSSL_PKEY_PARAM_EC_ENCODING, "explicit"), EVP_sha256())),
              HasSubstr("no P-256 key"));
  EXPECT_THAT(
      why_refused(request_of(p256_encoded(OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT, "compressed"), EVP_sha256())),
      HasSubstr("no P-256 key"));
}

TEST(CertificateRequest, IsRefusedWithoutProofThatTheSenderHasTheKey) {
  const KeyPtr mine = owned(EVP_EC_gen("P-256")), theirs = owned(EVP_EC_gen("P-256"));
  EXPECT_THAT(why_refused(request_of(theirs, EVP_sha256(), {}, mine)), HasSubstr("not signed with its own key"));
  EXPECT_THAT(why_refused(request_of(mine, EVP_sha1())), HasSubstr("not signed with its own key by ECDSA and SHA-256"));
  std::string altered = request_of(mine, EVP_sha256());
  altered.back() = static_cast<char>(altered.back() ^ 1);
  why_refused(altered);
}

TEST(NodeCertificate, TakesNothingButTheKeyFromItsRequest) {
  const auto authority = make_authority("data CA", kNow);
  const KeyPtr key = owned(EVP_EC_gen("P-256"));
  const auto public_der = read_certificate_request(request_of(key, EVP_sha256(), ask_for_names_and_powers));
  ASSERT_TRUE(public_der.ok()) << public_der.error().message;
  const auto certificate = issue_node_certificate(*authority, *public_der, kNow);
  ASSERT_TRUE(certificate.ok()) << certificate.error().message;
  const auto facts = read_certificate(*certificate);
  EXPECT_THAT(facts->names, ElementsAre("*"));
  EXPECT_EQ(facts->public_der, *public_der);
  EXPECT_EQ(facts->not_before, kNow - kBackDating);
  EXPECT_EQ(facts->not_after, kNow + kNodeCertificateLife);
  EXPECT_TRUE(*is_signed_by(*certificate, authority->certificate_pem));

  const std::unique_ptr<BIO, decltype(&BIO_free_all)> bio(
      BIO_new_mem_buf(certificate->data(), static_cast<int>(certificate->size())), BIO_free_all);
  const std::unique_ptr<X509, decltype(&X509_free)> x509(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr),
                                                         X509_free);
  EXPECT_EQ(X509_check_ca(x509.get()), 0);
  EXPECT_EQ(X509_check_purpose(x509.get(), X509_PURPOSE_SSL_SERVER, 0), 1) << "a node accepts lanes";
  EXPECT_EQ(X509_check_purpose(x509.get(), X509_PURPOSE_SSL_CLIENT, 0), 1) << "and dials them";
  EXPECT_EQ(X509_check_purpose(x509.get(), X509_PURPOSE_SMIME_SIGN, 0), 0);
}

TEST(NodeCertificate, IsNotMadeForWhatIsNoKeyAndDoesNotOutliveItsAuthority) {
  const auto authority = make_authority("data CA", kNow, std::chrono::hours(24));
  EXPECT_EQ(issue_node_certificate(*authority, "no key", kNow).error().code, Code::kInvalid);
  const auto certificate = issue_node_certificate(*authority, EcKey::make()->public_der(), kNow);
  EXPECT_EQ(read_certificate(*certificate)->not_after, kNow + std::chrono::hours(24));
}

class Sealed : public ::testing::Test {
 protected:
  Sealed() {
    std::string pattern = (std::filesystem::temp_directory_path() / "gt-sealed-XXXXXX").native();
    GT_CHECK(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern + "/sealing.key";
  }
  ~Sealed() override { std::filesystem::remove_all(std::filesystem::path(path_).parent_path()); }
  std::string path_;
};

TEST_F(Sealed, SecretsOpenWithTheirKeyForTheirPurposeAlone) {
  const auto key = SealingKey::load_or_make(path_);
  ASSERT_TRUE(key.ok()) << key.error().message;
  const std::string sealed = key->seal("the key of the data CA", "data-ca 1");
  EXPECT_THAT(sealed, testing::Not(HasSubstr("data CA")));
  EXPECT_NE(sealed, key->seal("the key of the data CA", "data-ca 1"));
  EXPECT_EQ(*key->open(sealed, "data-ca 1"), "the key of the data CA");
  EXPECT_EQ(*key->open(key->seal("", ""), ""), "");
  EXPECT_EQ(key->open(sealed, "data-ca 2").error().code, Code::kCorrupt);
  const auto other = SealingKey::load_or_make(path_ + "2");
  EXPECT_NE(other->id(), key->id());
  EXPECT_THAT(other->open(sealed, "data-ca 1").error().message, HasSubstr(other->id()));
}

TEST_F(Sealed, SecretsDoNotOpenWhereAnyByteIsAlteredOrMissing) {
  const auto key = SealingKey::load_or_make(path_);
  const std::string sealed = key->seal("secret", "purpose");
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    std::string altered = sealed;
    altered[i] = static_cast<char>(altered[i] ^ 0x40);
    EXPECT_FALSE(key->open(altered, "purpose").ok()) << "byte " << i;
    EXPECT_FALSE(key->open(sealed.substr(0, i), "purpose").ok()) << i << " bytes";
  }
  EXPECT_FALSE(key->open(sealed + "x", "purpose").ok());
}

TEST_F(Sealed, KeysAreKeptAndReadAgain) {
  EXPECT_EQ(SealingKey::load(path_).error().code, Code::kNotFound);
  const auto made = SealingKey::load_or_make(path_);
  ASSERT_TRUE(made.ok());
  struct stat info{};
  ASSERT_EQ(::stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  const auto again = SealingKey::load_or_make(path_);
  EXPECT_EQ(again->id(), made->id());
  EXPECT_EQ(*again->open(made->seal("secret", "x"), "x"), "secret");
}

TEST_F(Sealed, ADamagedKeyIsNeverReplacedAndAPublicOneRefused) {
  ASSERT_TRUE(SealingKey::load_or_make(path_).ok());
  ASSERT_EQ(::chmod(path_.c_str(), 0640), 0);
  EXPECT_EQ(SealingKey::load_or_make(path_).error().code, Code::kDenied);
  ASSERT_EQ(::chmod(path_.c_str(), 0600), 0);
  for (const char* text : {"", "no hex", "abcd", "zz"}) {
    std::ofstream(path_, std::ios::trunc) << text;
    const auto loaded = SealingKey::load_or_make(path_);
    EXPECT_EQ(loaded.error().code, Code::kCorrupt) << text;
    EXPECT_THAT(loaded.error().message, HasSubstr(path_ + " holds no sealing key"));
  }
}

}  // namespace
}  // namespace gridtorrent::crypto
