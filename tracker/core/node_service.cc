#include "tracker/core/node_service.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "ccm/domain/content_access.h"
#include "ccm/domain/names.h"
#include "ccm/domain/once.h"
#include "common/text.h"
#include "tracker/core/node_access.h"

namespace gridtorrent::tracker {

namespace {

constexpr std::chrono::milliseconds kMaxEnrollLifetime = std::chrono::hours(24 * 30);
constexpr std::chrono::milliseconds kOldCredentialLifetime = std::chrono::hours(24);
constexpr std::uint32_t kMaxUses = 100'000;
constexpr std::size_t kMaxPublicKeyBytes = 4096;
constexpr std::size_t kMaxVersionBytes = 64;
constexpr std::size_t kSweepBatch = 100;
/// A server that is killed forgets no more of when it heard a node.
constexpr std::chrono::minutes kSignsWritten{5};
/// Refusals that one announce can have written down; a node that refuses a thousand dials a second for 17 minutes
/// counts as many.
constexpr std::uint64_t kMaxRefusals = 1'000'000;
constexpr std::size_t kSuffixCharacters = 8;
/// Of a node that is removed. Quotas let few be open.
constexpr std::size_t kMostTasksTold = 100'000;
// A node enrols anew when it lost its credential, or the answer that brought it. More is a loop, and each leaves a
// token and an audit record.
constexpr std::uint64_t kCredentialsAnHour = 10;

/// The random end of an id: what tells nodes apart whose name somebody else chose.
std::string suffix_of(const NodeId& id) {
  const std::string text = id.str();
  return text.substr(text.size() - kSuffixCharacters);
}

Error token_ended() {
  return {Code::kUnauthenticated,
          "the enrolment token is unknown, used up, expired or revoked; make another: gridtorrent node enroll-token"};
}

Status check_enrollment(const EnrollNode& request) {
  if (!request.name.empty()) GT_TRY(ccm::check_name("node name", request.name));
  if (request.public_key.empty() || request.public_key.size() > kMaxPublicKeyBytes) {
    return Error{Code::kInvalid, "the node's public key is missing or too long"};
  }
  if (request.program_version.size() > kMaxVersionBytes || !is_valid_utf8(request.program_version)) {
    return Error{Code::kInvalid, "the node's program version is longer than 64 bytes or no UTF-8"};
  }
  return {};
}

/// Refused before anything is written, and without a turn of the one writer: a token that has ended or is used up, and
/// a node that enrols again and again.
Status check_enrollable(Tx& tx, const EnrollNode& request, WallTime now) {
  GT_ASSIGN(const auto token, tx.tokens.by_id(request.token_id));
  if (!token || token->kind != ccm::TokenKind::kEnroll || !token->is_good(now)) return token_ended();
  GT_ASSIGN(const auto before, tx.nodes.by_public_key(request.public_key));
  if (!before) return token->uses_left > 0 ? Status() : Status(token_ended());
  GT_ASSIGN(const std::uint64_t given, tx.tokens.count_of_node(before->id, now - std::chrono::hours(1)));
  if (given < kCredentialsAnHour) return {};
  return Error{Code::kBusy, "node " + before->id.str() + " was enrolled " + std::to_string(given) +
                                " times within the hour; try again later"};
}

/// The name asked for; or the token's, or one made up, told apart by a suffix where it is taken.
Result<std::string> choose_name(Tx& tx, const ccm::Token& token, const std::string& wished, const NodeId& id) {
  if (!wished.empty() && !token.only_name.empty() && wished != token.only_name) {
    return Error{Code::kDenied, "the enrolment token is for node " + token.only_name + ", not " + wished};
  }
  const std::string name = !wished.empty() ? wished : token.only_name;
  if (name.empty()) return "node-" + suffix_of(id);
  GT_ASSIGN(const auto taken, tx.nodes.by_owner_and_name(token.user, name));
  if (!taken) return name;
  if (!wished.empty()) {
    return Error{Code::kConflict, "you have a node named " + name + " already; give another with --name"};
  }
  return name.substr(0, 64 - kSuffixCharacters - 1) + "-" + suffix_of(id);
}

ccm::Token credential(const ccm::Token& wished, const NodeRecord& node, WallTime now) {
  ccm::Token token = wished;
  token.kind = ccm::TokenKind::kNode;
  token.user = node.owner;
  token.node = node.id;
  token.scopes = ccm::node_scopes();
  token.label = node.name;
  token.created = now;
  return token;
}

}  // namespace

NodeView NodeService::view(NodeRecord record) const {
  const bool online = d_.swarms.online(record.id);
  record.last_seen = std::max(record.last_seen, d_.swarms.last_sign(record.id));
  return {std::move(record), online};
}

Status NodeService::add_enroll_token(const ccm::Actor& actor, const std::string& request_id, const ccm::Token& token) {
  constexpr std::string_view kMethod = "node.enroll_token";
  const WallTime now = d_.clock.wall();
  if (!token.only_name.empty()) GT_TRY(ccm::check_name("node name", token.only_name));
  if (token.uses_left == 0 || token.uses_left > kMaxUses) {
    return Error{Code::kInvalid, "an enrolment token has 1 to 100000 uses; give another --uses"};
  }
  if (token.expires <= now || token.expires - now > kMaxEnrollLifetime) {
    return Error{Code::kInvalid,
                 "an enrolment token lives for more than nothing and at most 30 days; give another --ttl"};
  }
  ccm::Token kept = token;
  kept.kind = ccm::TokenKind::kEnroll;
  kept.user = actor.user;
  kept.node = NodeId();
  kept.scopes = ccm::Scopes();
  kept.created = now;
  kept.label = token.only_name.empty() ? "enrolment" : token.only_name;
  return d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(const auto answered, ccm::first_answer(tx, actor.user, request_id, kMethod));
    if (answered) {
      return Error{Code::kConflict, "enrolment token " + *answered +
                                        " was made by this request and shown once; revoke it and make another"};
    }
    // What a node's credential opens beyond that a node has by itself.
    constexpr ccm::Scopes kOpened{ccm::Scope::kContentRead, ccm::Scope::kContentPublish};
    if (!kOpened.within(actor.scopes)) {
      return Error{Code::kDenied,
                   "a node reads and publishes contents: an enrolment token is made with a login, or with "
                   "a token that has the scopes account, content:read and content:publish"};
    }
    GT_ASSIGN(const std::uint64_t count, tx.tokens.count_good(actor.user, ccm::TokenKind::kEnroll, now));
    GT_ASSIGN(const ccm::Quotas quotas, ccm::quotas_of(tx, d_.quotas, actor.user));
    if (count >= quotas.enroll_tokens) {
      return Error{Code::kExhausted, "user " + actor.name + " has " + std::to_string(count) +
                                         " open enrolment tokens, as many as are allowed; revoke some or wait"};
    }
    GT_TRY(tx.tokens.insert(kept));
    GT_TRY(ccm::keep_answer(tx, actor.user, request_id, kMethod, kept.id, now));
    return tx.audit.append(ccm::audit_record(actor, now, kMethod, kept.id, request_id));
  });
}

