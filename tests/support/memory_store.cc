#include "tests/support/memory_store.h"

#include <algorithm>
#include <deque>
#include <set>
#include <vector>

#include "ccm/domain/names.h"
#include "ccm/domain/policy.h"
#include "tracker/store/audit_chain.h"

namespace gridtorrent::testing_support {

struct MemoryState {
  std::map<std::string, ccm::User> users;    // by name
  std::map<std::string, ccm::Token> tokens;  // by id
  std::map<ContentId, ccm::Content> contents;
  std::map<std::tuple<ContentId, std::uint32_t, NodeId>, ccm::Replica> replicas;
  std::vector<ccm::AuditRecord> audit;
  tracker::store::AuditChain audit_chain;
  std::map<std::pair<UserId, std::string>, std::pair<ccm::RequestLog::Entry, WallTime>> requests;
  std::map<NodeId, tracker::NodeRecord> nodes;
  std::map<TaskId, tracker::Task> tasks;
  std::map<std::uint32_t, tracker::DataCaRecord> data_cas;
  std::map<GroupId, ccm::Group> groups;
  std::map<std::pair<GroupId, UserId>, ccm::Membership> memberships;
  std::map<std::pair<UserId, UserId>, WallTime> buddies;  // owner, buddy
  std::vector<ccm::Notice> notices;
  std::map<UserId, WallTime> read_until;
  std::map<std::pair<UserId, ccm::Quota>, std::uint64_t> quotas;
  std::map<ContentId, ccm::Offer> offers;

  std::string user_name(const UserId& id) const {
    for (const auto& [name, user] : users) {
      if (user.id == id) return name;
    }
    return "";
  }
};

namespace {

template <class T>
void cut(std::vector<T>& list, std::size_t limit) {
  if (list.size() > limit) list.erase(list.begin() + static_cast<std::ptrdiff_t>(limit), list.end());
}

class Users final : public ccm::UserStore {
 public:
  explicit Users(MemoryState& state) : s_(state) {}
  Status insert(const ccm::User& user) override {
    if (!s_.users.emplace(user.name, user).second) return Error{Code::kConflict, "user " + user.name + " exists"};
    return {};
  }
  Result<std::optional<ccm::User>> by_id(const UserId& id) override { return by_name(s_.user_name(id)); }
  Result<std::optional<ccm::User>> by_name(std::string_view name) override {
    const auto found = s_.users.find(std::string(name));
    return found == s_.users.end() ? std::nullopt : std::optional<ccm::User>(found->second);
  }
  Result<std::vector<ccm::User>> list() override {
    std::vector<ccm::User> all;
    for (const auto& [name, user] : s_.users) all.push_back(user);
    return all;
  }
  Status set_disabled(const UserId& id, bool disabled) override {
    s_.users.at(s_.user_name(id)).disabled = disabled;
    return {};
  }
  Status set_password_hash(const UserId& id, const std::string& hash) override {
    s_.users.at(s_.user_name(id)).password_hash = hash;
    return {};
  }
  Result<std::vector<ccm::QuotaLimit>> quota_limits(const UserId& id) override {
    std::vector<ccm::QuotaLimit> limits;
    for (const auto& [key, limit] : s_.quotas) {
      if (key.first == id) limits.push_back({key.second, limit});
    }
    return limits;
  }
  Status change_quota(const UserId& id, const ccm::QuotaChange& change) override {
    s_.quotas.erase({id, change.quota});
    if (change.limit) s_.quotas[{id, change.quota}] = *change.limit;
    return {};
  }

 private:
  MemoryState& s_;
};

class Tokens final : public ccm::TokenStore {
 public:
  explicit Tokens(MemoryState& state) : s_(state) {}
  Status insert(const ccm::Token& token) override {
    if (!s_.tokens.emplace(token.id, token).second) return Error{Code::kConflict, "token exists"};
    return {};
  }
  Result<std::optional<ccm::Token>> by_id(std::string_view id) override {
    const auto found = s_.tokens.find(std::string(id));
    return found == s_.tokens.end() ? std::nullopt : std::optional<ccm::Token>(found->second);
  }
  Result<std::vector<ccm::Token>> of_user(const UserId& user) override {
    std::vector<ccm::Token> own;
    for (const auto& [id, token] : s_.tokens) {
      if (token.user == user) own.push_back(token);
    }
    std::stable_sort(own.begin(), own.end(), [](const auto& a, const auto& b) { return a.created > b.created; });
    return own;
  }
  Status revoke(std::string_view id, WallTime now) override {
    return revoke_where([&](const ccm::Token& t) { return t.id == id; }, now);
  }
  Status revoke_all_of_user(const UserId& user, WallTime now) override {
    return revoke_where([&](const ccm::Token& t) { return t.user == user; }, now);
  }
  Status revoke_personal_of_user(const UserId& user, WallTime now) override {
    return revoke_where([&](const ccm::Token& t) { return t.user == user && t.kind != ccm::TokenKind::kNode; }, now);
  }
  Status revoke_all_of_node(const NodeId& node, WallTime now) override {
    return revoke_where([&](const ccm::Token& t) { return t.node == node; }, now);
  }
  Status set_last_used(std::string_view id, WallTime now) override {
    s_.tokens.at(std::string(id)).last_used = now;
    return {};
  }
  Status set_expires(std::string_view id, WallTime expires) override {
    s_.tokens.at(std::string(id)).expires = expires;
    return {};
  }
  Result<bool> take_use(std::string_view id) override {
    const auto found = s_.tokens.find(std::string(id));
    if (found == s_.tokens.end() || found->second.uses_left == 0) return false;
    --found->second.uses_left;
    return true;
  }
  Result<std::uint64_t> count_good(const UserId& user, ccm::TokenKind kind, WallTime now) override {
    std::uint64_t count = 0;
    for (const auto& [id, t] : s_.tokens) {
      const bool usable = kind != ccm::TokenKind::kEnroll || t.uses_left > 0;
      if (t.user == user && t.kind == kind && t.is_good(now) && usable) ++count;
    }
    return count;
  }
  Status prune(WallTime before) override {
    std::erase_if(s_.tokens, [&](const auto& entry) {
      const ccm::Token& t = entry.second;
      return t.expires < before || (t.revoked.ms != 0 && t.revoked < before);
    });
    return {};
  }

