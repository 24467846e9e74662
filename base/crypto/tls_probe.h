#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/result.h"

namespace gridtorrent::crypto {

/// What a TLS server showed, whether or not it is to be trusted.
struct TlsProbe {
  bool chain_trusted = false;  ///< signed by a CA of the file; dates and names aside
  bool name_matches = false;
  WallTime not_before, not_after;  ///< the narrowest of the chain
  std::vector<std::string> names;  ///< DNS names and addresses in the certificate
};

/// Connects, shakes hands, looks at the certificate and hangs up; nothing is sent. Only to tell people why a connection
/// fails, never to decide on trust. Blocks up to `timeout` for each address of the host. kUnreachable: no such name, or
/// nobody answers; kInvalid: the CA file; kUnsupported: what answers speaks no TLS.
Result<TlsProbe> probe_tls(const std::string& host, std::uint16_t port, const std::string& ca_file,
                           std::chrono::milliseconds timeout = std::chrono::milliseconds(3'000));

/// The authority that a TLS server says it belongs to: the last certificate of its chain, where that is signed by
/// itself. PEM. Whoever answers can show any: trust it by its SHA-256 (certificate_digest) or not at all. Blocks as
/// probe_tls(). kUnreachable; kUnsupported: no TLS, or no authority is shown.
Result<std::string> shown_authority(const std::string& host, std::uint16_t port,
                                    std::chrono::milliseconds timeout = std::chrono::milliseconds(3'000));

}  // namespace gridtorrent::crypto
