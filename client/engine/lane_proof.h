#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/crypto/keys.h"
#include "client/core/audience.h"
#include "client/engine/wire.h"
#include "common/clock.h"
#include "common/ids.h"

namespace gridtorrent::client::engine {

/// What a proof on a plain lane is about. Addresses are not part of it: NAT changes them.
struct ProofFacts {
  std::array<std::uint8_t, 20> info_hash{};
  NodeId signer, verifier;
  Nonce signer_nonce{}, verifier_nonce{};
};
/// What is signed: fixed lengths after a label, so that no two facts give the same text.
std::string proof_text(const ProofFacts& facts);

/// Whether `proof` was made over these facts with the key of that hash. A key with another hash costs a hash, no check
/// of a signature.
bool proof_holds(const LaneProof& proof, const KeyPrint& key, const ProofFacts& facts);

/// What strangers can make this node do: a signature or a check takes a token. Not thread-safe.
class ProofBudget {
 public:
  /// A signature with P-256 takes 21 us and a check 65 us (OpenSSL 3.0, one core of 2.5 GHz), so that strangers take at
  /// most 2 % of a core. The burst is what a hundred nodes with four lanes each need when all dial at once.
  static constexpr double kPerSecond = 200, kBurst = 400;
  bool take(MonoTime now);

 private:
  double tokens_ = kBurst;
  std::optional<MonoTime> last_;
};

/// This node's side of the proofs, for all its torrents. Network thread only.
class LaneProver {
 public:
  /// No key: it proves nothing, and still checks others.
  explicit LaneProver(std::optional<crypto::EcKey> key);
  /// Nothing where there is no key.
  std::optional<LaneProof> prove(const ProofFacts& facts) const;
  ProofBudget& strangers() { return strangers_; }

 private:
  const std::optional<crypto::EcKey> key_;
  const std::string public_der_;
  ProofBudget strangers_;
};

}  // namespace gridtorrent::client::engine
