#pragma once

#include <string>

#include "common/result.h"

namespace gridtorrent::client::api {

/// A server's certificate authority, as somebody who has never met the server comes to know it.
struct ShownAuthority {
  std::string pem;
  std::string sha256;  ///< of the certificate in DER, 64 hexadecimal digits
};

/// Connects to "HOST:PORT" and returns what is shown there; verifies nothing. It is the server's only where its SHA-256
/// is the one that came by a trusted way. Blocks for some seconds at most. kInvalid; kUnreachable; kUnsupported.
Result<ShownAuthority> probe_authority(const std::string& address);

/// The SHA-256 of the certificate in this file, as above. kInvalid: it cannot be read, or holds none.
Result<std::string> authority_sha256(const std::string& ca_file);

}  // namespace gridtorrent::client::api