Result<EnrolledNode> NodeService::enroll(const EnrollNode& request) {
  GT_TRY(check_enrollment(request));
  GT_TRY(d_.store.read([&](Tx& tx) { return check_enrollable(tx, request, d_.clock.wall()); }));
  std::optional<EnrolledNode> enrolled;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(enrolled, enroll_in(tx, request));
    return {};
  }));
  d_.audiences.ring(enrolled->owner.id);
  return std::move(*enrolled);
}

Result<EnrolledNode> NodeService::enroll_in(Tx& tx, const EnrollNode& request) {
  const WallTime now = d_.clock.wall();
  GT_TRY(check_enrollable(tx, request, now));  // again: others wrote meanwhile
  GT_ASSIGN(const auto token, tx.tokens.by_id(request.token_id));
  GT_ASSIGN(const auto owner, tx.users.by_id(token->user));
  if (!owner || owner->disabled) return token_ended();

  GT_ASSIGN(const auto before, tx.nodes.by_public_key(request.public_key));
  NodeRecord node;
  if (before) {
    if (before->owner != token->user) {
      return Error{Code::kConflict, "this node's key is enrolled for another user; start with an empty --data-dir"};
    }
    node = *before;
    GT_TRY(tx.tokens.revoke_all_of_node(node.id, now));
  } else {
    GT_ASSIGN(const std::uint64_t own, tx.node_effects.count_nodes(token->user));
    GT_ASSIGN(const ccm::Quotas quotas, ccm::quotas_of(tx, d_.quotas, token->user));
    if (own >= quotas.nodes) {
      return Error{Code::kExhausted, "user " + owner->name + " has " + std::to_string(own) +
                                         " nodes, as many as the quota allows; ask the administrator for more"};
    }
    node.id = NodeId::make(now, d_.rng);
    GT_ASSIGN(node.name, choose_name(tx, *token, request.name, node.id));
    GT_ASSIGN(const bool used, tx.tokens.take_use(token->id));
    if (!used) return token_ended();
    node.owner = token->user;
    node.owner_name = owner->name;
    node.public_key = request.public_key;
    node.ephemeral = token->ephemeral;
    node.created = now;
    node.last_seen = now;
    node.program_version = request.program_version;
    GT_TRY(tx.nodes.insert(node));
  }
  const ccm::Token fresh = credential(request.node_token, node, now);
  GT_TRY(tx.tokens.insert(fresh));
  ccm::Actor actor;
  actor.user = owner->id;
  actor.name = owner->name;
  actor.token_id = token->id;
  GT_TRY(tx.audit.append(ccm::audit_record(actor, now, "node.enroll", node.id.str(), request.request_id)));
  return EnrolledNode{node, *owner, fresh};
}

