#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/crypto/keys.h"
#include "common/clock.h"
#include "common/ids.h"
#include "common/result.h"

namespace gridtorrent::client::security {

/// Who a node is to its server: what enrolment gave it. Kept in <data dir>/credential.json, 0600.
struct NodeIdentity {
  NodeId node;
  std::string node_name;
  UserId owner_id;
  std::string owner;
  std::string server;  ///< "host:port" it was enrolled at
  std::string token;   ///< a secret: never printed
  WallTime issued, expires;
  friend bool operator==(const NodeIdentity&, const NodeIdentity&) = default;
};

/// Nothing where this node was never enrolled. kDenied where others may read the file, kCorrupt where it makes no
/// sense.
Result<std::optional<NodeIdentity>> load_identity(const std::string& data_dir);
Status save_identity(const std::string& data_dir, const NodeIdentity& identity);
/// The node was removed at its server: its credential is kept as credential.json.removed, and the node is one that was
/// never enrolled. Its key stays. kDisk.
Status set_identity_aside(const std::string& data_dir);

/// What a first start sends to the server.
struct EnrolmentRequest {
  std::string enroll_token, request_id, node_name, public_key, proof;
};
/// Asks the server, over whatever wire; returns who this node is now.
using EnrolFn = std::function<Result<NodeIdentity>(const EnrolmentRequest&)>;
/// The text that the key signs to prove that the node has it, from the token.
using ProofTextFn = std::function<std::string(const std::string& enroll_token)>;

/// Makes the node's key (<data dir>/node_key.pem, 0600) where it is missing, asks, and keeps the answer before
/// returning. The request id is written down first (<data dir>/enrolment), so that a start after a lost answer enrols
/// the same node again instead of using up the token. kUnreachable: start again later.
Result<NodeIdentity> enrol_once(const std::string& data_dir, const std::string& enroll_token,
                                const std::string& node_name, const std::string& fresh_request_id,
                                const ProofTextFn& proof_text, const EnrolFn& enrol);

}  // namespace gridtorrent::client::security
