#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/crypto/certificates.h"
#include "base/crypto/sealed.h"
#include "ccm/domain/ports.h"
#include "ccm/domain/user.h"
#include "common/clock.h"
#include "common/result.h"
#include "tracker/core/ports.h"

namespace gridtorrent::tracker::authority {

/// The data CA: signs nodes' certificates for TLS lanes (docs/security.md, "How restricted content is guarded"). Its
/// keys lie in the store, sealed under a key in a file that lies elsewhere. A certificate says only "a node of this
/// server": who may have what is decided by lists of keys. Thread-safe; blocks on the store but for Editions.
class DataAuthority final : public ccm::Editions {
 public:
  DataAuthority(Store& store, std::string sealing_key_file, const Clock& clock)
      : store_(store), sealing_key_file_(std::move(sealing_key_file)), clock_(clock) {}

  /// Opens the generations that are there; where there is none, makes the first, and the sealing key if that is
  /// missing, too. A server whose sealing key is missing or another is still good for public content: this is no error
  /// here, `trouble` names it, and what needs a signature is refused with it. Errors: of the store.
  Status open();
  /// What keeps this CA from signing; nothing: it signs.
  std::optional<Error> trouble() const;

  Result<std::uint32_t> restricted() const override;
  std::string ca_pem(std::uint32_t generation) const override;

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
  /// request; kUnsupported: `trouble`. Writes an audit record in the same transaction.
  Result<std::vector<NodeCertificate>> certify(const ccm::Actor& actor, std::string_view request_der);

  /// A new generation beside those that live; contents move to it afterwards (GenerationMover). Where the sealing key
  /// is missing or another, only with `sealing_key_lost`: it is then made anew, or the one that is there is used, and
  /// what was sealed under the old one is given up. kConflict otherwise, naming both ways on.
  Result<Generation> rotate(const ccm::Actor& actor, const std::string& request_id, bool sealing_key_lost);
  /// Ends a generation that no content uses any more. kConflict: it is the current one, or in use; kNotFound.
  Status retire(std::uint32_t generation);

  /// Living ones besides the current one, oldest first.
  std::vector<std::uint32_t> replaced() const;

  struct Described {
    std::uint32_t generation = 0;
    WallTime created;
    std::optional<WallTime> retired;
    bool signs = false;          ///< it lives, and its key opens
    std::uint64_t contents = 0;  ///< under it
  };
  /// Oldest first, retired ones included.
  Result<std::vector<Described>> describe() const;

 private:
  struct Living {
    Generation generation;
    Result<crypto::Authority> authority;  ///< an error: its key does not open
  };
  std::optional<Error> sealing_key_trouble() const;
  /// `changing_` held. `also` is done in the transaction that keeps it.
  Result<Generation> make(const std::function<Status(Tx&, std::uint32_t generation)>& also);
  Living unseal(const DataCaRecord& record) const;

  Store& store_;
  const std::string sealing_key_file_;
  const Clock& clock_;
  std::mutex changing_;       ///< one change at a time; held over the store's work
  mutable std::mutex mutex_;  ///< guards the rest; never held over the store's work, whose writer asks for `ca_pem`
  std::optional<crypto::SealingKey> sealing_;
  std::optional<Error> trouble_;
  std::vector<Living> living_;  ///< oldest first
};

}  // namespace gridtorrent::tracker::authority