Result<EnrolledNode> NodeService::renew(const ccm::Actor& actor, const ccm::Token& node_token) {
  std::optional<EnrolledNode> renewed;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    const WallTime now = d_.clock.wall();
    GT_ASSIGN(const NodeRecord node, node_of(tx, actor));
    GT_ASSIGN(const auto owner, tx.users.by_id(node.owner));
    if (!owner) return token_ended();
    GT_TRY(tx.tokens.expire_all_of_node(node.id, now, now + kOldCredentialLifetime));
    const ccm::Token fresh = credential(node_token, node, now);
    GT_TRY(tx.tokens.insert(fresh));
    GT_TRY(tx.audit.append(ccm::audit_record(actor, now, "node.renew", node.id.str(), "")));
    renewed = EnrolledNode{node, *owner, fresh};
    return {};
  }));
  return std::move(*renewed);
}

Result<Page<NodeView>> NodeService::list(const ccm::Actor& actor, const PageRequest& page) {
  constexpr std::string_view kList = "nodes";
  GT_ASSIGN(const PageKey key, parse_page_token(kList, 1, page.token));
  std::vector<NodeRecord> records;
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    GT_ASSIGN(records, tx.nodes.of_owner(actor.user, key.empty() ? "" : key[0], page.items() + 1));
    return {};
  }));
  std::vector<NodeView> views;
  views.reserve(records.size());
  for (NodeRecord& record : records) views.push_back(view(std::move(record)));
  return make_page<NodeView>(std::move(views), page,
                             [](const NodeView& node) { return encode_page_token(kList, {node.record.name}); });
}

Result<NodeView> NodeService::get(const ccm::Actor& actor, std::string_view reference) {
  NodeRecord record;
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    GT_ASSIGN(record, own_node(tx, actor.user, reference));
    return {};
  }));
  return view(std::move(record));
}

Result<NodeService::RemovedNode> NodeService::remove(const ccm::Actor& actor, const std::string& request_id,
                                                     std::string_view reference) {
  constexpr std::string_view kMethod = "node.remove";
  RemovedNode removed;
  UserId owner;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    removed = {};
    GT_ASSIGN(const auto answered, ccm::first_answer(tx, actor.user, request_id, kMethod));
    if (answered) {
      GT_ASSIGN(removed.id, NodeId::parse(*answered));
      return {};
    }
    const WallTime now = d_.clock.wall();
    GT_ASSIGN(const NodeRecord node, node_to_manage(tx, actor, reference));
    GT_ASSIGN(const auto open, tx.tasks.of_node(node.id, /*include_ended=*/false, 0, kMostTasksTold));
    for (const Task& task : open) removed.tasks.push_back(task.id);
    removed.id = node.id;
    removed.name = node.name;
    removed.owner = node.owner_name;
    owner = node.owner;
    // Revoked, and not forgotten: so the node is told why it is refused.
    GT_TRY(tx.tokens.revoke_all_of_node(node.id, now));
    GT_TRY(tx.nodes.remove(node.id));
    GT_TRY(ccm::keep_answer(tx, actor.user, request_id, kMethod, node.id.str(), now));
    return tx.audit.append(ccm::audit_record(actor, now, kMethod, node.id.str(), request_id));
  }));
  if (owner.is_nil()) return removed;
  forget(removed.id);
  d_.audiences.ring(owner);
  return removed;
}

