#pragma once

#include <string>

#include "base/sql/transaction.h"
#include "ccm/domain/ports.h"
#include "common/rng.h"
#include "tracker/core/ports.h"

namespace gridtorrent::tracker::store {

// The ports over one SQL transaction. Internal to tracker/store.

class SqlUsers final : public ccm::UserStore {
 public:
  explicit SqlUsers(sql::Transaction& tx) : tx_(tx) {}
  Status insert(const ccm::User& user) override;
  Result<std::optional<ccm::User>> by_id(const UserId& id) override;
  Result<std::optional<ccm::User>> by_name(std::string_view name) override;
  Result<std::vector<ccm::User>> list(std::string_view after, std::size_t limit) override;
  Status set_disabled(const UserId& id, bool disabled) override;
  Status set_password_hash(const UserId& id, const std::string& password_hash) override;
  Result<std::vector<ccm::QuotaLimit>> quota_limits(const UserId& id) override;
  Status change_quota(const UserId& id, const ccm::QuotaChange& change) override;

 private:
  sql::Transaction& tx_;
};

class SqlTokens final : public ccm::TokenStore {
 public:
  explicit SqlTokens(sql::Transaction& tx) : tx_(tx) {}
  Status insert(const ccm::Token& token) override;
  Result<std::optional<ccm::Token>> by_id(std::string_view id) override;
  Result<std::vector<ccm::Token>> of_user(const UserId& user, const std::optional<ccm::TokenPlace>& after,
                                          std::size_t limit) override;
  Result<std::vector<ccm::Token>> good_of_kind(const UserId& user, ccm::TokenKind kind, WallTime now) override;
  Status revoke(std::string_view id, WallTime now) override;
  Status revoke_all_of_user(const UserId& user, WallTime now) override;
  Status revoke_personal_of_user(const UserId& user, WallTime now) override;
  Status revoke_devices_of_user(const UserId& user, WallTime now) override;
  Status revoke_all_of_node(const NodeId& node, WallTime now) override;
  Status remove_all_of_node(const NodeId& node) override;
  Status set_last_used(std::string_view id, WallTime now) override;
  Status set_expires(std::string_view id, WallTime expires) override;
  Status expire_all_of_node(const NodeId& node, WallTime now, WallTime until) override;
  Result<bool> take_use(std::string_view id) override;
  Result<std::uint64_t> count_good(const UserId& user, ccm::TokenKind kind, WallTime now) override;
  Result<std::uint64_t> count_of_node(const NodeId& node, WallTime since) override;
  Status prune(WallTime before) override;

 private:
  sql::Transaction& tx_;
};

class SqlContents final : public ccm::ContentStore {
 public:
  explicit SqlContents(sql::Transaction& tx) : tx_(tx) {}
  Status insert(const ccm::Content& content) override;
  Status update(const ccm::Content& content) override;
  Status set_owner_and_name(const ContentId& id, const UserId& owner, const std::string& name) override;
  Result<std::optional<ccm::Content>> by_id(const ContentId& id) override;
  Result<std::optional<ccm::Content>> by_owner_and_name(const UserId& owner, std::string_view name) override;
  Result<std::optional<ccm::Content>> visible_by_id(const UserId& viewer, std::string_view viewer_name,
                                                    const ContentId& id) override;
  Result<std::vector<ccm::Content>> visible_by_name(const UserId& viewer, std::string_view viewer_name,
                                                    std::string_view owner, std::string_view name,
                                                    std::size_t limit) override;
  Result<std::vector<ccm::Content>> search(const ccm::SearchFilter& filter) override;
  Result<std::vector<ccm::Content>> shared_with(const UserId& viewer, std::string_view viewer_name,
                                                std::size_t limit) override;
  Result<bool> shares_with_buddies(const UserId& owner) override;
  Result<ccm::Audience> audience(const UserId& owner, const ccm::Access& access) override;
  Result<std::vector<ccm::Content>> stale_drafts(WallTime before, std::size_t limit) override;
  Result<std::vector<ccm::Content>> before_generation(std::uint32_t generation, std::size_t limit) override;
  Result<std::map<std::uint32_t, std::uint64_t>> count_by_generation() override;
  Result<Usage> usage(const UserId& owner) override;
  Result<std::uint64_t> count_created(const UserId& owner, WallTime since) override;