 private:
  template <class F>
  Status revoke_where(F&& matches, WallTime now) {
    for (auto& [id, token] : s_.tokens) {
      if (matches(token) && token.revoked.ms == 0) token.revoked = now;
    }
    return {};
  }
  MemoryState& s_;
};

class Contents final : public ccm::ContentStore {
 public:
  explicit Contents(MemoryState& state) : s_(state) {}
  Status insert(const ccm::Content& content) override {
    const auto taken = by_owner_and_name(content.owner, content.name);
    if (taken->has_value()) return Error{Code::kConflict, "name " + content.name + " is taken"};
    s_.contents.emplace(content.id, content);
    return {};
  }
  Status update(const ccm::Content& content) override {
    ccm::Content& kept = s_.contents.at(content.id);
    const ccm::Content old = kept;
    kept = content;
    kept.owner = old.owner;
    kept.owner_name = old.owner_name;
    kept.name = old.name;
    kept.created = old.created;
    return {};
  }
  Status hand_over(const ContentId& id, const UserId& owner, const std::string& name) override {
    const auto taken = by_owner_and_name(owner, name);
    if (taken->has_value()) return Error{Code::kConflict, "name " + name + " is taken"};
    ccm::Content& kept = s_.contents.at(id);
    kept.owner = owner;
    kept.owner_name = s_.user_name(owner);
    kept.name = name;
    return {};
  }
  Result<std::optional<ccm::Content>> by_id(const ContentId& id) override {
    const auto found = s_.contents.find(id);
    return found == s_.contents.end() ? std::nullopt : std::optional<ccm::Content>(found->second);
  }
  Result<std::optional<ccm::Content>> by_owner_and_name(const UserId& owner, std::string_view name) override {
    for (const auto& [id, c] : s_.contents) {
      if (c.owner == owner && c.name == name && c.state != ccm::ContentState::kPurged) return std::optional(c);
    }
    return std::optional<ccm::Content>();
  }
  Result<std::optional<ccm::Content>> visible_by_id(const UserId& viewer, std::string_view viewer_name,
                                                    const ContentId& id) override {
    const auto found = s_.contents.find(id);
    const bool shown = found != s_.contents.end() && allowed(viewer, viewer_name, ccm::Action::kShow, found->second);
    return shown ? std::optional<ccm::Content>(found->second) : std::nullopt;
  }
  Result<std::vector<ccm::Content>> visible_by_name(const UserId& viewer, std::string_view viewer_name,
                                                    std::string_view owner, std::string_view name,
                                                    std::size_t limit) override {
    std::vector<ccm::Content> found;
    for (const auto& [id, c] : s_.contents) {
      if (!owner.empty() && c.owner_name != owner) continue;
      if (c.name == name && allowed(viewer, viewer_name, ccm::Action::kShow, c)) found.push_back(c);
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.owner_name < b.owner_name; });
    cut(found, limit);
    return found;
  }
  Result<std::vector<ccm::Content>> search(const ccm::SearchFilter& f) override {
    std::vector<ccm::Content> found;
    for (const auto& [id, c] : s_.contents) {
      if (!allowed(f.viewer, f.viewer_name, ccm::Action::kSearch, c)) continue;
      if (f.group && !is_target(c, *f.group)) continue;
      if (ccm::fold_case(c.name).find(f.folded_query) == std::string::npos) continue;
      if (!f.owner.empty() && c.owner_name != f.owner) continue;
      if (!f.tag.empty() && std::find(c.tags.begin(), c.tags.end(), f.tag) == c.tags.end()) continue;
      if (f.access && c.access.level != *f.access) continue;
      if (c.bytes < f.min_bytes || c.published < f.since) continue;
      if (f.after && !(order(c) < std::pair(f.after->published.ms, f.after->id.str()))) continue;
      found.push_back(c);
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return order(b) < order(a); });
    cut(found, f.limit);
    return found;
  }
  Result<std::vector<ccm::Content>> shared_with(const UserId& viewer, std::string_view viewer_name,
                                                std::size_t limit) override {
    std::vector<ccm::Content> found;
    for (const auto& [id, c] : s_.contents) {
      if (c.owner == viewer || c.access.level != ccm::AccessLevel::kShared) continue;
      if (allowed(viewer, viewer_name, ccm::Action::kSearch, c)) found.push_back(c);
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return std::pair(a.shared.ms, a.id.str()) > std::pair(b.shared.ms, b.id.str());
    });
    cut(found, limit);
    return found;
  }
  Result<bool> shares_with_buddies(const UserId& owner) override {
    return std::any_of(s_.contents.begin(), s_.contents.end(), [&](const auto& entry) {
      const ccm::Content& c = entry.second;
      return c.owner == owner && c.access.buddies && c.state == ccm::ContentState::kPublished;
    });
  }
  Result<std::vector<ccm::Content>> stale_drafts(WallTime before, std::size_t limit) override {
    std::vector<ccm::Content> found;
    for (const auto& [id, c] : s_.contents) {
      if (c.state == ccm::ContentState::kDraft && c.touched < before) found.push_back(c);
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.touched < b.touched; });
    cut(found, limit);
    return found;
  }
  Result<std::vector<ccm::Content>> before_generation(std::uint32_t generation, std::size_t limit) override {
    std::vector<ccm::Content> found;
    for (const auto& [id, c] : s_.contents) {
      if (c.generation > 0 && c.generation < generation && c.state != ccm::ContentState::kPurged) found.push_back(c);
    }
    cut(found, limit);
    return found;
  }
  Result<std::map<std::uint32_t, std::uint64_t>> count_by_generation() override {
    std::map<std::uint32_t, std::uint64_t> counted;
    for (const auto& [id, c] : s_.contents) {
      if (c.generation > 0 && c.state != ccm::ContentState::kPurged) ++counted[c.generation];
    }
    return counted;
  }
  Result<Usage> usage(const UserId& owner) override {
    Usage usage;
    for (const auto& [id, c] : s_.contents) {
      if (c.owner != owner || c.state == ccm::ContentState::kPurged) continue;
      ++usage.contents;
      usage.metadata_bytes += c.metadata_bytes;
    }
    return usage;
  }

 private:
  static std::pair<std::int64_t, std::string> order(const ccm::Content& c) { return {c.published.ms, c.id.str()}; }
  static bool is_target(const ccm::Content& c, const GroupId& group) {
    return std::any_of(c.access.groups.begin(), c.access.groups.end(), [&](const auto& t) { return t.id == group; });
  }
  bool allowed(const UserId& viewer, std::string_view name, ccm::Action action, const ccm::Content& c) const {
    const auto user = s_.users.find(s_.user_name(viewer));
    const ccm::Subject subject{viewer, std::string(name), user == s_.users.end() || user->second.disabled};
    ccm::Grants grants;
    for (const ccm::GroupTarget& target : c.access.groups) {
      const auto found = s_.memberships.find({target.id, viewer});
      if (found != s_.memberships.end() && is_active(found->second.standing)) grants.groups.push_back(target.id);
    }
    grants.buddy = s_.buddies.contains({c.owner, viewer});
    return decide(subject, action, c, grants).allowed;
  }
  MemoryState& s_;
};

