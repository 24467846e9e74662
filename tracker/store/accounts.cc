#include <algorithm>
#include <limits>

#include "tracker/store/columns.h"
#include "tracker/store/tables.h"

// Users, tokens, request ids.

namespace gridtorrent::tracker::store {

namespace {

constexpr std::string_view kUserById =
    "SELECT user_id, name, admin, disabled, created_ms, password_hash, service FROM user WHERE user_id = ?";
constexpr std::string_view kUserByName =
    "SELECT user_id, name, admin, disabled, created_ms, password_hash, service FROM user WHERE name = ?";
constexpr std::string_view kUsers =
    "SELECT user_id, name, admin, disabled, created_ms, password_hash, service FROM user WHERE name > ? ORDER BY name "
    "LIMIT ?";

constexpr std::string_view kTokenById =
    "SELECT token_id, secret_hash, kind, user_id, node_id, scopes, label, created_ms, expires_ms, last_used_ms, "
    "revoked_ms, uses_left, node_name, ephemeral, group_id FROM token WHERE token_id = ?";
constexpr std::string_view kTokensOfUser =
    "SELECT token_id, secret_hash, kind, user_id, node_id, scopes, label, created_ms, expires_ms, last_used_ms, "
    "revoked_ms, uses_left, node_name, ephemeral, group_id FROM token WHERE user_id = ?1 AND (created_ms < ?2 OR "
    "(created_ms = "
    "?2 AND token_id > ?3)) "
    "ORDER BY created_ms DESC, token_id LIMIT ?4";

constexpr std::string_view kGoodTokens =
    "SELECT token_id, secret_hash, kind, user_id, node_id, scopes, label, created_ms, expires_ms, last_used_ms, "
    "revoked_ms, uses_left, node_name, ephemeral, group_id FROM token WHERE user_id = ? AND kind = ? AND "
    "revoked_ms = 0 AND expires_ms > ? AND (kind NOT IN ('enroll', 'invite') OR uses_left > 0)";

Result<ccm::Token> token_from(const sql::Row& row) {
  ccm::Token token;
  token.id = row.text(0);
  token.secret_hash = row.text(1);
  const auto kind = ccm::parse_token_kind(row.text(2));
  if (!kind) return damaged("a token");
  token.kind = *kind;
  GT_ASSIGN(token.user, id_at<UserId>(row, 3));
  GT_ASSIGN(token.node, id_at<NodeId>(row, 4));
  token.scopes = ccm::Scopes(row.u32(5));
  token.label = row.text(6);
  token.created = time_at(row, 7);
  token.expires = time_at(row, 8);
  token.last_used = time_at(row, 9);
  token.revoked = time_at(row, 10);
  token.uses_left = row.u32(11);
  token.only_name = row.text(12);
  token.ephemeral = row.boolean(13);
  GT_ASSIGN(token.group, id_at<GroupId>(row, 14));
  return token;
}

}  // namespace

Result<ccm::User> user_from(const sql::Row& row) {
  GT_ASSIGN(const UserId id, id_at<UserId>(row, 0));
  return ccm::User{id, row.text(1), row.boolean(2), row.boolean(3), time_at(row, 4), row.text(5), row.boolean(6)};
}

Status SqlUsers::insert(const ccm::User& user) {
  const Status done = tx_.exec(
      "INSERT INTO user(user_id, name, admin, disabled, created_ms, password_hash, service) "
      "VALUES (?, ?, ?, ?, ?, ?, ?)",
      {user.id.str(), user.name, user.admin, user.disabled, user.created.ms, user.password_hash, user.service});
  return done ? done : Status(conflict_or(done.error(), "user " + user.name + " exists; choose another name"));
}
Result<std::optional<ccm::User>> SqlUsers::by_id(const UserId& id) {
  return tx_.one(kUserById, {id.str()}, user_from);
}
Result<std::optional<ccm::User>> SqlUsers::by_name(std::string_view name) {
  return tx_.one(kUserByName, {name}, user_from);
}
Result<std::vector<ccm::User>> SqlUsers::list(std::string_view after, std::size_t limit) {
  return tx_.all(kUsers, {after, limit}, user_from);
}
Status SqlUsers::set_disabled(const UserId& id, bool disabled) {
  return tx_.exec("UPDATE user SET disabled = ? WHERE user_id = ?", {disabled, id.str()});
}
Status SqlUsers::set_password_hash(const UserId& id, const std::string& password_hash) {
  return tx_.exec("UPDATE user SET password_hash = ? WHERE user_id = ?", {password_hash, id.str()});
}
Result<std::vector<ccm::QuotaLimit>> SqlUsers::quota_limits(const UserId& id) {
  GT_ASSIGN(auto limits, tx_.all("SELECT quota, most FROM quota WHERE user_id = ?", {id.str()},
                                 [](const sql::Row& row) -> Result<ccm::QuotaLimit> {
                                   const auto quota = ccm::parse_quota(row.text(0));
                                   if (!quota) return damaged("a quota");
                                   return ccm::QuotaLimit{*quota, row.u64(1)};
                                 }));
  std::sort(limits.begin(), limits.end(), [](const auto& a, const auto& b) { return a.quota < b.quota; });
  return limits;
}
Status SqlUsers::change_quota(const UserId& id, const ccm::QuotaChange& change) {
  if (!change.limit) {
    return tx_.exec("DELETE FROM quota WHERE user_id = ? AND quota = ?", {id.str(), ccm::quota_name(change.quota)});
  }
  return tx_.exec(
      "INSERT INTO quota(user_id, quota, most) VALUES (?, ?, ?) "
      "ON CONFLICT(user_id, quota) DO UPDATE SET most = excluded.most",
      {id.str(), ccm::quota_name(change.quota), *change.limit});
}

Status SqlTokens::insert(const ccm::Token& t) {
  const Status done = tx_.exec(
      "INSERT INTO token(token_id, secret_hash, kind, user_id, node_id, scopes, label, created_ms, expires_ms, "
      "last_used_ms, revoked_ms, uses_left, node_name, ephemeral, group_id) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {t.id, sql::Blob(t.secret_hash), ccm::token_kind_name(t.kind), t.user.str(), id_or_null(t.node), t.scopes.bits(),
       t.label, t.created.ms, t.expires.ms, t.last_used.ms, t.revoked.ms, t.uses_left, t.only_name, t.ephemeral,
       id_or_null(t.group)});
  return done ? done : Status(conflict_or(done.error(), "token " + t.id + " exists"));
}
Result<std::optional<ccm::Token>> SqlTokens::by_id(std::string_view id) {
  return tx_.one(kTokenById, {id}, token_from);
}
Result<std::vector<ccm::Token>> SqlTokens::of_user(const UserId& user, const std::optional<ccm::TokenPlace>& after,
                                                   std::size_t limit) {
  const std::int64_t created = after ? after->created.ms : std::numeric_limits<std::int64_t>::max();
  return tx_.all(kTokensOfUser, {user.str(), created, after ? after->id : std::string(), limit}, token_from);
}
Result<std::vector<ccm::Token>> SqlTokens::good_of_kind(const UserId& user, ccm::TokenKind kind, WallTime now) {
  return tx_.all(kGoodTokens, {user.str(), ccm::token_kind_name(kind), now.ms}, token_from);
}
Status SqlTokens::revoke(std::string_view id, WallTime now) {
  return tx_.exec("UPDATE token SET revoked_ms = ? WHERE token_id = ? AND revoked_ms = 0", {now.ms, id});
}
Status SqlTokens::revoke_all_of_user(const UserId& user, WallTime now) {
  return tx_.exec("UPDATE token SET revoked_ms = ? WHERE user_id = ? AND revoked_ms = 0", {now.ms, user.str()});
}
Status SqlTokens::revoke_personal_of_user(const UserId& user, WallTime now) {
  return tx_.exec("UPDATE token SET revoked_ms = ? WHERE user_id = ? AND kind <> 'node' AND revoked_ms = 0",
                  {now.ms, user.str()});
}
Status SqlTokens::revoke_devices_of_user(const UserId& user, WallTime now) {
  return tx_.exec("UPDATE token SET revoked_ms = ? WHERE user_id = ? AND kind = 'device' AND revoked_ms = 0",
                  {now.ms, user.str()});
}
Status SqlTokens::revoke_all_of_node(const NodeId& node, WallTime now) {
  return tx_.exec("UPDATE token SET revoked_ms = ? WHERE node_id = ? AND revoked_ms = 0", {now.ms, node.str()});
}
Status SqlTokens::remove_all_of_node(const NodeId& node) {
  return tx_.exec("DELETE FROM token WHERE node_id = ?", {node.str()});
}
Result<std::uint64_t> SqlTokens::count_of_node(const NodeId& node, WallTime since) {
  GT_ASSIGN(const auto count, tx_.one("SELECT count(*) FROM token WHERE node_id = ? AND created_ms >= ?",
                                      {node.str(), since.ms}, [](const sql::Row& row) { return row.u64(0); }));
  return count.value_or(0);
}
Status SqlTokens::set_last_used(std::string_view id, WallTime now) {
  return tx_.exec("UPDATE token SET last_used_ms = ? WHERE token_id = ?", {now.ms, id});
}
Status SqlTokens::set_expires(std::string_view id, WallTime expires) {
  return tx_.exec("UPDATE token SET expires_ms = ? WHERE token_id = ?", {expires.ms, id});
}
Status SqlTokens::expire_all_of_node(const NodeId& node, WallTime now, WallTime until) {
  return tx_.exec(
      "UPDATE token SET expires_ms = ?3 WHERE node_id = ?1 AND revoked_ms = 0 AND expires_ms > ?2 AND expires_ms > ?3",
      {node.str(), now.ms, until.ms});
}
Result<bool> SqlTokens::take_use(std::string_view id) {
  GT_ASSIGN(const std::int64_t taken,
            tx_.change("UPDATE token SET uses_left = uses_left - 1 WHERE token_id = ? AND uses_left > 0", {id}));
  return taken == 1;
}
Result<std::uint64_t> SqlTokens::count_good(const UserId& user, ccm::TokenKind kind, WallTime now) {
  GT_ASSIGN(const auto count,
            tx_.one("SELECT count(*) FROM token WHERE user_id = ? AND kind = ? AND revoked_ms = 0 AND expires_ms > ? "
                    "AND (kind NOT IN ('enroll', 'invite') OR uses_left > 0)",
                    {user.str(), ccm::token_kind_name(kind), now.ms}, [](const sql::Row& row) { return row.u64(0); }));
  return count.value_or(0);
}
Status SqlTokens::prune(WallTime before) {
  return tx_.exec("DELETE FROM token WHERE expires_ms < ?1 OR (revoked_ms <> 0 AND revoked_ms < ?1)", {before.ms});
}

Result<std::optional<ccm::RequestLog::Entry>> SqlRequests::find(const UserId& caller, std::string_view request_id) {
  return tx_.one("SELECT method, answer FROM request_log WHERE user_id = ? AND request_id = ?",
                 {caller.str(), request_id}, [](const sql::Row& row) { return Entry{row.text(0), row.text(1)}; });
}
Status SqlRequests::put(const UserId& caller, std::string_view request_id, const Entry& entry, WallTime now) {
  return tx_.exec(
      "INSERT OR REPLACE INTO request_log(user_id, request_id, method, answer, at_ms) VALUES (?, ?, ?, ?, ?)",
      {caller.str(), request_id, entry.method, sql::Blob(entry.answer), now.ms});
}
Status SqlRequests::prune(WallTime before) {
  return tx_.exec("DELETE FROM request_log WHERE at_ms < ?", {before.ms});
}

}  // namespace gridtorrent::tracker::store
