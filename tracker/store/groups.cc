#include "tracker/store/columns.h"
#include "tracker/store/tables.h"

// Groups and memberships.

namespace gridtorrent::tracker::store {

namespace {

const std::string kSelectGroup = "SELECT g.group_id, g.name, g.description, g.hidden, g.created_ms FROM user_group g ";

Result<ccm::Group> group_from(const sql::Row& row) {
  GT_ASSIGN(const GroupId id, id_at<GroupId>(row, 0));
  return ccm::Group{id, row.text(1), row.text(2), row.boolean(3), time_at(row, 4)};
}

const std::string kSelectMembership =
    "SELECT m.group_id, m.user_id, m.standing, m.asked_by, m.since_ms, m.expires_ms, m.message, g.name, u.name, "
    "a.name, u.disabled FROM membership m JOIN user_group g USING (group_id) JOIN user u ON u.user_id = m.user_id "
    "JOIN user a ON a.user_id = m.asked_by ";

Result<ccm::Membership> membership_from(const sql::Row& row) {
  ccm::Membership m;
  GT_ASSIGN(m.group, id_at<GroupId>(row, 0));
  GT_ASSIGN(m.user, id_at<UserId>(row, 1));
  const auto standing = ccm::parse_standing(row.text(2));
  if (!standing) return damaged("a membership");
  m.standing = *standing;
  GT_ASSIGN(m.asked_by, id_at<UserId>(row, 3));
  m.since = time_at(row, 4);
  m.expires = time_at(row, 5);
  m.message = row.text(6);
  m.group_name = row.text(7);
  m.user_name = row.text(8);
  m.asked_by_name = row.text(9);
  m.user_disabled = row.boolean(10);
  return m;
}

}  // namespace

Status SqlGroups::insert(const ccm::Group& group) {
  const Status done =
      tx_.exec("INSERT INTO user_group(group_id, name, description, hidden, created_ms) VALUES (?, ?, ?, ?, ?)",
               {group.id.str(), group.name, group.description, group.hidden, group.created.ms});
  if (!done) return conflict_or(done.error(), "group " + group.name + " exists; choose another name");
  return {};
}

Status SqlGroups::update(const ccm::Group& group) {
  return tx_.exec("UPDATE user_group SET description = ?, hidden = ? WHERE group_id = ?",
                  {group.description, group.hidden, group.id.str()});
}

Status SqlGroups::remove(const GroupId& id) {
  GT_TRY(tx_.exec(
      "UPDATE content SET access = 'private' WHERE access = 'shared' AND access_buddies = 0 AND content_id IN (SELECT "
      "x.content_id FROM content_group x WHERE x.group_id = ?1 AND NOT EXISTS (SELECT 1 FROM content_group y WHERE "
      "y.content_id = x.content_id AND y.group_id <> ?1) AND NOT EXISTS (SELECT 1 FROM content_user u WHERE "
      "u.content_id = x.content_id))",
      {id.str()}));
  return tx_.exec("DELETE FROM user_group WHERE group_id = ?", {id.str()});
}

Result<std::optional<ccm::Group>> SqlGroups::by_id(const GroupId& id) {
  return tx_.one(kSelectGroup + "WHERE g.group_id = ?", {id.str()}, group_from);
}

Result<std::optional<ccm::Group>> SqlGroups::by_name(std::string_view name) {
  return tx_.one(kSelectGroup + "WHERE g.name = ?", {name}, group_from);
}

Result<std::optional<ccm::Group>> SqlGroups::visible_one(const UserId& viewer, WallTime now,
                                                         std::string_view reference) {
  return tx_.one(kSelectGroup +
                     "WHERE (g.name = ?1 OR g.group_id = ?1) AND (g.hidden = 0 OR EXISTS (SELECT 1 FROM membership m "
                     "WHERE m.group_id = g.group_id AND m.user_id = ?2 AND (m.expires_ms = 0 OR m.expires_ms > ?3)))",
                 {reference, viewer.str(), now.ms}, group_from);
}

Result<std::optional<ccm::Group>> SqlGroups::own_one(const UserId& member, std::string_view reference) {
  return tx_.one(kSelectGroup +
                     "WHERE (g.name = ?1 OR g.group_id = ?1) AND EXISTS (SELECT 1 FROM membership m WHERE m.group_id = "
                     "g.group_id AND m.user_id = ?2 AND m.standing IN ('member', 'manager'))",
                 {reference, member.str()}, group_from);
}

Result<std::vector<ccm::Group>> SqlGroups::visible(const UserId& viewer, WallTime now, std::string_view after,
                                                   std::size_t limit) {
  return tx_.all(
      kSelectGroup +
          "WHERE g.name > ? AND (g.hidden = 0 OR EXISTS (SELECT 1 FROM membership m WHERE m.group_id = "
          "g.group_id AND m.user_id = ? AND (m.expires_ms = 0 OR m.expires_ms > ?))) ORDER BY g.name LIMIT ?",
      {after, viewer.str(), now.ms, limit}, group_from);
}

Status SqlGroups::put(const ccm::Membership& m) {
  if (m.standing == ccm::Standing::kNone) {
    return tx_.exec("DELETE FROM membership WHERE group_id = ? AND user_id = ?", {m.group.str(), m.user.str()});
  }
  return tx_.exec(
      "INSERT OR REPLACE INTO membership(group_id, user_id, standing, asked_by, since_ms, expires_ms, message) "
      "VALUES (?, ?, ?, ?, ?, ?, ?)",
      {m.group.str(), m.user.str(), ccm::standing_name(m.standing), m.asked_by.str(), m.since.ms, m.expires.ms,
       m.message});
}

Result<std::optional<ccm::Membership>> SqlGroups::membership(const GroupId& group, const UserId& user) {
  return tx_.one(kSelectMembership + "WHERE m.group_id = ? AND m.user_id = ?", {group.str(), user.str()},
                 membership_from);
}

Result<std::vector<ccm::Membership>> SqlGroups::of_group(const GroupId& group) {
  return tx_.all(kSelectMembership +
                     "WHERE m.group_id = ? ORDER BY CASE m.standing WHEN 'manager' THEN 0 WHEN 'member' THEN 1 WHEN "
                     "'requested' THEN 2 ELSE 3 END, u.name",
                 {group.str()}, membership_from);
}

Result<std::vector<ccm::Membership>> SqlGroups::of_user(const UserId& user) {
  return tx_.all(kSelectMembership + "WHERE m.user_id = ? ORDER BY g.name", {user.str()}, membership_from);
}

Result<std::vector<GroupId>> SqlGroups::active_of(const UserId& user) {
  return tx_.all("SELECT group_id FROM membership WHERE user_id = ? AND standing IN ('member', 'manager')",
                 {user.str()}, [](const sql::Row& row) { return id_at<GroupId>(row, 0); });
}

Result<std::vector<UserId>> SqlGroups::managers_of(const GroupId& group) {
  return tx_.all("SELECT user_id FROM membership WHERE group_id = ? AND standing = 'manager'", {group.str()},
                 [](const sql::Row& row) { return id_at<UserId>(row, 0); });
}

Result<std::vector<ccm::Membership>> SqlGroups::invitations_to(const UserId& user, WallTime now, std::size_t limit) {
  return tx_.all(kSelectMembership +
                     "WHERE m.user_id = ? AND m.standing = 'invited' AND m.expires_ms > ? ORDER BY m.since_ms, g.name "
                     "LIMIT ?",
                 {user.str(), now.ms, limit}, membership_from);
}

Result<std::vector<ccm::Membership>> SqlGroups::requests_to(const UserId& manager, WallTime now, std::size_t limit) {
  return tx_.all(
      kSelectMembership +
          "WHERE m.standing = 'requested' AND m.expires_ms > ? AND m.group_id IN (SELECT group_id FROM "
          "membership WHERE user_id = ? AND standing = 'manager') ORDER BY m.since_ms, g.name, u.name LIMIT ?",
      {now.ms, manager.str(), limit}, membership_from);
}

Result<std::uint64_t> SqlGroups::count_memberships(const GroupId& group) {
  return count("SELECT count(*) FROM membership WHERE group_id = ?", {group.str()});
}

Result<std::uint64_t> SqlGroups::count(std::string_view sql, sql::Values values) {
  GT_ASSIGN(const auto count, tx_.one(sql, values, [](const sql::Row& row) { return row.u64(0); }));
  return count.value_or(0);
}

Result<std::uint64_t> SqlGroups::count_managers(const GroupId& group) {
  return count(
      "SELECT count(*) FROM membership m JOIN user u ON u.user_id = m.user_id WHERE m.group_id = ? AND m.standing = "
      "'manager' AND u.disabled = 0",
      {group.str()});
}

Result<std::uint64_t> SqlGroups::count_open(const UserId& asked_by, WallTime now) {
  return count("SELECT count(*) FROM membership WHERE asked_by = ? AND expires_ms > 0 AND expires_ms > ?",
               {asked_by.str(), now.ms});
}

Result<std::uint64_t> SqlGroups::count_managed(const UserId& manager) {
  return count("SELECT count(*) FROM membership WHERE user_id = ? AND standing = 'manager'", {manager.str()});
}

Status SqlGroups::note_removal(const GroupId& group, const UserId& user, WallTime now) {
  GT_TRY(tx_.exec("DELETE FROM group_removal WHERE removed_ms < ?", {(now - kRemovalsKept).ms}));
  return tx_.exec("INSERT OR REPLACE INTO group_removal(group_id, user_id, removed_ms) VALUES (?, ?, ?)",
                  {group.str(), user.str(), now.ms});
}

Result<std::optional<WallTime>> SqlGroups::removed_at(const GroupId& group, const UserId& user) {
  return tx_.one("SELECT removed_ms FROM group_removal WHERE group_id = ? AND user_id = ?", {group.str(), user.str()},
                 [](const sql::Row& row) { return Result<WallTime>(time_at(row, 0)); });
}

Status SqlGroups::prune(WallTime before) {
  return tx_.exec("DELETE FROM membership WHERE expires_ms > 0 AND expires_ms < ?", {before.ms});
}

}  // namespace gridtorrent::tracker::store