class Replicas final : public ccm::ReplicaStore {
 public:
  explicit Replicas(MemoryState& state) : s_(state) {}
  Status put(const ccm::Replica& r) override {
    s_.replicas[{r.content, r.version, r.node}] = r;
    return {};
  }
  Result<std::optional<ccm::Replica>> find(const ContentId& content, std::uint32_t version,
                                           const NodeId& node) override {
    const auto found = s_.replicas.find({content, version, node});
    if (found == s_.replicas.end()) return std::optional<ccm::Replica>();
    return std::optional<ccm::Replica>(named(found->second));
  }
  Result<std::vector<ccm::Replica>> of_content(const ContentId& content, std::uint32_t version) override {
    std::vector<ccm::Replica> found;
    for (const auto& [key, replica] : s_.replicas) {
      if (replica.content == content && replica.version == version) found.push_back(named(replica));
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return std::tuple(!a.complete, a.node_name, a.node.str()) < std::tuple(!b.complete, b.node_name, b.node.str());
    });
    return found;
  }
  Status remove(const ContentId& content, std::uint32_t version, const NodeId& node) override {
    s_.replicas.erase({content, version, node});
    return {};
  }

 private:
  ccm::Replica named(ccm::Replica replica) const {
    const auto node = s_.nodes.find(replica.node);
    if (node == s_.nodes.end()) return replica;
    replica.node_name = node->second.name;
    replica.owner_name = s_.user_name(node->second.owner);
    return replica;
  }
  MemoryState& s_;
};

