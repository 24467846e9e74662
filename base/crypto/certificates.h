#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/crypto/keys.h"
#include "common/clock.h"
#include "common/result.h"

namespace gridtorrent::crypto {

/// Certificates begin so long before they are made, for clocks that are behind.
inline constexpr std::chrono::hours kBackDating{48};
inline constexpr std::chrono::hours kServerCaLife{10 * 365 * 24};
inline constexpr std::chrono::hours kServerLeafLife{365 * 24};
inline constexpr std::chrono::hours kNodeCertificateLife{7 * 24};

/// A certificate authority: its certificate and key.
struct Authority {
  std::string certificate_pem;
  EcKey key;
};

/// Self-signed, may sign leaves only (pathlen 0), back-dated.
Result<Authority> make_authority(const std::string& common_name, WallTime now,
                                 std::chrono::milliseconds life = kServerCaLife);

/// A TLS server's certificate for these names (numeric addresses become IP entries, the rest DNS), signed by the
/// authority, not outliving it. PEM.
Result<std::string> issue_server_certificate(const Authority& authority, const EcKey& key,
                                             const std::vector<std::string>& names, WallTime now,
                                             std::chrono::milliseconds life = kServerLeafLife);

/// A node's certificate for TLS lanes: client and server at once, since a node dials and accepts, and good for every
/// torrent of this authority (name `*`: libtorrent's own rule is a prefix match; the right to a
/// content is decided by the key alone). Back-dated, not outliving the authority. PEM. kInvalid: `public_der` is no key
/// as `read_public_key` takes it.
Result<std::string> issue_node_certificate(const Authority& authority, std::string_view public_der, WallTime now,
                                           std::chrono::milliseconds life = kNodeCertificateLife);

/// What a certificate says. For renewal and `doctor`.
struct CertificateFacts {
  WallTime not_before, not_after;
  std::vector<std::string> names;  ///< subject alternative names: DNS, and IP in numeric form; sorted
  std::string public_der;          ///< SubjectPublicKeyInfo
};
/// kCorrupt: the text holds no certificate. The first one counts.
Result<CertificateFacts> read_certificate(std::string_view pem);

/// The SHA-256 of the certificate in DER, in 64 hexadecimal digits: how people name one. kCorrupt as above.
Result<std::string> certificate_digest(std::string_view pem);

/// Whether `certificate_pem` was signed by the authority's certificate (dates are not looked at).
Result<bool> is_signed_by(std::string_view certificate_pem, std::string_view authority_pem);

/// Whether a leaf is to be made anew: other names wanted, or past two thirds of its life, or not valid yet. Pure.
bool needs_reissue(const CertificateFacts& facts, std::vector<std::string> wanted_names, WallTime now);

}  // namespace gridtorrent::crypto
