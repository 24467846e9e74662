#include "client/engine/lane_proof.h"

#include <algorithm>
#include <chrono>

#include "base/crypto/digest.h"
#include "common/hex.h"

namespace gridtorrent::client::engine {

std::string proof_text(const ProofFacts& facts) {
  std::string text = "gridtorrent lane proof 1";
  text.push_back('\0');
  const auto add = [&text](const auto& bytes) { text.append(bytes.begin(), bytes.end()); };
  add(facts.info_hash);
  add(facts.signer.bytes());
  add(facts.verifier.bytes());
  add(facts.signer_nonce);
  add(facts.verifier_nonce);
  return text;
}

bool proof_holds(const LaneProof& proof, const KeyPrint& key, const ProofFacts& facts) {
  if (crypto::sha256(as_bytes(proof.public_key)) != key) return false;
  const Result<bool> verified = crypto::verify_signature(proof.public_key, proof_text(facts), proof.signature);
  return verified && *verified;
}

bool ProofBudget::take(MonoTime now) {
  if (last_) {
    const double seconds = std::chrono::duration<double>(now - *last_).count();
    tokens_ = std::min(kBurst, tokens_ + kPerSecond * std::max(0.0, seconds));
  }
  last_ = now;
  if (tokens_ < 1) return false;
  --tokens_;
  return true;
}

LaneProver::LaneProver(std::optional<crypto::EcKey> key)
    : key_(std::move(key)), public_der_(key_ ? key_->public_der() : std::string()) {}

std::optional<LaneProof> LaneProver::prove(const ProofFacts& facts) const {
  if (!key_) return std::nullopt;
  auto signature = key_->sign(proof_text(facts));
  if (!signature) return std::nullopt;
  return LaneProof{public_der_, std::move(*signature)};
}

}  // namespace gridtorrent::client::engine