class Audit final : public ccm::AuditLog {
 public:
  explicit Audit(MemoryState& state) : s_(state) {}
  Status append(const ccm::AuditRecord& record) override {
    s_.audit.push_back(record);
    s_.audit_chain.extend(record);
    return {};
  }
  Result<ccm::AuditHead> head() override { return s_.audit_chain.head(); }
  Result<ccm::AuditHead> verify() override {
    tracker::store::AuditChain chain;
    for (const ccm::AuditRecord& record : s_.audit) chain.extend(record);
    if (chain.head() != s_.audit_chain.head()) return tracker::store::broken_audit_record(chain.head().records);
    return chain.head();
  }
  Result<std::vector<ccm::NumberedAuditRecord>> select(const ccm::AuditFilter& filter) override {
    std::vector<ccm::NumberedAuditRecord> records;
    for (std::uint64_t number = s_.audit.size(); number > 0 && records.size() < filter.limit; --number) {
      const ccm::AuditRecord& r = s_.audit[number - 1];
      const bool action =
          filter.action.empty() || r.action == filter.action || r.action.starts_with(filter.action + ".");
      const bool actor = filter.actor.empty() || r.actor_name == filter.actor;
      const bool page = filter.below == 0 || number < filter.below;
      if (action && actor && page && r.at >= filter.since) records.push_back({number, r});
    }
    return records;
  }

 private:
  MemoryState& s_;
};

class Requests final : public ccm::RequestLog {
 public:
  explicit Requests(MemoryState& state) : s_(state) {}
  Result<std::optional<Entry>> find(const UserId& caller, std::string_view request_id) override {
    const auto found = s_.requests.find({caller, std::string(request_id)});
    return found == s_.requests.end() ? std::nullopt : std::optional<Entry>(found->second.first);
  }
  Status put(const UserId& caller, std::string_view request_id, const Entry& entry, WallTime now) override {
    s_.requests[{caller, std::string(request_id)}] = {entry, now};
    return {};
  }
  Status prune(WallTime before) override {
    std::erase_if(s_.requests, [&](const auto& entry) { return entry.second.second < before; });
    return {};
  }

 private:
  MemoryState& s_;
};

