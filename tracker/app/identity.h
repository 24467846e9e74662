#pragma once

#include <string>
#include <vector>

#include "common/clock.h"
#include "common/result.h"

namespace gridtorrent::tracker::app {

/// The server's certificates in its data folder: ca.pem (for clients), ca-key.pem, tls.pem (key and chain in one file,
/// replaced by rename, so that a running server takes it up).
struct Identity {
  std::string ca_file, pem_file;
  bool reissued = false;  ///< the server's certificate was made anew
};

/// Makes what is missing, and the server's certificate anew where the names changed or two thirds of its life are over.
/// kCorrupt: files that are there but do not belong together (nothing is replaced silently); kDenied: keys that others
/// may read; kDisk.
Result<Identity> ensure_identity(const std::string& data_dir, const std::vector<std::string>& names, WallTime now);

/// The names a certificate is for: the hosts given (empty and unspecified ones aside), this host's name, localhost,
/// 127.0.0.1, ::1.
std::vector<std::string> certificate_names(const std::string& advertised_host, const std::string& listen_host);

/// "0.0.0.0" and "::": every address of this host.
bool is_unspecified(const std::string& host);

}  // namespace gridtorrent::tracker::app
