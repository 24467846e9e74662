#include "tracker/store/columns.h"
#include "tracker/store/tables.h"

// Buddies and notices.

namespace gridtorrent::tracker::store {

namespace {

Result<ccm::Notice> notice_from(const sql::Row& row) {
  ccm::Notice notice;
  GT_ASSIGN(notice.to, id_at<UserId>(row, 0));
  notice.at = time_at(row, 1);
  const auto kind = ccm::parse_notice_kind(row.text(2));
  if (!kind) return damaged("a notice");
  notice.kind = *kind;
  notice.by = row.text(3);
  notice.group = row.text(4);
  notice.object = row.text(5);
  return notice;
}

}  // namespace

Result<bool> SqlBuddies::add(const UserId& owner, const UserId& buddy, WallTime now) {
  GT_ASSIGN(const auto changed, tx_.change("INSERT OR IGNORE INTO buddy(owner_id, buddy_id, since_ms) VALUES (?, ?, ?)",
                                           {owner.str(), buddy.str(), now.ms}));
  return changed > 0;
}

Result<bool> SqlBuddies::remove(const UserId& owner, const UserId& buddy) {
  GT_ASSIGN(const auto changed,
            tx_.change("DELETE FROM buddy WHERE owner_id = ? AND buddy_id = ?", {owner.str(), buddy.str()}));
  return changed > 0;
}

Result<std::optional<WallTime>> SqlBuddies::since(const UserId& owner, const UserId& buddy) {
  return tx_.one("SELECT since_ms FROM buddy WHERE owner_id = ? AND buddy_id = ?", {owner.str(), buddy.str()},
                 [](const sql::Row& row) { return time_at(row, 0); });
}

Result<std::vector<ccm::User>> SqlBuddies::of(const UserId& owner) {
  return tx_.all(
      "SELECT u.user_id, u.name, u.admin, u.disabled, u.created_ms, u.password_hash, u.service "
      "FROM buddy b JOIN user u ON u.user_id = b.buddy_id WHERE b.owner_id = ? ORDER BY u.name",
      {owner.str()}, user_from);
}

Status SqlNotices::append(const ccm::Notice& notice) {
  return tx_.exec(
      "INSERT INTO notice(user_id, at_ms, kind, by_name, group_name, object) VALUES (?, ?, ?, ?, ?, ?)",
      {notice.to.str(), notice.at.ms, ccm::notice_kind_name(notice.kind), notice.by, notice.group, notice.object});
}

Result<std::vector<ccm::Notice>> SqlNotices::of_user(const UserId& user, std::size_t limit) {
  return tx_.all(
      "SELECT user_id, at_ms, kind, by_name, group_name, object FROM notice WHERE user_id = ? ORDER BY seq DESC LIMIT "
      "?",
      {user.str(), limit}, notice_from);
}

Result<std::uint64_t> SqlNotices::count(const UserId& user) {
  GT_ASSIGN(const auto count, tx_.one("SELECT count(*) FROM notice WHERE user_id = ?", {user.str()},
                                      [](const sql::Row& row) { return row.u64(0); }));
  return count.value_or(0);
}

Result<WallTime> SqlNotices::read_until(const UserId& user) {
  GT_ASSIGN(const auto until, tx_.one("SELECT read_until_ms FROM inbox_mark WHERE user_id = ?", {user.str()},
                                      [](const sql::Row& row) { return time_at(row, 0); }));
  return until.value_or(WallTime{});
}

Status SqlNotices::set_read_until(const UserId& user, WallTime until) {
  return tx_.exec("INSERT OR REPLACE INTO inbox_mark(user_id, read_until_ms) VALUES (?, ?)", {user.str(), until.ms});
}

Status SqlNotices::prune(WallTime before) {
  return tx_.exec("DELETE FROM notice WHERE at_ms < ?", {before.ms});
}

}  // namespace gridtorrent::tracker::store