class Nodes final : public tracker::NodeStore {
 public:
  explicit Nodes(MemoryState& state) : s_(state) {}
  Status insert(const tracker::NodeRecord& node) override {
    for (const auto& [id, other] : s_.nodes) {
      const bool same_name = other.owner == node.owner && other.name == node.name;
      if (same_name || other.public_key == node.public_key) return Error{Code::kConflict, "node enrolled already"};
    }
    s_.nodes.emplace(node.id, node);
    return {};
  }
  Result<std::optional<tracker::NodeRecord>> by_id(const NodeId& id) override {
    return first([&](const auto& node) { return node.id == id; });
  }
  Result<std::optional<tracker::NodeRecord>> by_owner_and_name(const UserId& owner, std::string_view name) override {
    return first([&](const auto& node) { return node.owner == owner && node.name == name; });
  }
  Result<std::optional<tracker::NodeRecord>> by_public_key(std::string_view der) override {
    return first([&](const auto& node) { return node.public_key == der; });
  }
  Result<std::vector<std::pair<NodeId, std::string>>> keys_of(const std::vector<UserId>& owners,
                                                              WallTime now) override {
    std::vector<std::pair<NodeId, std::string>> keys;
    for (const auto& [id, node] : s_.nodes) {
      const auto is_good = [&](const auto& token) { return token.second.node == id && token.second.is_good(now); };
      const bool has_credential = std::any_of(s_.tokens.begin(), s_.tokens.end(), is_good);
      const bool is_theirs = std::find(owners.begin(), owners.end(), node.owner) != owners.end();
      if (is_theirs && has_credential) keys.emplace_back(id, node.public_key);
    }
    return keys;
  }
  Result<std::vector<tracker::NodeRecord>> of_owner(const UserId& owner) override {
    std::vector<tracker::NodeRecord> own;
    for (const auto& [id, node] : s_.nodes) {
      if (node.owner == owner) own.push_back(named(node));
    }
    std::sort(own.begin(), own.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return own;
  }
  Status set_endpoints(const NodeId& id, const std::vector<tracker::NodeEndpoint>& endpoints) override {
    s_.nodes.at(id).endpoints = endpoints;
    return {};
  }
  Status set_seen(const NodeId& id, WallTime now, std::string_view program_version) override {
    tracker::NodeRecord& node = s_.nodes.at(id);
    node.last_seen = now;
    if (!program_version.empty()) node.program_version = std::string(program_version);
    return {};
  }
  Result<std::vector<NodeId>> stale_ephemeral(WallTime before, std::size_t limit) override {
    std::vector<std::pair<WallTime, NodeId>> stale;
    for (const auto& [id, node] : s_.nodes) {
      if (node.ephemeral && node.last_seen < before) stale.emplace_back(node.last_seen, id);
    }
    std::sort(stale.begin(), stale.end());
    cut(stale, limit);
    std::vector<NodeId> ids;
    for (const auto& [seen, id] : stale) ids.push_back(id);
    return ids;
  }
  Status remove(const NodeId& id) override {
    s_.nodes.erase(id);
    std::erase_if(s_.tasks, [&](const auto& entry) { return entry.second.node == id; });
    std::erase_if(s_.replicas, [&](const auto& entry) { return entry.second.node == id; });
    std::erase_if(s_.tokens, [&](const auto& entry) { return entry.second.node == id; });
    return {};
  }

 private:
  tracker::NodeRecord named(tracker::NodeRecord node) const {
    node.owner_name = s_.user_name(node.owner);
    return node;
  }
  template <class F>
  Result<std::optional<tracker::NodeRecord>> first(F&& matches) {
    for (const auto& [id, node] : s_.nodes) {
      if (matches(node)) return std::optional<tracker::NodeRecord>(named(node));
    }
    return std::optional<tracker::NodeRecord>();
  }
  MemoryState& s_;
};

class Tasks final : public tracker::TaskStore {
 public:
  explicit Tasks(MemoryState& state) : s_(state) {}
  Result<std::uint64_t> append(const tracker::Task& task) override {
    const auto node = s_.nodes.find(task.node);
    if (node == s_.nodes.end()) return Error{Code::kNotFound, "no node"};
    tracker::Task kept = task;
    kept.sequence = ++node->second.last_sequence;
    kept.created_by_name.clear();
    s_.tasks.emplace(kept.id, kept);
    return kept.sequence;
  }
  Status update(const tracker::Task& task) override {
    tracker::Task& kept = s_.tasks.at(task.id);
    tracker::Task next = task;
    next.work = kept.work;
    next.sequence = kept.sequence;
    kept = next;
    return {};
  }
  Result<std::optional<tracker::Task>> by_id(const TaskId& id) override {
    const auto found = s_.tasks.find(id);
    if (found == s_.tasks.end()) return std::optional<tracker::Task>();
    return std::optional<tracker::Task>(named(found->second));
  }
  Result<std::vector<tracker::Task>> pending(const NodeId& node, std::uint64_t cursor, std::size_t limit) override {
    auto found = where([&](const auto& t) { return t.node == node && !has_ended(t.state) && t.sequence > cursor; });
    cut(found, limit);
    return found;
  }
  Result<std::vector<tracker::Task>> queued_up_to(const NodeId& node, std::uint64_t sequence) override {
    return where([&](const auto& t) {
      return t.node == node && t.state == tracker::TaskState::kQueued && t.sequence <= sequence;
    });
  }
  Result<std::vector<TaskId>> cancel_requested(const NodeId& node) override {
    std::vector<TaskId> ids;
    for (const auto& t : where(
             [&](const auto& task) { return task.node == node && task.cancel_requested && !has_ended(task.state); })) {
      ids.push_back(t.id);
    }
    return ids;
  }
  Result<std::vector<tracker::Task>> of_node(const NodeId& node, bool include_ended, std::size_t limit) override {
    auto found = where([&](const auto& t) { return t.node == node && (include_ended || !has_ended(t.state)); });
    std::reverse(found.begin(), found.end());
    cut(found, limit);
    return found;
  }
  Result<std::vector<tracker::Task>> of_owner(const UserId& owner, bool include_ended, std::size_t limit) override {
    auto found = where(
        [&](const auto& t) { return s_.nodes.at(t.node).owner == owner && (include_ended || !has_ended(t.state)); });
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return std::pair(a.created, a.id.str()) > std::pair(b.created, b.id.str());
    });
    cut(found, limit);
    return found;
  }
  Status set_acked(const NodeId& node, std::uint64_t sequence) override {
    auto& acked = s_.nodes.at(node).acked_sequence;
    acked = std::max(acked, sequence);
    return {};
  }
  Result<std::vector<tracker::Task>> queued_since(WallTime before, std::size_t limit) override {
    auto found = where([&](const auto& t) { return t.state == tracker::TaskState::kQueued && t.created < before; });
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.created < b.created; });
    cut(found, limit);
    return found;
  }
  Status prune(WallTime before) override {
    std::erase_if(s_.tasks,
                  [&](const auto& entry) { return has_ended(entry.second.state) && entry.second.updated < before; });
    return {};
  }

 private:
  tracker::Task named(tracker::Task task) const {
    task.created_by_name = s_.user_name(task.created_by);
    return task;
  }
  template <class F>
  std::vector<tracker::Task> where(F&& matches) const {
    std::vector<tracker::Task> found;
    for (const auto& [id, task] : s_.tasks) {
      if (matches(task)) found.push_back(named(task));
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.sequence < b.sequence; });
    return found;
  }
  MemoryState& s_;
};

