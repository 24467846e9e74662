#pragma once

#include <mutex>
#include <string>

#include "client/remote/grpc_link.h"
#include "client/security/node_identity.h"
#include "common/clock.h"
#include "common/result.h"
#include "common/rng.h"

namespace gridtorrent::client::app {

/// Who this node is, as it changes while it runs: its credential is renewed or replaced, its name changed at the
/// server. Each change is on the disk before it counts. Thread-safe.
class IdentityKeeper {
 public:
  IdentityKeeper(std::string data_dir, security::NodeIdentity identity)
      : data_dir_(std::move(data_dir)), identity_(std::move(identity)) {}

  security::NodeIdentity now() const;
  /// kDisk: nothing changed. One that is older than what is kept changes nothing: another was given meanwhile.
  Status renew(const remote::NodeCredential& credential);
  Status rename(const std::string& node_name);
  /// In place of what is kept, also of a renewal that was written down meanwhile. kDisk: it is in use all the same.
  Status take_over(const security::NodeIdentity& identity);

 private:
  template <class Change>
  Status change(Change&& edit);

  const std::string data_dir_;
  mutable std::mutex mutex_;
  security::NodeIdentity identity_;
};

/// What an enrolment takes besides the token, which is a secret.
struct EnrolmentPlace {
  std::string data_dir, server, ca_file;
  std::string node_name;  ///< wished; empty: as in the token
};

/// Enrols the key in the data folder, which is made where it is missing, and keeps the answer there. A key that the
/// server knows: the same node, whose other credentials end. Blocks on the server.
Result<security::NodeIdentity> enrol(const EnrolmentPlace& place, const std::string& token, Clock& clock, Rng& rng);

/// The server says that this node was removed: what is there is kept beside, and the next start enrols a node of its
/// own. Returns the line that says so, with the way out.
Error set_aside(const std::string& data_dir, const security::NodeIdentity& identity, const Error& removed);

}  // namespace gridtorrent::client::app
