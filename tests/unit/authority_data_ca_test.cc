#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/crypto/certificate_request.h"
#include "tests/support/audit_records.h"
#include "tests/support/server_world.h"
#include "tracker/authority/data_authority.h"
#include "tracker/authority/generation_mover.h"

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
  ccm::Actor admin = w.user("root", true);
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
  const auto careless = again.rotate(admin, w.request_id(), /*sealing_key_lost=*/false);
  EXPECT_EQ(testing_support::code_of(careless), Code::kConflict);
  EXPECT_THAT(message_of(careless), HasSubstr("only where that key is lost for good"));
  EXPECT_FALSE(std::filesystem::exists(key_file()));
  const auto rotated = again.rotate(admin, w.request_id(), /*sealing_key_lost=*/true);
  ASSERT_TRUE(rotated.ok()) << message_of(rotated);
  EXPECT_FALSE(again.trouble().has_value());
  EXPECT_EQ(*again.restricted(), 2U);
  const auto certificates = again.certify(node, request());
  ASSERT_TRUE(certificates.ok()) << message_of(certificates);
  ASSERT_THAT(*certificates, SizeIs(1)) << "nobody can sign for the first any more";
  EXPECT_EQ(certificates->front().generation.number, 2U);
}

TEST_P(DataCa, DoesNotRotateUnderAnotherSealingKeyThatCameInItsPlaceWhileItRan) {
  ASSERT_TRUE(std::filesystem::remove(key_file()));
  EXPECT_EQ(testing_support::code_of(authority.rotate(admin, w.request_id(), false)), Code::kConflict);
  EXPECT_FALSE(std::filesystem::exists(key_file()));
  ASSERT_TRUE(crypto::SealingKey::load_or_make(key_file()).ok());
  EXPECT_THAT(message_of(authority.rotate(admin, w.request_id(), false)), HasSubstr("holds key"));
  EXPECT_EQ(*authority.restricted(), 1U);
  EXPECT_TRUE(authority.rotate(admin, w.request_id(), true).ok());
}

/// The one thread that writes asks for certificates of generations (ContentService::begin_publish).
TEST_P(DataCa, DoesNotStandInTheWayOfTheStoresWriterWhileItRotates) {
  std::jthread publisher([&] {
    for (int i = 0; i < 50; ++i) {
      EXPECT_TRUE(w.store.tracker()
                      .write([&](Tx&) -> Status {
                        EXPECT_FALSE(authority.ca_pem(1).empty());
                        return {};
                      })
                      .ok());
    }
  });
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(authority.rotate(admin, w.request_id(), false).ok());
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
  const std::string request_id = w.request_id();
  const auto rotated = authority.rotate(admin, request_id, false);
  ASSERT_TRUE(rotated.ok()) << message_of(rotated);
  EXPECT_EQ(rotated->number, 2U);
  EXPECT_EQ(authority.rotate(admin, request_id, false)->number, 2U) << "the same request again is the same generation";
  EXPECT_EQ(authority.current().ca_pem, rotated->ca_pem);
  EXPECT_EQ(authority.replaced(), std::vector<std::uint32_t>{1});
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
  EXPECT_EQ(again.rotate(admin, w.request_id(), false)->number, 3U) << "a retired number is never used again";
}

class Moving : public DataCa {
 protected:
  Moving() {
    for (const char* name : {"a", "b", "c"}) contents.push_back(w.publish(alice, name, ccm::AccessLevel::kPrivate));
    open = w.publish(alice, "open");
    holder = w.hub.open(node.node, [] {});
    holder->take();
    EXPECT_TRUE(w.store.tracker()
                    .write([&](Tx& tx) {
                      return tx.replicas.put({contents[0].id, 1, node.node, "", "", 1000, true, w.clock.wall()});
                    })
                    .ok());
  }
  std::uint32_t generation_of(const ccm::Content& content) {
    return w.contents.get(alice, content.id.str())->content.generation;
  }
  std::vector<std::string> states() {
    std::vector<std::string> said;
    const auto described = authority.describe();
    for (const auto& one : *described) {
      said.push_back(std::to_string(one.generation) +
                     (one.retired ? " ended"
                      : one.signs ? " signs"
                                  : " locked") +
                     " " + std::to_string(one.contents));
    }
    return said;
  }

  std::vector<ccm::Content> contents;
  ccm::Content open;
  std::shared_ptr<NodeStream> holder;
  GenerationMover mover{{w.store.tracker(), authority, w.news, w.clock}};
};
INSTANTIATE_TEST_SUITE_P(Over, Moving, testing::Values("memory", "sqlite"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(Moving, DoesNothingWhereNoGenerationWasReplaced) {
  EXPECT_EQ(*mover.step(), 0U);
  EXPECT_THAT(states(), testing::ElementsAre("1 signs 3"));
}

TEST_P(Moving, TakesWhatIsNotPublicToTheNewGenerationThenEndsTheOld) {
  ASSERT_TRUE(authority.rotate(admin, w.request_id(), false).ok());
  EXPECT_THAT(states(), testing::ElementsAre("1 signs 3", "2 signs 0"));
  EXPECT_EQ(*mover.step(), 3U);
  for (const auto& content : contents) EXPECT_EQ(generation_of(content), 2U);
  EXPECT_EQ(generation_of(open), 0U);
  EXPECT_THAT(holder->take().hints, SizeIs(1)) << "who has one of them has to look at that one";
  EXPECT_THAT(states(), testing::ElementsAre("1 signs 0", "2 signs 3"));
  EXPECT_EQ(*mover.step(), 0U);
  EXPECT_THAT(states(), testing::ElementsAre("1 ended 0", "2 signs 3"));
  const auto records = w.audit(admin, 2);
  ASSERT_THAT(*records, SizeIs(2));
  EXPECT_EQ(records->at(0).action, "data-ca.retire");
  EXPECT_EQ(records->at(1).outcome, "ok: 3 contents");
}

TEST_P(Moving, EndsNoGenerationThatIsInUse) {
  ASSERT_TRUE(authority.rotate(admin, w.request_id(), false).ok());
  EXPECT_EQ(authority.retire(1).error().code, Code::kConflict);
  EXPECT_THAT(states(), testing::ElementsAre("1 signs 3", "2 signs 0"));
}

TEST_P(Moving, GoesOnWhereItWasInterruptedAndWithWhatCameUnderTheOldOneMeanwhile) {
  ASSERT_TRUE(authority.rotate(admin, w.request_id(), false).ok());
  EXPECT_EQ(*mover.step(), 3U);
  const auto late = w.publish(alice, "late", ccm::AccessLevel::kPrivate);  // began before the rotation was known
  DataAuthority restarted(w.store.tracker(), key_file(), w.clock);
  ASSERT_TRUE(restarted.open().ok());
  GenerationMover again({w.store.tracker(), restarted, w.news, w.clock});
  EXPECT_EQ(*again.step(), 1U);
  EXPECT_EQ(generation_of(late), 2U);
}

TEST_P(Moving, MovesNothingWhereTheSealingKeyIsGone) {
  ASSERT_TRUE(authority.rotate(admin, w.request_id(), false).ok());
  ASSERT_TRUE(std::filesystem::remove(key_file()));
  DataAuthority restarted(w.store.tracker(), key_file(), w.clock);
  ASSERT_TRUE(restarted.open().ok());
  GenerationMover again({w.store.tracker(), restarted, w.news, w.clock});
  EXPECT_EQ(*again.step(), 0U);
  EXPECT_EQ(generation_of(contents[0]), 1U) << "nobody could get a certificate for the second";
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