class Effects final : public ccm::NodeEffects {
 public:
  Effects(MemoryState& state, tracker::TaskStore& tasks, Rng& rng) : s_(state), tasks_(tasks), rng_(rng) {}
  Result<std::uint64_t> count_nodes(const UserId& owner) override {
    std::uint64_t count = 0;
    for (const auto& [id, node] : s_.nodes) count += node.owner == owner ? 1U : 0U;
    return count;
  }
  Result<std::vector<NodeId>> content_closed(const ContentId& content, const UserId& by, WallTime now) override {
    std::set<NodeId> holders;
    for (const auto& [key, replica] : s_.replicas) {
      if (replica.content == content) holders.insert(replica.node);
    }
    for (const NodeId& node : holders) {
      tracker::Task task;
      task.id = TaskId::make(now, rng_);
      task.node = node;
      task.work = tracker::StopSeedingTask{content.str()};
      task.created_by = by;
      task.created = now;
      task.updated = now;
      GT_TRY(tasks_.append(task));
    }
    return std::vector<NodeId>(holders.begin(), holders.end());
  }

 private:
  MemoryState& s_;
  tracker::TaskStore& tasks_;
  Rng& rng_;
};

class DataCas final : public tracker::DataCaStore {
 public:
  explicit DataCas(MemoryState& state) : s_(state) {}
  Status insert(const tracker::DataCaRecord& ca) override {
    if (!s_.data_cas.emplace(ca.generation, ca).second) return Error{Code::kConflict, "that generation is there"};
    return {};
  }
  Result<std::vector<tracker::DataCaRecord>> all() override {
    std::vector<tracker::DataCaRecord> found;
    for (const auto& [generation, ca] : s_.data_cas) found.push_back(ca);
    return found;
  }
  Status retire(std::uint32_t generation, WallTime now) override {
    const auto found = s_.data_cas.find(generation);
    if (found != s_.data_cas.end() && !found->second.retired) found->second.retired = now;
    return {};
  }

 private:
  MemoryState& s_;
};

