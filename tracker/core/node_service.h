#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ccm/domain/user.h"
#include "common/clock.h"
#include "common/page.h"
#include "common/result.h"
#include "common/rng.h"
#include "tracker/core/audiences.h"
#include "tracker/core/hub.h"
#include "tracker/core/node.h"
#include "tracker/core/ports.h"
#include "tracker/core/swarms.h"

namespace gridtorrent::tracker {

struct EnrollNode {
  std::string request_id;
  std::string token_id;    ///< of the enrolment token, whose secret was checked
  std::string name;        ///< wished; empty: the token's, else made from the id
  std::string public_key;  ///< DER, whose proof was checked
  std::string program_version;
  ccm::Token node_token;  ///< id, secret_hash and expiry of the credential to write down; the rest is filled in here
};
struct EnrolledNode {
  NodeRecord node;
  ccm::User owner;
  ccm::Token token;
};

/// The use cases of nodes and swarms, one transaction each. Thread-safe; blocks on the store.
/// Errors besides those of the store: kInvalid; kNotFound (missing or another's); kUnauthenticated the enrolment token
/// is used up, ended or not for this name; kConflict name or key taken; kExhausted quota; kDenied; kUnsupported.
class NodeService {
 public:
  struct Deps {
    Store& store;
    Swarms& swarms;
    NodeHub& hub;
    Audiences& audiences;
    const Clock& clock;
    Rng& rng;
    ccm::Quotas quotas;
  };
  explicit NodeService(Deps deps) : d_(deps) {}

  /// Writes down an enrolment token (id, secret_hash, expires, uses_left, only_name, ephemeral are the caller's).
  Status add_enroll_token(const ccm::Actor& actor, const std::string& request_id, const ccm::Token& token);

  /// Takes one use of the token, makes the node and its credential: all or nothing. The same key again (the answer was
  /// lost on the way, or the node lost its state but not its key): the same node, its old credentials revoked, no
  /// further use taken.
  Result<EnrolledNode> enroll(const EnrollNode& request);
  /// A fresh credential for the node of `actor`; the old ones end a day later, so that a lost answer does no harm.
  Result<EnrolledNode> renew(const ccm::Actor& actor, const ccm::Token& node_token);

  /// By name.
  Result<Page<NodeView>> list(const ccm::Actor& actor, const PageRequest& page = {});
  /// By id or name; one's own (a node: itself).
  Result<NodeView> get(const ccm::Actor& actor, std::string_view reference);
  /// Its credentials end, its name is free, its task list and what it held are forgotten; other nodes let it in no
  /// more. One's own, or with role admin anybody's (by id or OWNER/NAME).
  struct RemovedNode {
    NodeId id;
    std::string name, owner;
    std::vector<TaskId> tasks;  ///< that were open
  };
  Result<RemovedNode> remove(const ccm::Actor& actor, const std::string& request_id, std::string_view reference);
  /// Whose as in remove(). kConflict: the owner has another node of that name.
  Result<NodeView> rename(const ccm::Actor& actor, const std::string& request_id, std::string_view reference,
                          const std::string& name);

  /// The node of the actor's credential; kDenied without one.
  Result<NodeView> self(const ccm::Actor& actor);

  /// Step one of UpdateEndpoints: what to keep, checked and with "" filled in. The caller then dials back, and hands
  /// the verdicts to set_endpoints.
  Result<std::vector<NodeEndpoint>> plan_endpoints(const ccm::Actor& actor, const std::vector<Endpoint>& endpoints,
                                                   bool declared, std::string_view observed_address);
  /// Keeps the names of the node's folders. kInvalid as check_roots.
  Status set_roots(const ccm::Actor& actor, const NodeRoots& roots);
  /// Keeps them, and tells the swarms' members.
  Status set_endpoints(const ccm::Actor& actor, const std::vector<NodeEndpoint>& endpoints);

  /// Policy, swarm, replica. Peers that the content is not (or no longer) for get its decision's error.
  Result<AnnounceResult> announce(const ccm::Actor& actor, const Announce& announce);

  /// A WatchNode stream opened: the node is online. Pairs with `closed`. Returns the node's name.
  Result<std::string> opened(const ccm::Actor& actor, std::string_view program_version);
  void closed(const NodeId& node);

  /// Removes ephemeral nodes not seen for kEphemeralLifetime, expires swarm members. Call every few seconds.
  Status sweep();
  /// Writes down when nodes were last heard: of those that left, and of those online where that is older than `age`.
  /// `sweep` does; call it once more when the server ends.
  Status write_signs(std::chrono::milliseconds age);

  static constexpr std::chrono::milliseconds kEphemeralLifetime = std::chrono::hours(24);

 private:
  NodeView view(NodeRecord record) const;
  void forget(const NodeId& node);
  Status audit_refusals(const ccm::Actor& actor, const Announce& own);
  void leave_audience(const NodeId& node, const ContentId& content);
  Result<EnrolledNode> enroll_in(Tx& tx, const EnrollNode& request);

  Deps d_;
};

}  // namespace gridtorrent::tracker