 private:
  Status put_lists(const ccm::Content& content);
  Result<std::vector<ccm::Content>> withdrawn_by_name(const std::string& viewer, std::string_view viewer_name,
                                                      std::string_view owner, std::string_view name, std::size_t limit);
  /// Few rows: they are looked up and sorted. Many: the listing is walked from its newest end, and soon full.
  Result<bool> is_few(std::string_view rows, sql::Values values);
  sql::Transaction& tx_;
};

class SqlReplicas final : public ccm::ReplicaStore {
 public:
  explicit SqlReplicas(sql::Transaction& tx) : tx_(tx) {}
  Status put(const ccm::Replica& replica) override;
  Result<std::optional<ccm::Replica>> find(const ContentId& content, std::uint32_t version,
                                           const NodeId& node) override;
  Result<std::vector<ccm::Replica>> of_content(const ContentId& content, std::uint32_t version) override;
  Result<std::vector<NodeId>> holders(const ContentId& content) override;
  Result<std::vector<UserId>> people(const ContentId& content) override;
  Status remove(const ContentId& content, std::uint32_t version, const NodeId& node) override;

 private:
  sql::Transaction& tx_;
};

class SqlVersions final : public ccm::VersionStore {
 public:
  explicit SqlVersions(sql::Transaction& tx) : tx_(tx) {}
  Status put(const ccm::VersionRecord& version) override;
  Result<std::optional<ccm::VersionRecord>> find(const ContentId& content, std::uint32_t number) override;
  Result<std::optional<ccm::VersionRecord>> draft_of(const ContentId& content) override;
  Result<std::vector<ccm::VersionRecord>> sealed_of(const ContentId& content, std::size_t limit) override;
  Status remove(const ContentId& content, std::uint32_t number) override;
  Result<std::vector<ccm::VersionRecord>> stale_drafts(WallTime before, std::size_t limit) override;
  Result<std::vector<ccm::VersionRecord>> unheld(WallTime before, std::size_t limit) override;

 private:
  sql::Transaction& tx_;
};

/// From the columns at_ms to request_id.
Result<ccm::AuditRecord> audit_from(const sql::Row& row);

class SqlAudit final : public ccm::AuditLog {
 public:
  explicit SqlAudit(sql::Transaction& tx) : tx_(tx) {}
  Status append(const ccm::AuditRecord& record) override;
  Result<std::vector<ccm::NumberedAuditRecord>> select(const ccm::AuditFilter& filter) override;
  Result<ccm::AuditHead> head() override;
  Result<ccm::AuditHead> verify() override;

 private:
  sql::Transaction& tx_;
};

class SqlRequests final : public ccm::RequestLog {
 public:
  explicit SqlRequests(sql::Transaction& tx) : tx_(tx) {}
  Result<std::optional<Entry>> find(const UserId& caller, std::string_view request_id) override;
  Status put(const UserId& caller, std::string_view request_id, const Entry& entry, WallTime now) override;
  Status prune(WallTime before) override;

 private:
  sql::Transaction& tx_;
};

class SqlNodes final : public NodeStore {
 public:
  explicit SqlNodes(sql::Transaction& tx) : tx_(tx) {}
  Status insert(const NodeRecord& node) override;
  Result<std::optional<NodeRecord>> by_id(const NodeId& id) override;
  Result<std::optional<NodeRecord>> by_owner_and_name(const UserId& owner, std::string_view name) override;
  Result<std::optional<NodeRecord>> by_public_key(std::string_view der) override;
  Result<std::vector<NodeRecord>> of_owner(const UserId& owner, std::string_view after, std::size_t limit) override;
  Result<std::vector<NodeId>> ids_of_owner(const UserId& owner, std::size_t limit) override;
  Result<std::vector<std::pair<NodeId, std::string>>> keys_of(const std::vector<UserId>& owners, WallTime now) override;
  Status set_endpoints(const NodeId& id, const std::vector<NodeEndpoint>& endpoints) override;
  Status set_roots(const NodeId& id, const NodeRoots& roots) override;
  Status set_seen(const NodeId& id, WallTime now, std::string_view program_version) override;
  Status set_name(const NodeId& id, std::string_view name) override;
  Result<std::vector<NodeId>> stale_ephemeral(WallTime before, std::size_t limit) override;
  Status remove(const NodeId& id) override;