class Groups final : public ccm::GroupStore {
 public:
  explicit Groups(MemoryState& state) : s_(state) {}
  Status insert(const ccm::Group& group) override {
    if (by_name(group.name)->has_value()) return Error{Code::kConflict, "group " + group.name + " exists"};
    s_.groups.emplace(group.id, group);
    return {};
  }
  Status update(const ccm::Group& group) override {
    s_.groups.at(group.id).description = group.description;
    s_.groups.at(group.id).hidden = group.hidden;
    return {};
  }
  Status remove(const GroupId& id) override {
    s_.groups.erase(id);
    std::erase_if(s_.memberships, [&](const auto& entry) { return entry.first.first == id; });
    for (auto& [content, c] : s_.contents) {
      const auto ended =
          std::erase_if(c.access.groups, [&](const ccm::GroupTarget& target) { return target.id == id; });
      const bool alone = c.access.groups.empty() && c.access.users.empty() && !c.access.buddies;
      if (ended > 0 && alone) c.access.level = ccm::AccessLevel::kPrivate;
    }
    return {};
  }
  Result<std::optional<ccm::Group>> by_id(const GroupId& id) override {
    const auto found = s_.groups.find(id);
    return found == s_.groups.end() ? std::nullopt : std::optional(found->second);
  }
  Result<std::optional<ccm::Group>> by_name(std::string_view name) override {
    for (const auto& [id, group] : s_.groups) {
      if (group.name == name) return std::optional(group);
    }
    return std::optional<ccm::Group>();
  }
  Result<std::optional<ccm::Group>> visible_one(const UserId& viewer, WallTime now,
                                                std::string_view reference) override {
    return one_where(reference, [&](const ccm::Group& group) {
      const auto own = s_.memberships.find({group.id, viewer});
      return !group.hidden || (own != s_.memberships.end() && standing_at(own->second, now) != ccm::Standing::kNone);
    });
  }
  Result<std::optional<ccm::Group>> own_one(const UserId& member, std::string_view reference) override {
    return one_where(reference, [&](const ccm::Group& group) {
      const auto own = s_.memberships.find({group.id, member});
      return own != s_.memberships.end() && is_active(own->second.standing);
    });
  }
  Result<std::vector<ccm::Group>> visible(const UserId& viewer, WallTime now, std::string_view after,
                                          std::size_t limit) override {
    std::vector<ccm::Group> found;
    for (const auto& [id, group] : s_.groups) {
      const auto own = s_.memberships.find({id, viewer});
      const bool stands = own != s_.memberships.end() && standing_at(own->second, now) != ccm::Standing::kNone;
      if (group.name > after && (!group.hidden || stands)) found.push_back(group);
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    cut(found, limit);
    return found;
  }
  Status put(const ccm::Membership& membership) override {
    if (membership.standing == ccm::Standing::kNone) {
      s_.memberships.erase({membership.group, membership.user});
    } else {
      s_.memberships[{membership.group, membership.user}] = membership;
    }
    return {};
  }
  Result<std::optional<ccm::Membership>> membership(const GroupId& group, const UserId& user) override {
    const auto found = s_.memberships.find({group, user});
    return found == s_.memberships.end() ? std::nullopt : std::optional(named(found->second));
  }
  Result<std::vector<ccm::Membership>> of_group(const GroupId& group) override {
    auto found = where([&](const auto& m) { return m.group == group; });
    const auto rank = [](const ccm::Membership& m) {
      switch (m.standing) {
        case ccm::Standing::kManager:
          return 0;
        case ccm::Standing::kMember:
          return 1;
        case ccm::Standing::kRequested:
          return 2;
        default:
          return 3;
      }
    };
    std::sort(found.begin(), found.end(), [&](const auto& a, const auto& b) {
      return std::pair(rank(a), a.user_name) < std::pair(rank(b), b.user_name);
    });
    return found;
  }
  Result<std::vector<ccm::Membership>> of_user(const UserId& user) override {
    auto found = where([&](const auto& m) { return m.user == user; });
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.group_name < b.group_name; });
    return found;
  }
  Result<std::vector<GroupId>> active_of(const UserId& user) override {
    std::vector<GroupId> groups;
    for (const auto& m : where([&](const auto& one) { return one.user == user && is_active(one.standing); }))
      groups.push_back(m.group);
    return groups;
  }
  Result<std::vector<UserId>> managers_of(const GroupId& group) override {
    std::vector<UserId> managers;
    for (const auto& m :
         where([&](const auto& one) { return one.group == group && one.standing == ccm::Standing::kManager; }))
      managers.push_back(m.user);
    return managers;
  }
  Result<std::vector<ccm::Membership>> invitations_to(const UserId& user, WallTime now, std::size_t limit) override {
    return oldest(
        where([&](const auto& m) { return m.user == user && standing_at(m, now) == ccm::Standing::kInvited; }), limit);
  }
  Result<std::uint64_t> count_memberships(const GroupId& group) override {
    return where([&](const auto& m) { return m.group == group; }).size();
  }
  Result<std::vector<ccm::Membership>> requests_to(const UserId& manager, WallTime now, std::size_t limit) override {
    return oldest(where([&](const auto& m) {
                    const auto own = s_.memberships.find({m.group, manager});
                    return standing_at(m, now) == ccm::Standing::kRequested && own != s_.memberships.end() &&
                           own->second.standing == ccm::Standing::kManager;
                  }),
                  limit);
  }
  Result<std::uint64_t> count_managers(const GroupId& group) override {
    return where([&](const auto& m) {
             return m.group == group && m.standing == ccm::Standing::kManager && !named(m).user_disabled;
           })
        .size();
  }
  Result<std::uint64_t> count_open(const UserId& asked_by, WallTime now) override {
    return where([&](const auto& m) { return m.asked_by == asked_by && m.expires.ms > 0 && m.expires > now; }).size();
  }
  Result<std::uint64_t> count_managed(const UserId& manager) override {
    return where([&](const auto& m) { return m.user == manager && m.standing == ccm::Standing::kManager; }).size();
  }
  Status prune(WallTime before) override {
    std::erase_if(s_.memberships,
                  [&](const auto& entry) { return entry.second.expires.ms > 0 && entry.second.expires < before; });
    return {};
  }

 private:
  ccm::Membership named(ccm::Membership m) const {
    m.group_name = s_.groups.at(m.group).name;
    m.user_name = s_.user_name(m.user);
    m.asked_by_name = s_.user_name(m.asked_by);
    m.user_disabled = s_.users.at(m.user_name).disabled;
    return m;
  }
  template <class F>
  std::optional<ccm::Group> one_where(std::string_view reference, F&& matches) const {
    for (const auto& [id, group] : s_.groups) {
      if ((group.name == reference || id.str() == reference) && matches(group)) return group;
    }
    return std::nullopt;
  }
  static std::vector<ccm::Membership> oldest(std::vector<ccm::Membership> found, std::size_t limit) {
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return std::tuple(a.since.ms, a.group_name, a.user_name) < std::tuple(b.since.ms, b.group_name, b.user_name);
    });
    cut(found, limit);
    return found;
  }
  template <class F>
  std::vector<ccm::Membership> where(F&& matches) const {
    std::vector<ccm::Membership> found;
    for (const auto& [key, membership] : s_.memberships) {
      if (matches(membership)) found.push_back(named(membership));
    }
    return found;
  }
  MemoryState& s_;
};

class Buddies final : public ccm::BuddyStore {
 public:
  explicit Buddies(MemoryState& state) : s_(state) {}
  Result<bool> add(const UserId& owner, const UserId& buddy, WallTime now) override {
    return s_.buddies.emplace(std::pair(owner, buddy), now).second;
  }
  Result<bool> remove(const UserId& owner, const UserId& buddy) override {
    return s_.buddies.erase({owner, buddy}) > 0;
  }
  Result<std::optional<WallTime>> since(const UserId& owner, const UserId& buddy) override {
    const auto found = s_.buddies.find({owner, buddy});
    return found == s_.buddies.end() ? std::nullopt : std::optional(found->second);
  }
  Result<std::vector<ccm::User>> of(const UserId& owner) override {
    std::vector<ccm::User> found;
    for (const auto& [name, user] : s_.users) {
      if (s_.buddies.contains({owner, user.id})) found.push_back(user);
    }
    return found;
  }