Result<NodeView> NodeService::rename(const ccm::Actor& actor, const std::string& request_id, std::string_view reference,
                                     const std::string& name) {
  constexpr std::string_view kMethod = "node.rename";
  GT_TRY(ccm::check_name("node name", name));
  NodeRecord node;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(const auto answered, ccm::first_answer(tx, actor.user, request_id, kMethod));
    if (answered) {
      GT_ASSIGN(node, node_to_manage(tx, actor, *answered));
      return {};
    }
    GT_ASSIGN(node, node_to_manage(tx, actor, reference));
    const WallTime now = d_.clock.wall();
    GT_ASSIGN(const auto other, tx.nodes.by_owner_and_name(node.owner, name));
    if (other && other->id != node.id) {
      return Error{Code::kConflict, node.owner_name + " has a node named " + name + " already; choose another name"};
    }
    GT_TRY(tx.nodes.set_name(node.id, name));
    node.name = name;
    GT_TRY(ccm::keep_answer(tx, actor.user, request_id, kMethod, node.id.str(), now));
    return tx.audit.append(ccm::audit_record(actor, now, kMethod, node.id.str(), request_id));
  }));
  d_.hub.push(node.id, NodeRenamed{node.name});
  return view(std::move(node));
}

Result<NodeView> NodeService::self(const ccm::Actor& actor) {
  NodeRecord record;
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    GT_ASSIGN(record, node_of(tx, actor));
    return {};
  }));
  return view(std::move(record));
}

Result<std::vector<NodeEndpoint>> NodeService::plan_endpoints(const ccm::Actor& actor,
                                                              const std::vector<Endpoint>& endpoints, bool declared,
                                                              std::string_view observed_address) {
  GT_TRY(self(actor));
  GT_ASSIGN(const auto kept, normalize_endpoints(endpoints, observed_address));
  std::vector<NodeEndpoint> planned;
  planned.reserve(kept.size());
  for (const Endpoint& endpoint : kept) planned.push_back({endpoint, Reachability::kUnknown, declared});
  return planned;
}

Status NodeService::set_roots(const ccm::Actor& actor, const NodeRoots& roots) {
  GT_TRY(check_roots(roots));
  return d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(const NodeRecord node, node_of(tx, actor));
    if (node.roots == roots) return {};
    return tx.nodes.set_roots(node.id, roots);
  });
}

Status NodeService::set_endpoints(const ccm::Actor& actor, const std::vector<NodeEndpoint>& endpoints) {
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(const NodeRecord node, node_of(tx, actor));
    if (node.endpoints == endpoints) return {};
    return tx.nodes.set_endpoints(node.id, endpoints);
  }));
  for (const auto& tell : d_.swarms.set_endpoints(actor.node, endpoints)) {
    for (const NodeId& node : tell.tell) d_.hub.push(node, PeerChanged{tell.content, tell.version, tell.changed});
  }
  return {};
}

Result<AnnounceResult> NodeService::announce(const ccm::Actor& actor, const Announce& announce) {
  Announce own = announce;
  own.node = actor.node;
  NodeRecord node;
  ccm::Content content;
  bool has_replica = false;
  const Status allowed = d_.store.read([&](Tx& tx) -> Status {
    GT_ASSIGN(node, node_of(tx, actor));
    if (own.role == SwarmRole::kGone) {
      // It leaves, whatever it is. What it says about others is written down only for content that it may have.
      if (own.refused_lanes > 0 && !ccm::open_content(tx, actor, ccm::Action::kTransfer, own.content)) {
        own.refused_lanes = 0;
      }
      GT_ASSIGN(const auto replica, tx.replicas.find(own.content, own.version, node.id));
      has_replica = replica.has_value();
      return {};
    }
    GT_ASSIGN(content, ccm::open_content(tx, actor, ccm::Action::kTransfer, own.content));
    GT_ASSIGN(content, ccm::at_version(tx, std::move(content), own.version));
    if (own.total_bytes > content.bytes || own.verified_bytes > own.total_bytes) {
      return Error{Code::kInvalid,
                   "node " + node.id.str() + " announced more bytes than content " + own.content.str() + " has"};
    }
    own.total_bytes = content.bytes;  // complete means all of it, not all that this node wanted
    return {};
  });
  if (!allowed) {
    // Whoever may not have it (any more) is no longer handed out either.
    own.role = SwarmRole::kGone;
    own.traffic.clear();
    if (!actor.node.is_nil()) d_.swarms.announce(own);
    leave_audience(actor.node, own.content);
    return allowed.error();
  }
  own.tls = content.generation != 0;
  own.key = key_print(node.public_key);
  own.owner = node.owner;
  if (!d_.swarms.knows_endpoints(node.id)) d_.swarms.set_endpoints(node.id, node.endpoints);
  AnnounceResult result = d_.swarms.announce(own);
  result.generation = content.generation;
  result.owner = content.owner_name;
  result.name = content.name;
  if (own.tls) {
    GT_ASSIGN(const AudiencePtr audience, d_.audiences.follow(node.id, content));
    result.audience = audience->id;
  } else {
    leave_audience(node.id, own.content);
  }
  if (own.role == SwarmRole::kGone) {
    if (has_replica) {
      GT_TRY(d_.store.write([&](Tx& tx) { return tx.replicas.remove(own.content, own.version, node.id); }));
    }
  } else if (result.write_replica) {
    const WallTime now = d_.clock.wall();
    ccm::Replica replica{own.content, own.version, node.id, "", "", own.verified_bytes, result.complete, now, {}};
    if (own.verified_age) replica.verified = now - *own.verified_age;
    GT_TRY(d_.store.write([&](Tx& tx) { return tx.replicas.put(replica); }));
  }
  GT_TRY(audit_refusals(actor, own));
  for (const NodeId& listener : result.tell) {
    d_.hub.push(listener, PeerChanged{own.content, own.version, result.changed});
  }
  return result;
}

