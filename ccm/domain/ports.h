#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ccm/domain/audience.h"
#include "ccm/domain/content.h"
#include "ccm/domain/people_ports.h"
#include "ccm/domain/quotas.h"
#include "ccm/domain/user.h"
#include "ccm/domain/version.h"
#include "common/clock.h"
#include "common/ids.h"
#include "common/result.h"

namespace gridtorrent::ccm {

// Ports of durable state. They live inside one transaction (Tx), are used by the thread that runs it and end with it.
// Errors are those of the disk (kDisk, kUnreachable, kCorrupt) unless a method says more; "not there" is an empty
// optional.

class UserStore {
 public:
  virtual ~UserStore() = default;
  /// kConflict: the name is taken.
  virtual Status insert(const User& user) = 0;
  virtual Result<std::optional<User>> by_id(const UserId& id) = 0;
  virtual Result<std::optional<User>> by_name(std::string_view name) = 0;
  /// By name, after the name `after`, at most `limit`.
  virtual Result<std::vector<User>> list(std::string_view after, std::size_t limit) = 0;
  virtual Status set_disabled(const UserId& id, bool disabled) = 0;
  virtual Status set_password_hash(const UserId& id, const std::string& password_hash) = 0;
  /// The limits set for this person, in the order of Quota.
  virtual Result<std::vector<QuotaLimit>> quota_limits(const UserId& id) = 0;
  virtual Status change_quota(const UserId& id, const QuotaChange& change) = 0;
};

/// Where a token stands in its user's list.
struct TokenPlace {
  WallTime created;
  std::string id;
};

class TokenStore {
 public:
  virtual ~TokenStore() = default;
  virtual Status insert(const Token& token) = 0;
  virtual Result<std::optional<Token>> by_id(std::string_view id) = 0;
  /// Newest first, those revoked or expired included; after `after`, at most `limit`.
  virtual Result<std::vector<Token>> of_user(const UserId& user, const std::optional<TokenPlace>& after,
                                             std::size_t limit) = 0;
  /// Those of a kind that are good at `now`.
  virtual Result<std::vector<Token>> good_of_kind(const UserId& user, TokenKind kind, WallTime now) = 0;
  /// Keeps the first time it was revoked.
  virtual Status revoke(std::string_view id, WallTime now) = 0;
  virtual Status revoke_all_of_user(const UserId& user, WallTime now) = 0;
  /// Those that are no node's.
  virtual Status revoke_personal_of_user(const UserId& user, WallTime now) = 0;
  virtual Status revoke_devices_of_user(const UserId& user, WallTime now) = 0;
  virtual Status revoke_all_of_node(const NodeId& node, WallTime now) = 0;
  virtual Status remove_all_of_node(const NodeId& node) = 0;
  virtual Status set_last_used(std::string_view id, WallTime now) = 0;
  virtual Status set_expires(std::string_view id, WallTime expires) = 0;
  /// The node's tokens that are good at `now` end at `until` at the latest.
  virtual Status expire_all_of_node(const NodeId& node, WallTime now, WallTime until) = 0;
  /// Takes one use of an enrolment token; false: none is left.
  virtual Result<bool> take_use(std::string_view id) = 0;
  /// Those of a kind that are good at `now`.
  virtual Result<std::uint64_t> count_good(const UserId& user, TokenKind kind, WallTime now) = 0;
  /// Credentials that this node was given at `since` or later, revoked ones included.
  virtual Result<std::uint64_t> count_of_node(const NodeId& node, WallTime since) = 0;
  /// Forgets what ended before `before`.
  virtual Status prune(WallTime before) = 0;
};

struct SearchFilter {
  UserId viewer;
  std::string viewer_name;
  std::string folded_query;  ///< part of the name, through fold_case
  std::string owner;         ///< user name
  std::string tag;
  std::optional<GroupId> group;  ///< shared with it
  std::optional<AccessLevel> access;
  std::uint64_t min_bytes = 0;
  WallTime since;  ///< published at or after
  std::size_t limit = 50;
  std::optional<PageCursor> after;
};

class ContentStore {
 public:
  virtual ~ContentStore() = default;
  /// kConflict: the owner has a draft or a published content of that name.
  virtual Status insert(const Content& content) = 0;
  /// Everything but id, owner, name and created. kConflict: it would be the second of its name that is a draft or
  /// published.
  virtual Status update(const Content& content) = 0;
  /// Who owns it, and the name that it has there. kConflict: the owner has another content of that name.
  virtual Status set_owner_and_name(const ContentId& id, const UserId& owner, const std::string& name) = 0;
  virtual Result<std::optional<Content>> by_id(const ContentId& id) = 0;
  /// The draft or published content that has the name; those withdrawn have it no more.
  virtual Result<std::optional<Content>> by_owner_and_name(const UserId& owner, std::string_view name) = 0;
  /// If the viewer may see it (policy.h's kShow, in SQL): what is hidden costs the same queries as what is missing.
  virtual Result<std::optional<Content>> visible_by_id(const UserId& viewer, std::string_view viewer_name,
                                                       const ContentId& id) = 0;
  /// Those of that name that the viewer may see, of this owner or, where that is empty, of anyone; at most `limit`:
  /// published ones first, then drafts, by owner name. Where there are none, withdrawn ones, by owner name and the
  /// newest first; of each owner, the newest `limit` are looked at, so that it counts for nobody how many there are.
  virtual Result<std::vector<Content>> visible_by_name(const UserId& viewer, std::string_view viewer_name,
                                                       std::string_view owner, std::string_view name,
                                                       std::size_t limit) = 0;
  /// Published and visible to the viewer (the rule of policy.h, in SQL), newest first, ids descending among equals.
  virtual Result<std::vector<Content>> search(const SearchFilter& filter) = 0;
  /// Published, not the viewer's own, and shared with them (not public); by the time it was shared, newest first.
  virtual Result<std::vector<Content>> shared_with(const UserId& viewer, std::string_view viewer_name,
                                                   std::size_t limit) = 0;
  /// Whether this person has published something for their buddies.
  virtual Result<bool> shares_with_buddies(const UserId& owner) = 0;
  /// Who could see a published content of this owner with that access; its groups' ids are known.
  virtual Result<Audience> audience(const UserId& owner, const Access& access) = 0;
  /// Drafts not touched since `before`, at most `limit`.
  virtual Result<std::vector<Content>> stale_drafts(WallTime before, std::size_t limit) = 0;
  /// Not public, not purged, and of an older edition than this generation of the data CA; at most `limit`.
  virtual Result<std::vector<Content>> before_generation(std::uint32_t generation, std::size_t limit) = 0;
  /// How many of each generation there are, purged ones and the plain edition left out.
  virtual Result<std::map<std::uint32_t, std::uint64_t>> count_by_generation() = 0;
  struct Usage {
    std::uint64_t contents = 0;        ///< not purged; each with its versions in VersionStore
    std::uint64_t metadata_bytes = 0;  ///< of all of these
  };
  virtual Result<Usage> usage(const UserId& owner) = 0;
  /// How many of the owner's were begun at `since` or later, drafts included, purged ones left out.
  virtual Result<std::uint64_t> count_created(const UserId& owner, WallTime since) = 0;
};

class ReplicaStore {
 public:
  virtual ~ReplicaStore() = default;
  virtual Status put(const Replica& replica) = 0;
  virtual Result<std::optional<Replica>> find(const ContentId& content, std::uint32_t version, const NodeId& node) = 0;
  /// Complete ones first, then by node name.
  virtual Result<std::vector<Replica>> of_content(const ContentId& content, std::uint32_t version) = 0;
  /// Nodes that have some of any version, each once. As much work as there are nodes, however many versions they have.
  virtual Result<std::vector<NodeId>> holders(const ContentId& content) = 0;
  /// The owners of these nodes, each once, by id.
  virtual Result<std::vector<UserId>> people(const ContentId& content) = 0;
  virtual Status remove(const ContentId& content, std::uint32_t version, const NodeId& node) = 0;
};

struct AuditRecord {
  WallTime at;
  UserId actor;  ///< nil: the server itself or nobody known
  std::string actor_name;
  std::string token_id, address;
  std::string action;   ///< "content.publish", "login", …
  std::string object;   ///< an id or a name
  std::string outcome;  ///< "ok" or a reason
  std::string request_id;
  friend bool operator==(const AuditRecord&, const AuditRecord&) = default;
};

/// A record as lists show it: at most so many bytes of each field, so that a page of 1000 is no larger than what
/// clients take.
inline constexpr std::size_t kMaxListedAuditBytes = 512;
AuditRecord as_listed(AuditRecord record);

/// An audit record with its number.
struct NumberedAuditRecord {
  std::uint64_t number = 0;
  AuditRecord record;
};

struct AuditFilter {
  std::string actor;        ///< name; empty: whoever
  std::string action;       ///< "content.publish", or "content" for all that begins with "content."; empty: all
  WallTime since;           ///< at or after
  std::uint64_t below = 0;  ///< only numbers below this one; 0: from the newest
  std::size_t limit = 100;
};

/// The newest audit record's number and hash: who kept these elsewhere sees whether what came before was changed since.
struct AuditHead {
  std::uint64_t records = 0;
  std::string hash;  ///< 32 bytes, SHA-256; zeros where there is no record
  friend bool operator==(const AuditHead&, const AuditHead&) = default;
};

/// Append-only, numbered from 1. Each record is kept with the hash of the one before it and of both together, so that
/// none can be changed, put in or taken out unnoticed without writing all that follow anew.
class AuditLog {
 public:
  virtual ~AuditLog() = default;
  virtual Status append(const AuditRecord& record) = 0;
  /// Newest first, each as_listed().
  virtual Result<std::vector<NumberedAuditRecord>> select(const AuditFilter& filter) = 0;
  virtual Result<AuditHead> head() = 0;
  /// Reads every record. kCorrupt names the first that does not follow from the one before.
  virtual Result<AuditHead> verify() = 0;
};

/// The first answers to mutations, by caller and request id, kept for kRequestLifetime.
class RequestLog {
 public:
  virtual ~RequestLog() = default;
  struct Entry {
    std::string method;  ///< "content.begin", …
    std::string answer;  ///< bytes, as the use case wrote them
  };
  virtual Result<std::optional<Entry>> find(const UserId& caller, std::string_view request_id) = 0;
  virtual Status put(const UserId& caller, std::string_view request_id, const Entry& entry, WallTime now) = 0;
  virtual Status prune(WallTime before) = 0;
};
inline constexpr std::chrono::milliseconds kRequestLifetime = std::chrono::hours(24 * 7);

/// What a change of content means for nodes, written in the same transaction.
class NodeEffects {
 public:
  virtual ~NodeEffects() = default;
  /// The content may no longer be served: a stop_seeding task for every node that holds some of it. Returns those
  /// nodes.
  virtual Result<std::vector<NodeId>> content_closed(const ContentId& content, const UserId& by, WallTime now) = 0;
  virtual Result<std::uint64_t> count_nodes(const UserId& owner) = 0;
  virtual Result<bool> has_node(const NodeId& node) = 0;
  /// Tasks that this person has given nodes, ended ones included; not those that content_closed made.
  virtual Result<std::uint64_t> count_tasks(const UserId& by) = 0;
};

/// The ports inside one transaction.
struct Tx {
  UserStore& users;
  TokenStore& tokens;
  ContentStore& contents;
  ReplicaStore& replicas;
  VersionStore& versions;
  AuditLog& audit;
  RequestLog& requests;
  NodeEffects& node_effects;
  GroupStore& groups;
  BuddyStore& buddies;
  NoticeStore& notices;
  OfferStore& offers;
};

/// Runs a use case as one transaction: an error of `work` rolls all of it back; success is durable when write()
/// returns. `work` of a write may run on another thread, while the caller waits. Thread-safe.
class Store {
 public:
  virtual ~Store() = default;
  virtual Status write(const std::function<Status(Tx&)>& work) = 0;
  virtual Status read(const std::function<Status(Tx&)>& work) = 0;
};

/// Large documents, named by the hex SHA-256 of their bytes: they are durable (file and folder synced) when put()
/// returns, and never change. The caller has checked the name against the bytes. Thread-safe. Errors: kDisk; kNotFound.
class MetadataFiles {
 public:
  virtual ~MetadataFiles() = default;
  virtual Status put(const std::string& sha256_hex, std::string_view bytes) = 0;
  virtual Result<std::uint64_t> size(const std::string& sha256_hex) = 0;
  /// Up to `max_bytes` from `offset`; empty at the end.
  virtual Result<std::string> read(const std::string& sha256_hex, std::uint64_t offset, std::size_t max_bytes) = 0;
};

/// What is known of nodes right now; soft state of the tracker. Thread-safe, does not block.
class LiveView {
 public:
  virtual ~LiveView() = default;
  struct Counts {
    std::uint32_t seeders = 0, leechers = 0;
  };
  virtual Counts counts(const ContentId& content, std::uint32_t version) const = 0;
  /// Nodes that hold all of it and offer it to others now, in order of id; `Counts::seeders` is their number.
  virtual std::vector<NodeId> seeders(const ContentId& content, std::uint32_t version) const = 0;
  virtual bool online(const NodeId& node) const = 0;
};

/// Tells nodes, after the commit, what is new for them. Thread-safe, does not block.
class NodeWaker {
 public:
  virtual ~NodeWaker() = default;
  /// There is something in its task list.
  virtual void tasks_waiting(const NodeId& node) = 0;
  /// Who may have it, its edition or its state changed: those that hold or fetch it have to look. `holders`: that have
  /// some of it, whether they may at the moment or not.
  virtual void content_changed(const ContentId& content, const std::vector<NodeId>& holders) = 0;
  /// What this person may have, or which nodes are theirs, may have changed.
  virtual void person_changed(const UserId& person) = 0;
  /// This person came to the group or is in it no more.
  virtual void membership_changed(const GroupId& group, const UserId& person) = 0;
  /// This person is on the owner's list of buddies now, or no more.
  virtual void buddy_changed(const UserId& owner, const UserId& buddy) = 0;
};

/// Tells people's programs, after the commit, that there may be something new in their inboxes. Thread-safe, does not
/// block.
class InboxBell {
 public:
  virtual ~InboxBell() = default;
  virtual void ring(const std::vector<UserId>& people) = 0;
};

/// The editions that content travels under (docs/security.md): 0 is plain, others are TLS under that generation of
/// the data CA. Thread-safe, does not block.
class Editions {
 public:
  virtual ~Editions() = default;
  /// The generation for content that is not public. kUnsupported, naming what is missing, where the server cannot
  /// certify nodes for any.
  virtual Result<std::uint32_t> restricted() const = 0;
  /// The certificate of a living generation, PEM; empty for plain and for what is not known.
  virtual std::string ca_pem(std::uint32_t generation) const = 0;
};

}  // namespace gridtorrent::ccm
