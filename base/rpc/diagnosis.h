#pragma once

#include <string>

#include "common/clock.h"
#include "common/result.h"

namespace gridtorrent::rpc {

/// For a call over connect_tls() that got no answer (kUnreachable, kTimeout): finds out why and says it in one line
/// with the server's address: nobody listens, no TLS there, a certificate that the CA file did not sign, that names
/// other hosts, or whose dates do not fit the clock `now` (then by how much). Other errors come back as they are. Makes
/// one connection of its own and blocks up to 3 s an address. The code stays: trying again later can help.
Error diagnose(const Error& error, const std::string& host_port, const std::string& ca_file, WallTime now);

/// When the certificate of the server at `host_port` ends, or the CA's in its chain if that is sooner. Blocks and fails
/// as crypto::probe_tls.
Result<WallTime> certificate_end(const std::string& host_port, const std::string& ca_file);

}  // namespace gridtorrent::rpc
