// Who is at the other end of a plain lane.
#include <gtest/gtest.h>

#include <set>

#include "base/crypto/digest.h"
#include "client/engine/lane_proof.h"
#include "common/hex.h"
#include "common/rng.h"

namespace gridtorrent::client::engine {
namespace {

class LaneProofs : public testing::Test {
 protected:
  static crypto::EcKey new_key() { return std::move(crypto::EcKey::make()).value(); }
  static KeyPrint print_of(const crypto::EcKey& key) { return crypto::sha256(as_bytes(key.public_der())); }

  SeededRng rng_{5};
  const crypto::EcKey key_ = new_key();
  const LaneProver prover_{key_};
  const ProofFacts facts_{{1, 2, 3}, NodeId::make(WallTime{1}, rng_), NodeId::make(WallTime{2}, rng_), {4}, {5}};
};

TEST_F(LaneProofs, HoldForTheKeyAndTheFactsThatTheyWereMadeOver) {
  const auto proof = prover_.prove(facts_);
  ASSERT_TRUE(proof);
  EXPECT_TRUE(proof_holds(*proof, print_of(key_), facts_));
}

TEST_F(LaneProofs, AreWorthNothingOnAnotherConnectionForAnotherContentOrToAnotherNode) {
  const auto proof = prover_.prove(facts_);
  ASSERT_TRUE(proof);
  ProofFacts other = facts_;
  other.info_hash[19] ^= 1;
  EXPECT_FALSE(proof_holds(*proof, print_of(key_), other));
  for (Nonce ProofFacts::* nonce : {&ProofFacts::signer_nonce, &ProofFacts::verifier_nonce}) {
    other = facts_;
    (other.*nonce)[15] ^= 1;
    EXPECT_FALSE(proof_holds(*proof, print_of(key_), other));
  }
  other = facts_;
  other.verifier = NodeId::make(WallTime{3}, rng_);
  EXPECT_FALSE(proof_holds(*proof, print_of(key_), other));
  other = facts_;
  other.signer = NodeId::make(WallTime{3}, rng_);
  EXPECT_FALSE(proof_holds(*proof, print_of(key_), other)) << "one node must not use its key for another's id";
}

TEST_F(LaneProofs, CannotBeSentBackToWhoMadeThem) {
  const auto proof = prover_.prove(facts_);
  ASSERT_TRUE(proof);
  const ProofFacts turned{facts_.info_hash, facts_.verifier, facts_.signer, facts_.verifier_nonce, facts_.signer_nonce};
  EXPECT_FALSE(proof_holds(*proof, print_of(key_), turned));
}

TEST_F(LaneProofs, AreRefusedWithAnotherKeyOrADamagedSignature) {
  auto proof = *prover_.prove(facts_);
  EXPECT_FALSE(proof_holds(proof, print_of(new_key()), facts_)) << "not the key that the server named";
  LaneProof other = proof;
  other.public_key = new_key().public_der();
  EXPECT_FALSE(proof_holds(other, print_of(key_), facts_));
  for (std::size_t i = 0; i < proof.signature.size(); ++i) {
    LaneProof damaged = proof;
    damaged.signature[i] = static_cast<char>(damaged.signature[i] ^ 1);
    EXPECT_FALSE(proof_holds(damaged, print_of(key_), facts_)) << "byte " << i;
  }
  proof.signature.clear();
  EXPECT_FALSE(proof_holds(proof, print_of(key_), facts_));
}

TEST_F(LaneProofs, AreNotGivenWithoutAKey) {
  EXPECT_FALSE(LaneProver(std::nullopt).prove(facts_));
}

TEST(ProofTexts, DifferWhereverTheFactsDo) {
  SeededRng rng(6);
  const NodeId a = NodeId::make(WallTime{1}, rng), b = NodeId::make(WallTime{2}, rng);
  const std::set<std::string> texts{proof_text({{}, a, b, {1}, {2}}), proof_text({{}, b, a, {1}, {2}}),
                                    proof_text({{}, a, b, {2}, {1}}), proof_text({{1}, a, b, {1}, {2}})};
  EXPECT_EQ(texts.size(), 4U);
  for (const std::string& text : texts) EXPECT_EQ(text.size(), 25U + 20 + 4 * 16);
}

TEST(ProofBudgets, BoundWhatStrangersCanCause) {
  ProofBudget budget;
  const MonoTime start{std::chrono::hours(1)};
  int taken = 0;
  for (int i = 0; i < 100'000; ++i) taken += budget.take(start) ? 1 : 0;
  EXPECT_EQ(taken, 400);
  for (int ms = 1; ms <= 10'000; ++ms) {
    for (int i = 0; i < 10; ++i) taken += budget.take(start + std::chrono::milliseconds(ms)) ? 1 : 0;
  }
  EXPECT_NEAR(taken, 400 + 10 * 200, 1);
}

}  // namespace
}  // namespace gridtorrent::client::engine
