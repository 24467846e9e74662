#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/crypto/certificate_request.h"
#include "tests/support/audit_records.h"
#include "tests/support/server_world.h"
#include "tracker/authority/data_authority.h"

namespace gridtorrent::tracker::authority {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using testing_support::message_of;
using testing_support::ServerWorld;

class DataCa : public testing::TestWithParam<const char*> {
 protected:
  DataCa() { EXPECT_TRUE(authority.open().ok()); }
  std::string key_file(const std::string& name = "sealing.key") const { return w.store.folder() + "/" + name; }
  std::string request() { return *crypto::make_certificate_request(key); }
  std::vector<ccm::AuditRecord> audited() {
    std::vector<ccm::AuditRecord> records;
    EXPECT_TRUE(w.store.tracker()
                    .read([&](Tx& tx) -> Status {
                      GT_ASSIGN(records, testing_support::newest_audit(tx.audit, 100));
                      return {};
                    })
                    .ok());
    std::erase_if(records, [](const auto& record) { return record.action != "node.certify"; });
    return records;
  }

  ServerWorld w{GetParam()};
  DataAuthority authority{w.store.tracker(), key_file(), w.clock};
  crypto::EcKey key = *crypto::EcKey::make();
  ccm::Actor alice = w.user("alice");
  ccm::Actor node = w.node(alice, "n1", key.public_der());
};
INSTANTIATE_TEST_SUITE_P(Over, DataCa, testing::Values("memory", "sqlite"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(DataCa, CertifiesAnEnrolledNodesOwnKey) {
  const auto certificates = authority.certify(node, request());
  ASSERT_TRUE(certificates.ok()) << message_of(certificates);
  ASSERT_THAT(*certificates, SizeIs(1));
  const auto& one = certificates->front();
  EXPECT_EQ(one.generation.number, 1U);
  EXPECT_EQ(one.generation.ca_pem, authority.current().ca_pem);
  EXPECT_TRUE(*crypto::is_signed_by(one.certificate_pem, one.generation.ca_pem));
  EXPECT_EQ(crypto::read_certificate(one.certificate_pem)->public_der, key.public_der());
  EXPECT_EQ(one.expires.ms / 1000, (w.clock.wall() + crypto::kNodeCertificateLife).ms / 1000);
  ASSERT_THAT(audited(), SizeIs(1));
  EXPECT_EQ(audited().front().object, node.node.str());
}

TEST_P(DataCa, RefusesOtherKeysOthersThanNodesAndNodesThatAreGone) {
  const auto other = crypto::make_certificate_request(*crypto::EcKey::make());
  EXPECT_EQ(authority.certify(node, *other).error().code, Code::kDenied);
  EXPECT_THAT(authority.certify(node, *other).error().message, HasSubstr("another key than the one that node n1"));
  EXPECT_EQ(authority.certify(alice, request()).error().code, Code::kDenied);
  EXPECT_EQ(authority.certify(node, "nonsense").error().code, Code::kInvalid);
  ASSERT_TRUE(w.store.tracker().write([&](Tx& tx) { return tx.nodes.remove(node.node); }).ok());
  EXPECT_EQ(authority.certify(node, request()).error().code, Code::kUnauthenticated);
  EXPECT_THAT(audited(), SizeIs(0));
}

TEST_P(DataCa, IsTheSameAfterARestart) {
  DataAuthority again(w.store.tracker(), key_file(), w.clock);
  ASSERT_TRUE(again.open().ok());
  EXPECT_EQ(again.current().ca_pem, authority.current().ca_pem);
  const auto certificates = again.certify(node, request());
  ASSERT_TRUE(certificates.ok()) << message_of(certificates);
  EXPECT_TRUE(*crypto::is_signed_by(certificates->front().certificate_pem, authority.current().ca_pem));
}

TEST_P(DataCa, SignsNothingUnderAnotherSealingKeyAndSaysWhichIsMissing) {
  const std::string here = crypto::SealingKey::load_or_make(key_file("other.key"))->id();
  DataAuthority again(w.store.tracker(), key_file("other.key"), w.clock);
  ASSERT_TRUE(again.open().ok()) << "public content is none of its business";
  const std::string due = "sealed under key " + crypto::SealingKey::load(key_file())->id() + ", not under " + here;
  ASSERT_TRUE(again.trouble().has_value());
  EXPECT_THAT(again.trouble()->message, HasSubstr(due));
  EXPECT_EQ(again.certify(node, request()).error().code, Code::kUnsupported);
  EXPECT_EQ(again.restricted().error().code, Code::kUnsupported);
  EXPECT_EQ(again.ca_pem(1), authority.ca_pem(1)) << "what is published can still be described";
}

TEST_P(DataCa, SignsNothingWhereTheSealingKeyIsGoneAndMakesNoOther) {
  ASSERT_TRUE(std::filesystem::remove(key_file()));
  DataAuthority again(w.store.tracker(), key_file(), w.clock);
  ASSERT_TRUE(again.open().ok());
  ASSERT_TRUE(again.trouble().has_value());
  EXPECT_THAT(again.trouble()->message, HasSubstr(key_file()));
  EXPECT_THAT(again.trouble()->message, HasSubstr("put the sealing key back"));
  EXPECT_EQ(again.certify(node, request()).error().code, Code::kUnsupported);
  EXPECT_FALSE(std::filesystem::exists(key_file()));
}

TEST_P(DataCa, GoesOnWithANewGenerationWhereTheSealingKeyIsLostForGood) {
  ASSERT_TRUE(std::filesystem::remove(key_file()));
  DataAuthority again(w.store.tracker(), key_file(), w.clock);
  ASSERT_TRUE(again.open().ok());
  const auto rotated = again.rotate();
  ASSERT_TRUE(rotated.ok()) << message_of(rotated);
  EXPECT_FALSE(again.trouble().has_value());
  EXPECT_EQ(*again.restricted(), 2U);
  const auto certificates = again.certify(node, request());
  ASSERT_TRUE(certificates.ok()) << message_of(certificates);
  ASSERT_THAT(*certificates, SizeIs(1)) << "nobody can sign for the first any more";
  EXPECT_EQ(certificates->front().generation.number, 2U);
}

TEST_P(DataCa, DoesNotOpenAKeyThatWasSealedForAnotherGeneration) {
  ASSERT_TRUE(w.store.tracker()
                  .write([&](Tx& tx) -> Status {
                    GT_ASSIGN(auto records, tx.data_cas.all());
                    records.front().generation = 2;
                    return tx.data_cas.insert(records.front());
                  })
                  .ok());
  DataAuthority again(w.store.tracker(), key_file(), w.clock);
  ASSERT_TRUE(again.open().ok());
  ASSERT_TRUE(again.trouble().has_value());
  EXPECT_THAT(again.trouble()->message, HasSubstr("generation 2 of the data CA"));
}

TEST_P(DataCa, RotatesWithBothGenerationsLivingUntilTheOldIsRetired) {
  const std::string first = authority.current().ca_pem;
  EXPECT_EQ(authority.retire(1).error().code, Code::kConflict) << "nothing would be left";
  const auto rotated = authority.rotate();
  ASSERT_TRUE(rotated.ok()) << message_of(rotated);
  EXPECT_EQ(rotated->number, 2U);
  EXPECT_EQ(authority.current().ca_pem, rotated->ca_pem);
  auto certificates = authority.certify(node, request());
  ASSERT_TRUE(certificates.ok()) << message_of(certificates);
  ASSERT_THAT(*certificates, SizeIs(2));
  EXPECT_TRUE(*crypto::is_signed_by(certificates->at(0).certificate_pem, first));
  EXPECT_TRUE(*crypto::is_signed_by(certificates->at(1).certificate_pem, rotated->ca_pem));
  ASSERT_TRUE(authority.retire(1).ok());
  EXPECT_EQ(authority.retire(1).error().code, Code::kNotFound);
  EXPECT_THAT(*authority.certify(node, request()), SizeIs(1));

  DataAuthority again(w.store.tracker(), key_file(), w.clock);
  ASSERT_TRUE(again.open().ok());
  EXPECT_THAT(*again.certify(node, request()), SizeIs(1));
  EXPECT_EQ(again.rotate()->number, 3U) << "a retired number is never used again";
}

/// A copy of the database alone, as a thief of a backup has it.
TEST(DataCaAtRest, LeavesNoPrivateKeyInTheDatabase) {
  ServerWorld w("sqlite");
  DataAuthority authority(w.store.tracker(), w.store.folder() + "/sealing.key", w.clock);
  ASSERT_TRUE(authority.open().ok());
  std::size_t looked_at = 0;
  for (const auto& file : std::filesystem::directory_iterator(w.store.folder())) {
    if (!file.is_regular_file() || file.path().filename() == "sealing.key") continue;
    std::ifstream in(file.path(), std::ios::binary);
    std::stringstream bytes;
    bytes << in.rdbuf();
    looked_at += bytes.str().size();
    EXPECT_THAT(bytes.str(), testing::Not(HasSubstr("PRIVATE KEY"))) << file.path();
  }
  EXPECT_GT(looked_at, 0U);
}

}  // namespace
}  // namespace gridtorrent::tracker::authority