/// Who may have it is one list for all versions, which a node needs while it is in the swarm of any.
void NodeService::leave_audience(const NodeId& node, const ContentId& content) {
  if (!d_.swarms.takes_part(node, content)) d_.audiences.leave(node, content);
}

Status NodeService::audit_refusals(const ccm::Actor& actor, const Announce& own) {
  if (own.refused_lanes == 0 && own.refused_handshakes == 0) return {};
  const WallTime now = d_.clock.wall();
  const auto record = [&](std::string_view action, std::string object, std::uint64_t count, const char* why) {
    const std::string number = count > kMaxRefusals ? "over " + std::to_string(kMaxRefusals) : std::to_string(count);
    return ccm::audit_record(actor, now, action, std::move(object), "", number + " connections " + why);
  };
  return d_.store.write([&](Tx& tx) -> Status {
    if (own.refused_lanes > 0)
      GT_TRY(tx.audit.append(record("lane.refused", own.content.str(), own.refused_lanes, "without the right")));
    if (own.refused_handshakes > 0) {
      GT_TRY(tx.audit.append(record("handshake.refused", own.node.str(), own.refused_handshakes, "that TLS refused")));
    }
    return {};
  });
}

Result<std::string> NodeService::opened(const ccm::Actor& actor, std::string_view program_version) {
  NodeRecord node;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(node, node_of(tx, actor));
    return tx.nodes.set_seen(node.id, d_.clock.wall(), program_version.substr(0, kMaxVersionBytes));
  }));
  if (!d_.swarms.knows_endpoints(node.id)) d_.swarms.set_endpoints(node.id, node.endpoints);
  d_.swarms.set_connected(node.id, true);
  return node.name;
}

void NodeService::closed(const NodeId& node) {
  d_.swarms.set_connected(node, false);
}

Status NodeService::write_signs(std::chrono::milliseconds age) {
  const auto signs = d_.swarms.take_signs(age);
  if (signs.empty()) return {};
  return d_.store.write([&](Tx& tx) -> Status {
    for (const auto& [node, at] : signs) GT_TRY(tx.nodes.set_seen(node, at, ""));
    return {};
  });
}

Status NodeService::sweep() {
  GT_TRY(write_signs(kSignsWritten));
  for (const auto& [content, node] : d_.swarms.expire()) leave_audience(node, content);
  std::vector<NodeId> removed;
  std::set<UserId> owners;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(const auto stale, tx.nodes.stale_ephemeral(d_.clock.wall() - kEphemeralLifetime, kSweepBatch));
    for (const NodeId& node : stale) {
      if (d_.swarms.online(node)) {
        GT_TRY(tx.nodes.set_seen(node, d_.clock.wall(), ""));
        continue;
      }
      GT_ASSIGN(const auto record, tx.nodes.by_id(node));
      if (record) owners.insert(record->owner);
      GT_TRY(tx.tokens.remove_all_of_node(node));
      GT_TRY(tx.nodes.remove(node));
      removed.push_back(node);
    }
    return {};
  }));
  for (const NodeId& node : removed) forget(node);
  for (const UserId& owner : owners) d_.audiences.ring(owner);
  return {};
}

/// What is known of it besides the store.
void NodeService::forget(const NodeId& node) {
  d_.swarms.forget(node);
  d_.audiences.forget(node);
  d_.hub.end(node);
}

}  // namespace gridtorrent::tracker
