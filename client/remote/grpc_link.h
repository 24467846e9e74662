#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "client/core/server_link.h"
#include "common/clock.h"
#include "common/result.h"
#include "common/rng.h"

namespace gridtorrent::client::remote {

/// Where the server is and whom to believe.
struct ServerAddress {
  std::string address;  ///< "host:port", "[v6]:port"
  std::string ca_file;  ///< PEM; named in errors
};

/// This node's credential. Kept by the caller (client/security), 0600.
struct NodeCredential {
  std::string token;  ///< "gtn_…"
  WallTime issued, expires;
};

struct ServerLinkOptions {
  ServerAddress server;
  NodeCredential credential;
  /// Called on the link's own thread with each renewed credential, which is in use by then: write it down. After an
  /// error it is called again, each minute at most, until another credential is there.
  std::function<Status(const NodeCredential&)> on_credential;
  std::string node_name;  ///< as this node knows it
  /// Called on the link's own thread: the server has another name for this node. It is the one that is told from then
  /// on.
  std::function<void(const std::string& name)> on_name;
  /// Called once, on the link's own thread, which then ends: the server says that this node was removed.
  std::function<void(const Error&)> on_removed;
  /// Called on the link's own thread each time a server greeted the node over a connection that this CA file vouches
  /// for: now it is proven to be the right one.
  std::function<void(const std::string& ca_file)> on_proven_ca;
  Clock* clock = nullptr;                      ///< must outlive the link
  Rng* rng = nullptr;                          ///< jitter and request ids; must outlive the link
  std::chrono::milliseconds deadline{15'000};  ///< of a short call; long ones get more by their size
  /// Pauses between attempts at the stream: uniform in [0, min(max, min · 2^attempt)] ("full jitter"; Brooker,
  /// "Exponential Backoff And Jitter", AWS Architecture Blog 2015). A pause longer than `least_pause` ends with the
  /// return of a connection that was down.
  std::chrono::milliseconds backoff_min{1'000}, backoff_max{60'000}, least_pause{1'000};
  /// Without a message for so long the stream counts as lost; the server sends one every 30 s.
  std::chrono::milliseconds silence_max{95'000};
};

/// A ServerLink whose server may get another CA meanwhile, and whose node another credential.
class RemoteLink : public ServerLink {
 public:
  /// From the next call on, and for the stream's next attempt, which comes at once where it is down. kInvalid: no such
  /// file, or no certificate in it; then all stays.
  virtual Status use_ca(const std::string& ca_file) = 0;
  /// Likewise, of a credential that its caller has kept.
  virtual void use_credential(const NodeCredential& credential) = 0;
  /// The server refused it at the last attempt: it is revoked, or past its time.
  virtual bool credential_refused() const = 0;
};

/// A RemoteLink over gRPC and TLS. One thread of its own ("gt-server-link") holds the stream, renews the credential at
/// two thirds of its life and calls the listener; all other methods run on the caller's. While the last greeting was
/// refused (another protocol, clocks more than 48 h apart) every call returns that error. kInvalid: no such CA file, a
/// malformed address.
Result<std::unique_ptr<RemoteLink>> make_server_link(ServerLinkOptions options);

struct EnrollRequest {
  std::string enroll_token;
  std::string request_id;  ///< repeated, the node has been enrolled once
  std::string name;        ///< wished name of the node; empty: as in the token
  std::string public_key;  ///< SubjectPublicKeyInfo in DER
  std::string proof;       ///< signature over enroll_proof_text(enroll_token)
};

struct Enrollment {
  NodeId node;
  std::string node_name;  ///< that it has got; empty: an older server does not tell
  UserId owner_id;
  std::string owner;
  NodeCredential credential;
};

/// What the node's key signs (ECDSA P-256, SHA-256) to prove that the node has it.
std::string enroll_proof_text(const std::string& enroll_token);

/// Makes this machine a node of the token's user. Blocks up to `deadline`. kUnreachable: try again with the same
/// request_id.
Result<Enrollment> enroll(const ServerAddress& server, const EnrollRequest& request, Clock& clock,
                          std::chrono::milliseconds deadline = std::chrono::milliseconds(15'000));

}  // namespace gridtorrent::client::remote
