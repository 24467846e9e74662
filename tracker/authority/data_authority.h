#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/crypto/certificates.h"
#include "base/crypto/sealed.h"
#include "ccm/domain/user.h"
#include "common/clock.h"
#include "common/result.h"
#include "tracker/core/ports.h"

namespace gridtorrent::tracker::authority {

/// The data CA: signs nodes' certificates for TLS lanes (model.md, "Rights on the data plane"; security.md 1.6). Its
/// keys lie in the store, sealed under a key that lies elsewhere. A certificate says only "a node of this server": who
/// may have what is decided by lists of keys. Thread-safe; blocks on the store.
class DataAuthority {
 public:
  DataAuthority(Store& store, const crypto::SealingKey& sealing, const Clock& clock)
      : store_(store), sealing_(sealing), clock_(clock) {}

  /// Opens the generations that are there, and makes the first where there is none. kCorrupt where a key does not open:
  /// names the sealing key that is missing.
  Status open();

  struct Generation {
    std::uint32_t number = 0;
    std::string ca_pem;
  };
  /// What content of restricted access is published under now.
  Generation current() const;

  struct NodeCertificate {
    Generation generation;
    std::string certificate_pem;
    WallTime expires;
  };
  /// A certificate for each living generation, oldest first. kDenied: the actor is no node, or the request is for
  /// another key than the one that the node enrolled with; kUnauthenticated: it is no longer enrolled; kInvalid: the
  /// request. Writes an audit record in the same transaction.
  Result<std::vector<NodeCertificate>> certify(const ccm::Actor& actor, std::string_view request_der);

  /// A new generation beside those that live; contents move to it afterwards.
  Result<Generation> rotate();
  /// Ends a generation that no content uses any more. kConflict: it is the current one; kNotFound.
  Status retire(std::uint32_t generation);

 private:
  struct Living {
    Generation generation;
    crypto::Authority authority;
  };
  Result<Living> make(std::uint32_t generation);
  Result<Living> unseal(const DataCaRecord& record) const;

  Store& store_;
  const crypto::SealingKey sealing_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::vector<Living> living_;  ///< oldest first
};

}  // namespace gridtorrent::tracker::authority