 private:
  Result<std::optional<NodeRecord>> first(std::string_view where, sql::Values values);
  Status add_endpoints(NodeRecord& node);
  sql::Transaction& tx_;
};

class SqlTasks final : public TaskStore {
 public:
  explicit SqlTasks(sql::Transaction& tx) : tx_(tx) {}
  Result<std::uint64_t> append(const Task& task) override;
  Status update(const Task& task) override;
  Result<std::optional<Task>> by_id(const TaskId& id) override;
  Result<std::vector<Task>> pending(const NodeId& node, std::uint64_t cursor, std::size_t limit) override;
  Result<std::vector<Task>> queued_up_to(const NodeId& node, std::uint64_t sequence) override;
  Result<std::vector<TaskId>> cancel_requested(const NodeId& node) override;
  Result<std::vector<Task>> of_node(const NodeId& node, bool include_ended, std::uint64_t below,
                                    std::size_t limit) override;
  Result<std::vector<Task>> of_owner(const UserId& owner, bool include_ended, const std::optional<TaskPlace>& after,
                                     std::size_t limit) override;
  Status set_acked(const NodeId& node, std::uint64_t sequence) override;
  Result<std::vector<Task>> queued_since(WallTime before, std::size_t limit) override;
  Status prune(WallTime before) override;
  Result<bool> forget_first_ended(const UserId& created_by) override;

 private:
  sql::Transaction& tx_;
};

class SqlNodeEffects final : public ccm::NodeEffects {
 public:
  SqlNodeEffects(sql::Transaction& tx, TaskStore& tasks, Rng& rng) : tx_(tx), tasks_(tasks), rng_(rng) {}
  Result<std::vector<NodeId>> content_closed(const ContentId& content, const UserId& by, WallTime now) override;
  Result<std::uint64_t> count_nodes(const UserId& owner) override;
  Result<bool> has_node(const NodeId& node) override;
  Result<std::uint64_t> count_tasks(const UserId& by) override;

 private:
  sql::Transaction& tx_;
  TaskStore& tasks_;
  Rng& rng_;
};

class SqlDataCas final : public DataCaStore {
 public:
  explicit SqlDataCas(sql::Transaction& tx) : tx_(tx) {}
  Status insert(const DataCaRecord& ca) override;
  Result<std::vector<DataCaRecord>> all() override;
  Status retire(std::uint32_t generation, WallTime now) override;

 private:
  sql::Transaction& tx_;
};

class SqlGroups final : public ccm::GroupStore {
 public:
  explicit SqlGroups(sql::Transaction& tx) : tx_(tx) {}
  Status insert(const ccm::Group& group) override;
  Status update(const ccm::Group& group) override;
  Status remove(const GroupId& id) override;
  Result<std::optional<ccm::Group>> by_id(const GroupId& id) override;
  Result<std::optional<ccm::Group>> by_name(std::string_view name) override;
  Result<std::optional<ccm::Group>> visible_one(const UserId& viewer, WallTime now,
                                                std::string_view reference) override;
  Result<std::optional<ccm::Group>> own_one(const UserId& member, std::string_view reference) override;
  Result<std::vector<ccm::Group>> visible(const UserId& viewer, WallTime now, std::string_view after,
                                          std::size_t limit) override;
  Status put(const ccm::Membership& membership) override;
  Result<std::optional<ccm::Membership>> membership(const GroupId& group, const UserId& user) override;
  Result<std::vector<ccm::Membership>> of_group(const GroupId& group) override;
  Result<std::vector<ccm::Membership>> of_user(const UserId& user) override;
  Result<std::vector<GroupId>> active_of(const UserId& user) override;
  Result<std::vector<UserId>> managers_of(const GroupId& group) override;
  Result<std::vector<ccm::Membership>> invitations_to(const UserId& user, WallTime now, std::size_t limit) override;
  Result<std::vector<ccm::Membership>> requests_to(const UserId& manager, WallTime now, std::size_t limit) override;
  Result<std::uint64_t> count_memberships(const GroupId& group) override;
  Result<std::uint64_t> count_managers(const GroupId& group) override;
  Result<std::uint64_t> count_open(const UserId& asked_by, WallTime now) override;
  Result<std::uint64_t> count_managed(const UserId& manager) override;
  Status note_removal(const GroupId& group, const UserId& user, WallTime now) override;
  Result<std::optional<WallTime>> removed_at(const GroupId& group, const UserId& user) override;
  Status prune(WallTime before) override;