 private:
  MemoryState& s_;
};

class Notices final : public ccm::NoticeStore {
 public:
  explicit Notices(MemoryState& state) : s_(state) {}
  Status append(const ccm::Notice& notice) override {
    s_.notices.push_back(notice);
    return {};
  }
  Result<std::vector<ccm::Notice>> of_user(const UserId& user, std::size_t limit) override {
    std::vector<ccm::Notice> found;
    std::copy_if(s_.notices.rbegin(), s_.notices.rend(), std::back_inserter(found),
                 [&](const ccm::Notice& notice) { return notice.to == user; });
    cut(found, limit);
    return found;
  }
  Result<WallTime> read_until(const UserId& user) override { return s_.read_until[user]; }
  Status set_read_until(const UserId& user, WallTime until) override {
    s_.read_until[user] = until;
    return {};
  }
  Status prune(WallTime before) override {
    std::erase_if(s_.notices, [&](const ccm::Notice& notice) { return notice.at < before; });
    return {};
  }

 private:
  MemoryState& s_;
};

class Offers final : public ccm::OfferStore {
 public:
  explicit Offers(MemoryState& state) : s_(state) {}
  Status put(const ccm::Offer& offer) override {
    s_.offers[offer.content] = offer;
    return {};
  }
  Result<std::optional<ccm::Offer>> of_content(const ContentId& content) override {
    const auto found = s_.offers.find(content);
    return found == s_.offers.end() ? std::nullopt : std::optional<ccm::Offer>(named(found->second));
  }
  Result<std::vector<ccm::Offer>> to(const UserId& user, WallTime now, std::size_t limit) override {
    return open([&](const ccm::Offer& o) { return o.to == user; }, now, limit);
  }
  Result<std::vector<ccm::Offer>> by(const UserId& user, WallTime now, std::size_t limit) override {
    return open([&](const ccm::Offer& o) { return o.by == user; }, now, limit);
  }
  Result<std::uint64_t> count_open(const UserId& by, WallTime now) override {
    std::uint64_t count = 0;
    for (const auto& [id, o] : s_.offers) count += o.by == by && o.is_open(now) ? 1U : 0U;
    return count;
  }
  Status remove(const ContentId& content) override {
    s_.offers.erase(content);
    return {};
  }
  Status prune(WallTime before) override {
    std::erase_if(s_.offers, [&](const auto& one) { return one.second.expires < before; });
    return {};
  }

 private:
  ccm::Offer named(ccm::Offer offer) const {
    const ccm::Content& content = s_.contents.at(offer.content);
    offer.owner_name = content.owner_name;
    offer.content_name = content.name;
    offer.bytes = content.bytes;
    offer.by_name = s_.user_name(offer.by);
    offer.to_name = s_.user_name(offer.to);
    return offer;
  }
  template <class F>
  std::vector<ccm::Offer> open(F&& matches, WallTime now, std::size_t limit) const {
    std::vector<ccm::Offer> found;
    for (const auto& [id, offer] : s_.offers) {
      const bool published = s_.contents.at(id).state == ccm::ContentState::kPublished;
      if (matches(offer) && offer.is_open(now) && published) found.push_back(named(offer));
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.since > b.since; });
    cut(found, limit);
    return found;
  }
  MemoryState& s_;
};

Status run(MemoryState& state, Rng& rng, const std::function<Status(tracker::Tx&)>& work) {
  Users users(state);
  Tokens tokens(state);
  Contents contents(state);
  Replicas replicas(state);
  Audit audit(state);
  Requests requests(state);
  Nodes nodes(state);
  Tasks tasks(state);
  Effects effects(state, tasks, rng);
  Groups groups(state);
  Buddies buddies(state);
  Notices notices(state);
  Offers offers(state);
  DataCas data_cas(state);
  tracker::Tx tx{{users, tokens, contents, replicas, audit, requests, effects, groups, buddies, notices, offers},
                 nodes,
                 tasks,
                 data_cas};
  return work(tx);
}

}  // namespace

MemoryStore::MemoryStore() : state_(std::make_unique<MemoryState>()) {}
MemoryStore::~MemoryStore() = default;

Status MemoryStore::write(const std::function<Status(tracker::Tx&)>& work) {
  const std::lock_guard lock(mutex_);
  MemoryState before = *state_;
  Status done = run(*state_, rng_, work);
  if (!done) *state_ = std::move(before);
  return done;
}

Status MemoryStore::read(const std::function<Status(tracker::Tx&)>& work) {
  const std::lock_guard lock(mutex_);
  MemoryState copy = *state_;
  return run(copy, rng_, work);
}

Status MemoryStore::write(const std::function<Status(ccm::Tx&)>& work) {
  return write(std::function<Status(tracker::Tx&)>([&](tracker::Tx& tx) { return work(tx); }));
}
Status MemoryStore::read(const std::function<Status(ccm::Tx&)>& work) {
  return read(std::function<Status(tracker::Tx&)>([&](tracker::Tx& tx) { return work(tx); }));
}

}  // namespace gridtorrent::testing_support