 private:
  Result<std::uint64_t> count(std::string_view sql, sql::Values values);
  sql::Transaction& tx_;
};

class SqlBuddies final : public ccm::BuddyStore {
 public:
  explicit SqlBuddies(sql::Transaction& tx) : tx_(tx) {}
  Result<bool> add(const UserId& owner, const UserId& buddy, WallTime now) override;
  Result<bool> remove(const UserId& owner, const UserId& buddy) override;
  Result<std::optional<WallTime>> since(const UserId& owner, const UserId& buddy) override;
  Result<std::vector<ccm::User>> of(const UserId& owner) override;

 private:
  sql::Transaction& tx_;
};

class SqlOffers final : public ccm::OfferStore {
 public:
  explicit SqlOffers(sql::Transaction& tx) : tx_(tx) {}
  Status put(const ccm::Offer& offer) override;
  Result<std::optional<ccm::Offer>> of_content(const ContentId& content) override;
  Result<std::vector<ccm::Offer>> to(const UserId& user, WallTime now, const std::optional<ccm::OfferPlace>& after,
                                     std::size_t limit) override;
  Result<std::vector<ccm::Offer>> by(const UserId& user, WallTime now, const std::optional<ccm::OfferPlace>& after,
                                     std::size_t limit) override;
  Result<std::uint64_t> count_open(const UserId& by, WallTime now) override;
  Status remove(const ContentId& content) override;
  Status prune(WallTime before) override;

 private:
  Result<std::vector<ccm::Offer>> open(std::string_view whose, const UserId& user, WallTime now,
                                       const std::optional<ccm::OfferPlace>& after, std::size_t limit);
  sql::Transaction& tx_;
};

class SqlNotices final : public ccm::NoticeStore {
 public:
  explicit SqlNotices(sql::Transaction& tx) : tx_(tx) {}
  Status append(const ccm::Notice& notice) override;
  Result<std::vector<ccm::Notice>> of_user(const UserId& user, std::size_t limit) override;
  Result<std::uint64_t> count(const UserId& user) override;
  Result<WallTime> read_until(const UserId& user) override;
  Status set_read_until(const UserId& user, WallTime until) override;
  Status prune(WallTime before) override;

 private:
  sql::Transaction& tx_;
};

/// From the columns user_id to password_hash.
Result<ccm::User> user_from(const sql::Row& row);

/// All of them over one transaction.
class SqlTables {
 public:
  SqlTables(sql::Transaction& tx, Rng& rng)
      : users_(tx),
        tokens_(tx),
        contents_(tx),
        replicas_(tx),
        versions_(tx),
        audit_(tx),
        requests_(tx),
        nodes_(tx),
        tasks_(tx),
        effects_(tx, tasks_, rng),
        groups_(tx),
        buddies_(tx),
        notices_(tx),
        offers_(tx),
        data_cas_(tx),
        tx_{{users_, tokens_, contents_, replicas_, versions_, audit_, requests_, effects_, groups_, buddies_, notices_,
             offers_},
            nodes_,
            tasks_,
            data_cas_} {}
  SqlTables(const SqlTables&) = delete;
  SqlTables& operator=(const SqlTables&) = delete;
  Tx& tx() { return tx_; }

 private:
  SqlUsers users_;
  SqlTokens tokens_;
  SqlContents contents_;
  SqlReplicas replicas_;
  SqlVersions versions_;
  SqlAudit audit_;
  SqlRequests requests_;
  SqlNodes nodes_;
  SqlTasks tasks_;
  SqlNodeEffects effects_;
  SqlGroups groups_;
  SqlBuddies buddies_;
  SqlNotices notices_;
  SqlOffers offers_;
  SqlDataCas data_cas_;
  Tx tx_;
};

}  // namespace gridtorrent::tracker::store
