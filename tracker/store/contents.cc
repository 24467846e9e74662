#include <algorithm>

#include "ccm/domain/names.h"
#include "common/text.h"
#include "tracker/store/columns.h"
#include "tracker/store/tables.h"

// Contents and replicas.

namespace gridtorrent::tracker::store {

namespace {

constexpr std::int64_t kFew = 1000;
constexpr std::string_view kNoGroups = "[]";  // of the column from before there were groups: they are in content_group

const std::string kSelect =
    "SELECT c.content_id, c.owner_id, u.name, c.name, c.access, c.access_users, "
    "(SELECT group_concat(g.group_id || ' ' || g.name) FROM content_group x JOIN user_group g USING (group_id) WHERE "
    "x.content_id = c.content_id), c.access_buddies, c.state, c.version, c.bytes, c.files, c.description, c.license, "
    "c.tags, c.created_ms, c.published_ms, "
    "c.touched_ms, c.metadata_sha256, c.metadata_bytes, c.piece_bytes, c.generation, c.checksums_sha256, "
    "c.checksums_bytes, c.publisher_node, c.shared_ms, c.entries, c.base_name, c.revision FROM content c JOIN user u "
    "ON u.user_id "
    "= "
    "c.owner_id ";

// The rule of ccm/domain/policy.h (may_see) in SQL. Its parameters: visible_to().
constexpr std::string_view kVisible =
    "EXISTS (SELECT 1 FROM user v WHERE v.user_id = ? AND v.disabled = 0) AND (c.access = 'public' OR c.owner_id = ? "
    "OR (c.access = 'shared' AND ("
    "EXISTS (SELECT 1 FROM content_user x WHERE x.content_id = c.content_id AND x.user_name = ?) OR "
    "EXISTS (SELECT 1 FROM content_group x JOIN membership m USING (group_id) WHERE x.content_id = c.content_id AND "
    "m.user_id = ? AND m.standing IN ('member', 'manager')) OR "
    "(c.access_buddies = 1 AND EXISTS (SELECT 1 FROM buddy b WHERE b.owner_id = c.owner_id AND b.buddy_id = ?))))) ";

std::vector<sql::Value> visible_to(const std::string& viewer, std::string_view viewer_name) {
  return {viewer, viewer, viewer_name, viewer, viewer};
}

// The policy's kShow. Its parameters: shown_to().
const std::string kShown =
    "c.state <> 'purged' AND (c.state <> 'draft' OR c.owner_id = ?) AND " + std::string(kVisible);

std::vector<sql::Value> shown_to(const std::string& viewer, std::string_view viewer_name) {
  std::vector<sql::Value> values = visible_to(viewer, viewer_name);
  values.insert(values.begin(), sql::Value(viewer));
  return values;
}

/// "g_… name,g_… name": neither ids nor names hold a blank or a comma.
Result<std::vector<ccm::GroupTarget>> targets_from(std::string_view text) {
  std::vector<ccm::GroupTarget> targets;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const std::size_t blank = one.find(' ');
    const auto id = GroupId::parse(one.substr(0, blank));
    if (!id || blank == std::string_view::npos) return damaged("a group");
    targets.push_back({*id, std::string(one.substr(blank + 1))});
  }
  std::sort(targets.begin(), targets.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return targets;
}

Result<ccm::Content> content_from(const sql::Row& row) {
  ccm::Content c;
  GT_ASSIGN(c.id, id_at<ContentId>(row, 0));
  GT_ASSIGN(c.owner, id_at<UserId>(row, 1));
  c.owner_name = row.text(2);
  c.name = row.text(3);
  const auto level = ccm::parse_access_level(row.text(4));
  const auto state = ccm::parse_content_state(row.text(8));
  if (!level || !state) return damaged("a content");
  c.access.level = *level;
  GT_ASSIGN(c.access.users, list_from_text(row.text(5)));
  if (!row.is_null(6)) {
    GT_ASSIGN(c.access.groups, targets_from(row.text(6)));
  }
  c.access.buddies = row.boolean(7);
  c.state = *state;
  c.version = row.u32(9);
  c.bytes = row.u64(10);
  c.files = row.u64(11);
  c.description = row.text(12);
  c.license = row.text(13);
  GT_ASSIGN(c.tags, list_from_text(row.text(14)));
  c.created = time_at(row, 15);
  c.published = time_at(row, 16);
  c.touched = time_at(row, 17);
  c.metadata_sha256 = row.text(18);
  c.metadata_bytes = row.u64(19);
  c.piece_bytes = row.u32(20);
  c.generation = row.u32(21);
  c.checksums_sha256 = row.text(22);
  c.checksums_bytes = row.u64(23);
  GT_ASSIGN(c.publisher_node, id_at<NodeId>(row, 24));
  c.shared = time_at(row, 25);
  c.entries = row.u64(26);
  c.base_name = row.text(27);
  c.revision = row.u32(28);
  return c;
}

Result<ccm::Replica> replica_from(const sql::Row& row) {
  ccm::Replica replica;
  GT_ASSIGN(replica.content, id_at<ContentId>(row, 0));
  replica.version = row.u32(1);
  GT_ASSIGN(replica.node, id_at<NodeId>(row, 2));
  replica.node_name = row.text(3);
  replica.owner_name = row.text(4);
  replica.verified_bytes = row.u64(5);
  replica.complete = row.boolean(6);
  replica.last_seen = time_at(row, 7);
  replica.verified = time_at(row, 8);
  return replica;
}

const std::string kSelectReplica =
    "SELECT r.content_id, r.version, r.node_id, n.name, u.name, r.verified_bytes, r.complete, "
    "max(r.last_seen_ms, n.last_seen_ms), r.verified_ms FROM replica r JOIN node n ON n.node_id = r.node_id JOIN user "
    "u ON u.user_id = n.owner_id ";

/// Nodes with a replica of any version, from one to the next by the index: each is looked at once, and null ends them.
const std::string kHolders =
    "WITH RECURSIVE holder(node_id) AS (SELECT min(node_id) FROM replica WHERE content_id = ?1 UNION ALL "
    "SELECT (SELECT min(r.node_id) FROM replica r WHERE r.content_id = ?1 AND r.node_id > h.node_id) FROM holder h "
    "WHERE h.node_id IS NOT NULL) ";

/// As the unique index of names has it; in the same words, so that it is used.
constexpr std::string_view kHasName = "c.state IN ('draft', 'published')";

/// Whoever has withdrawn contents of the name ?1, from one to the next by the index; null ends them.
constexpr std::string_view kWhoWithdrew =
    "WITH RECURSIVE who(id) AS (SELECT min(owner_id) FROM content WHERE name = ?1 AND state = 'withdrawn' UNION ALL "
    "SELECT (SELECT min(x.owner_id) FROM content x WHERE x.name = ?1 AND x.state = 'withdrawn' AND x.owner_id > "
    "who.id) "
    "FROM who WHERE who.id IS NOT NULL) ";
constexpr std::string_view kOwner = "WITH who(id) AS (SELECT user_id FROM user WHERE name = ?3) ";
/// Of each of these the newest ?2 of that name.
constexpr std::string_view kNewestWithdrawn =
    "SELECT x.content_id FROM who CROSS JOIN content x WHERE x.name = ?1 AND x.state = 'withdrawn' AND x.owner_id = "
    "who.id AND x.content_id >= ifnull((SELECT y.content_id FROM content y WHERE y.name = ?1 AND y.state = 'withdrawn' "
    "AND y.owner_id = who.id ORDER BY y.content_id DESC LIMIT 1 OFFSET ?2 - 1), '')";

Error name_conflict_or(const Error& error, const ccm::Content& c) {
  return conflict_or(error,
                     "name " + c.owner_name + "/" + escape_for_display(c.name) + " is taken; choose another name");
}

/// Who stands behind owner, groups (ids), users (names) and buddies, as a kind, a name and how many.
constexpr std::string_view kAudience =
    "WITH named(kind, name, user_id) AS ("
    "SELECT 'group', m.group_id, m.user_id FROM json_each(?2) t JOIN membership m ON m.group_id = t.value "
    "WHERE m.standing IN ('member', 'manager') UNION ALL "
    "SELECT 'user', u.name, u.user_id FROM json_each(?3) t JOIN user u ON u.name = t.value UNION ALL "
    "SELECT 'buddies', '', b.buddy_id FROM buddy b WHERE ?4 AND b.owner_id = ?1), "
    "living AS (SELECT n.kind, n.name, n.user_id FROM named n JOIN user u ON u.user_id = n.user_id "
    "WHERE u.disabled = 0 AND n.user_id <> ?1) "
    "SELECT kind, name, count(*) FROM living GROUP BY kind, name UNION ALL "
    "SELECT 'groups', '', count(DISTINCT user_id) FROM living WHERE kind = 'group' UNION ALL "
    "SELECT 'all', '', count(DISTINCT user_id) FROM living ORDER BY 1, 2";

}  // namespace

Status SqlContents::put_lists(const ccm::Content& content) {
  const std::string id = content.id.str();
  GT_TRY(tx_.exec("DELETE FROM content_tag WHERE content_id = ?", {id}));
  for (const std::string& tag : content.tags) {
    GT_TRY(tx_.exec("INSERT OR IGNORE INTO content_tag(tag, content_id) VALUES (?, ?)", {tag, id}));
  }
  GT_TRY(tx_.exec("DELETE FROM content_user WHERE content_id = ?", {id}));
  for (const std::string& user : content.access.users) {
    GT_TRY(tx_.exec("INSERT OR IGNORE INTO content_user(content_id, user_name) VALUES (?, ?)", {id, user}));
  }
  GT_TRY(tx_.exec("DELETE FROM content_group WHERE content_id = ?", {id}));
  for (const ccm::GroupTarget& group : content.access.groups) {
    GT_TRY(tx_.exec("INSERT OR IGNORE INTO content_group(content_id, group_id) VALUES (?, ?)", {id, group.id.str()}));
  }
  return {};
}

Status SqlContents::insert(const ccm::Content& c) {
  const Status done = tx_.exec(
      "INSERT INTO content(content_id, owner_id, name, name_folded, access, access_users, access_groups, "
      "access_buddies, state, version, bytes, files, description, license, tags, created_ms, published_ms, touched_ms, "
      "metadata_sha256, metadata_bytes, piece_bytes, generation, checksums_sha256, checksums_bytes, publisher_node, "
      "shared_ms, entries, base_name, revision) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {c.id.str(),
       c.owner.str(),
       c.name,
       ccm::fold_case(c.name),
       ccm::access_level_name(c.access.level),
       list_to_text(c.access.users),
       kNoGroups,
       c.access.buddies,
       ccm::content_state_name(c.state),
       c.version,
       c.bytes,
       c.files,
       c.description,
       c.license,
       list_to_text(c.tags),
       c.created.ms,
       c.published.ms,
       c.touched.ms,
       c.metadata_sha256,
       c.metadata_bytes,
       c.piece_bytes,
       c.generation,
       c.checksums_sha256,
       c.checksums_bytes,
       id_or_null(c.publisher_node),
       c.shared.ms,
       c.entries,
       sql::Blob(c.base_name),
       c.revision});
  if (!done) return name_conflict_or(done.error(), c);
  return put_lists(c);
}

Status SqlContents::set_owner_and_name(const ContentId& id, const UserId& owner, const std::string& name) {
  const Status done = tx_.exec("UPDATE content SET owner_id = ?, name = ?, name_folded = ? WHERE content_id = ?",
                               {owner.str(), name, ccm::fold_case(name), id.str()});
  return done ? done : Status(conflict_or(done.error(), "its owner has another content of that name"));
}

Status SqlContents::update(const ccm::Content& c) {
  const Status done = tx_.exec(
      "UPDATE content SET access = ?, access_users = ?, access_groups = ?, access_buddies = ?, state = ?, version = ?, "
      "bytes = ?, files = ?, description = ?, license = ?, tags = ?, published_ms = ?, touched_ms = ?, "
      "metadata_sha256 = ?, metadata_bytes = ?, piece_bytes = ?, generation = ?, checksums_sha256 = ?, "
      "checksums_bytes = ?, publisher_node = ?, shared_ms = ?, entries = ?, base_name = ?, revision = ? WHERE "
      "content_id = ?",
      {ccm::access_level_name(c.access.level),
       list_to_text(c.access.users),
       kNoGroups,
       c.access.buddies,
       ccm::content_state_name(c.state),
       c.version,
       c.bytes,
       c.files,
       c.description,
       c.license,
       list_to_text(c.tags),
       c.published.ms,
       c.touched.ms,
       c.metadata_sha256,
       c.metadata_bytes,
       c.piece_bytes,
       c.generation,
       c.checksums_sha256,
       c.checksums_bytes,
       id_or_null(c.publisher_node),
       c.shared.ms,
       c.entries,
       sql::Blob(c.base_name),
       c.revision,
       c.id.str()});
  if (!done) return name_conflict_or(done.error(), c);
  return put_lists(c);
}

Result<std::optional<ccm::Content>> SqlContents::by_id(const ContentId& id) {
  return tx_.one(kSelect + "WHERE c.content_id = ?", {id.str()}, content_from);
}

Result<std::optional<ccm::Content>> SqlContents::by_owner_and_name(const UserId& owner, std::string_view name) {
  return tx_.one(kSelect + "WHERE c.owner_id = ? AND c.name = ? AND " + std::string(kHasName), {owner.str(), name},
                 content_from);
}

Result<std::optional<ccm::Content>> SqlContents::visible_by_id(const UserId& viewer, std::string_view viewer_name,
                                                               const ContentId& id) {
  const std::string content = id.str(), viewer_id = viewer.str();
  std::vector<sql::Value> values = shown_to(viewer_id, viewer_name);
  values.emplace_back(content);
  GT_ASSIGN(auto found, tx_.all_span(kSelect + "WHERE " + kShown + "AND c.content_id = ?", values, content_from));
  return found.empty() ? std::optional<ccm::Content>() : std::optional(std::move(found.front()));
}

Result<std::vector<ccm::Content>> SqlContents::visible_by_name(const UserId& viewer, std::string_view viewer_name,
                                                               std::string_view owner, std::string_view name,
                                                               std::size_t limit) {
  const std::string viewer_id = viewer.str();
  std::vector<sql::Value> values = shown_to(viewer_id, viewer_name);
  values.emplace_back(name);
  if (!owner.empty()) values.emplace_back(owner);
  values.emplace_back(limit);
  GT_ASSIGN(auto found, tx_.all_span(kSelect + "WHERE " + kShown + "AND c.name = ? AND " + std::string(kHasName) +
                                         (owner.empty() ? "" : " AND u.name = ?") +
                                         " ORDER BY c.state <> 'published', u.name LIMIT ?",
                                     values, content_from));
  if (!found.empty()) return found;
  return withdrawn_by_name(viewer_id, viewer_name, owner, name, limit);
}

Result<std::vector<ccm::Content>> SqlContents::withdrawn_by_name(const std::string& viewer,
                                                                 std::string_view viewer_name, std::string_view owner,
                                                                 std::string_view name, std::size_t limit) {
  std::vector<sql::Value> values = {name, limit};
  if (!owner.empty()) values.emplace_back(owner);
  for (const sql::Value& value : shown_to(viewer, viewer_name)) values.push_back(value);
  values.emplace_back(limit);
  return tx_.all_span(std::string(owner.empty() ? kWhoWithdrew : kOwner) + kSelect + "WHERE c.content_id IN (" +
                          std::string(kNewestWithdrawn) + ") AND " + kShown +
                          "ORDER BY u.name, c.content_id DESC LIMIT ?",
                      values, content_from);
}

namespace {

/// Contents that are shared with the viewer by name, group or list; parameters: name, id, id.
constexpr std::string_view kSharedWith =
    "SELECT content_id FROM content_user WHERE user_name = ? UNION "
    "SELECT x.content_id FROM membership m JOIN content_group x USING (group_id) "
    "WHERE m.user_id = ? AND m.standing IN ('member', 'manager') UNION "
    "SELECT o.content_id FROM buddy b JOIN content o ON o.owner_id = b.owner_id "
    "WHERE b.buddy_id = ? AND o.access_buddies = 1";

}  // namespace

Result<std::vector<ccm::Content>> SqlContents::shared_with(const UserId& viewer, std::string_view viewer_name,
                                                           std::size_t limit) {
  const std::string id = viewer.str();
  GT_ASSIGN(const bool few, is_few(kSharedWith, {viewer_name, id, id}));
  std::string sql =
      kSelect + "WHERE c.state = 'published' AND c.access = 'shared' AND c.owner_id <> ? AND " + std::string(kVisible);
  std::vector<sql::Value> values = visible_to(id, viewer_name);
  values.insert(values.begin(), sql::Value(id));
  if (few) {
    sql += "AND c.content_id IN (" + std::string(kSharedWith) + ") ";
    for (const sql::Value& value : {sql::Value(viewer_name), sql::Value(id), sql::Value(id)}) values.push_back(value);
  }
  values.emplace_back(limit);
  return tx_.all_span(sql + "ORDER BY c.shared_ms DESC, c.content_id DESC LIMIT ?", values, content_from);
}

Result<bool> SqlContents::shares_with_buddies(const UserId& owner) {
  GT_ASSIGN(const auto found, tx_.one("SELECT 1 FROM content WHERE owner_id = ? AND access_buddies = 1 AND state = "
                                      "'published' LIMIT 1",
                                      {owner.str()}, [](const sql::Row& row) { return row.i64(0); }));
  return found.has_value();
}

Result<ccm::Audience> SqlContents::audience(const UserId& owner, const ccm::Access& access) {
  ccm::Audience audience;
  if (access.level == ccm::AccessLevel::kPublic) {
    GT_ASSIGN(const auto all, tx_.one("SELECT count(*) FROM user WHERE disabled = 0 AND user_id <> ?", {owner.str()},
                                      [](const sql::Row& row) { return row.u64(0); }));
    audience.people = all.value_or(0);
  }
  if (access.level != ccm::AccessLevel::kShared) return audience;
  std::vector<std::string> groups;
  std::map<std::string, std::uint64_t> members;
  for (const ccm::GroupTarget& target : access.groups) groups.push_back(target.id.str());
  struct Place {
    std::string kind, name;
    std::uint64_t people = 0;
  };
  GT_ASSIGN(const auto places,
            tx_.all(kAudience, {owner.str(), list_to_text(groups), list_to_text(access.users), access.buddies},
                    [](const sql::Row& row) -> Result<Place> { return Place{row.text(0), row.text(1), row.u64(2)}; }));
  for (const Place& place : places) {
    if (place.kind == "all") audience.people = place.people;
    if (place.kind == "groups") audience.group_people = place.people;
    if (place.kind == "buddies") audience.buddies = place.people;
    if (place.kind == "group") members[place.name] = place.people;
    if (place.kind == "user") audience.users.push_back(place.name);
  }
  for (const ccm::GroupTarget& target : access.groups) {
    audience.groups.push_back({target.name, members[target.id.str()]});
  }
  return audience;
}

Result<bool> SqlContents::is_few(std::string_view rows, sql::Values values) {
  const std::string sql =
      "SELECT count(*) FROM (SELECT 1 FROM (" + std::string(rows) + ") LIMIT " + std::to_string(kFew + 1) + ")";
  GT_ASSIGN(const auto count, tx_.one(sql, values, [](const sql::Row& row) { return row.i64(0); }));
  return count.value_or(0) <= kFew;
}

Result<std::vector<ccm::Content>> SqlContents::search(const ccm::SearchFilter& f) {
  std::string sql = kSelect + "WHERE c.state = 'published' AND " + std::string(kVisible);
  const std::string viewer = f.viewer.str();
  const std::string after = f.after ? f.after->id.str() : std::string();
  const std::string group = f.group ? f.group->str() : std::string();
  std::vector<sql::Value> values = visible_to(viewer, f.viewer_name);
  const auto where = [&](std::string_view condition, const sql::Value& value) {
    sql += "AND " + std::string(condition) + " ";
    values.push_back(value);
  };
  if (!f.folded_query.empty()) where("instr(c.name_folded, ?) > 0", f.folded_query);
  if (!f.owner.empty()) where("u.name = ?", f.owner);
  if (!f.tag.empty()) {
    GT_ASSIGN(const bool few, is_few("SELECT 1 FROM content_tag WHERE tag = ?", {f.tag}));
    where(few ? "c.content_id IN (SELECT content_id FROM content_tag WHERE tag = ?)"
              : "EXISTS (SELECT 1 FROM content_tag t WHERE t.tag = ? AND t.content_id = c.content_id)",
          f.tag);
  }
  if (f.group) {
    GT_ASSIGN(const bool few, is_few("SELECT 1 FROM content_group WHERE group_id = ?", {group}));
    where(few ? "c.content_id IN (SELECT content_id FROM content_group WHERE group_id = ?)"
              : "EXISTS (SELECT 1 FROM content_group y WHERE y.group_id = ? AND y.content_id = c.content_id)",
          group);
  }
  if (f.access) where("c.access = ?", ccm::access_level_name(*f.access));
  if (f.min_bytes > 0)
    where("c.bytes >= ?", static_cast<std::int64_t>(std::min<std::uint64_t>(f.min_bytes, INT64_MAX)));
  if (f.since.ms > 0) where("c.published_ms >= ?", f.since.ms);
  if (f.after) {
    sql += "AND (c.published_ms, c.content_id) < (?, ?) ";
    values.emplace_back(f.after->published.ms);
    values.emplace_back(after);
  }
  sql += "ORDER BY c.published_ms DESC, c.content_id DESC LIMIT ?";
  values.emplace_back(f.limit);
  return tx_.all_span(sql, values, content_from);
}

Result<std::vector<ccm::Content>> SqlContents::stale_drafts(WallTime before, std::size_t limit) {
  return tx_.all(kSelect + "WHERE c.state = 'draft' AND c.touched_ms < ? ORDER BY c.touched_ms LIMIT ?",
                 {before.ms, limit}, content_from);
}

Result<std::vector<ccm::Content>> SqlContents::before_generation(std::uint32_t generation, std::size_t limit) {
  return tx_.all(kSelect + "WHERE c.generation > 0 AND c.generation < ? AND c.state <> 'purged' LIMIT ?",
                 {generation, limit}, content_from);
}

Result<std::map<std::uint32_t, std::uint64_t>> SqlContents::count_by_generation() {
  GT_ASSIGN(const auto counted,
            tx_.all("SELECT generation, count(*) FROM content WHERE generation > 0 AND state <> 'purged' "
                    "GROUP BY generation",
                    {}, [](const sql::Row& row) { return std::pair(row.u32(0), row.u64(1)); }));
  return std::map<std::uint32_t, std::uint64_t>(counted.begin(), counted.end());
}

Result<ccm::ContentStore::Usage> SqlContents::usage(const UserId& owner) {
  GT_ASSIGN(const auto usage,
            tx_.one("SELECT count(*), ifnull(sum(metadata_bytes), 0) FROM ("
                    "SELECT metadata_bytes FROM content WHERE owner_id = ?1 AND state <> 'purged' UNION ALL "
                    "SELECT v.metadata_bytes FROM content c JOIN content_version v USING (content_id) "
                    "WHERE c.owner_id = ?1 AND c.state <> 'purged')",
                    {owner.str()}, [](const sql::Row& row) { return Usage{row.u64(0), row.u64(1)}; }));
  return usage.value_or(Usage{});
}

Result<std::uint64_t> SqlContents::count_created(const UserId& owner, WallTime since) {
  GT_ASSIGN(const auto count,
            tx_.one("SELECT count(*) FROM content WHERE owner_id = ? AND created_ms >= ? AND state <> 'purged'",
                    {owner.str(), since.ms}, [](const sql::Row& row) { return row.u64(0); }));
  return count.value_or(0);
}

Status SqlReplicas::put(const ccm::Replica& r) {
  return tx_.exec(
      "INSERT OR REPLACE INTO replica(content_id, version, node_id, verified_bytes, complete, last_seen_ms, "
      "verified_ms) VALUES (?, ?, ?, ?, ?, ?, ?)",
      {r.content.str(), r.version, r.node.str(), r.verified_bytes, r.complete, r.last_seen.ms, r.verified.ms});
}

Result<std::optional<ccm::Replica>> SqlReplicas::find(const ContentId& content, std::uint32_t version,
                                                      const NodeId& node) {
  return tx_.one(kSelectReplica + "WHERE r.content_id = ? AND r.version = ? AND r.node_id = ?",
                 {content.str(), version, node.str()}, replica_from);
}

Result<std::vector<ccm::Replica>> SqlReplicas::of_content(const ContentId& content, std::uint32_t version) {
  return tx_.all(
      kSelectReplica + "WHERE r.content_id = ? AND r.version = ? ORDER BY r.complete DESC, n.name, r.node_id",
      {content.str(), version}, replica_from);
}

Result<std::vector<NodeId>> SqlReplicas::holders(const ContentId& content) {
  return tx_.all(kHolders + "SELECT node_id FROM holder WHERE node_id IS NOT NULL ORDER BY node_id", {content.str()},
                 [](const sql::Row& row) { return id_at<NodeId>(row, 0); });
}

Result<std::vector<UserId>> SqlReplicas::people(const ContentId& content) {
  return tx_.all(kHolders + "SELECT DISTINCT n.owner_id FROM holder h JOIN node n USING (node_id) ORDER BY n.owner_id",
                 {content.str()}, [](const sql::Row& row) { return id_at<UserId>(row, 0); });
}

Status SqlReplicas::remove(const ContentId& content, std::uint32_t version, const NodeId& node) {
  return tx_.exec("DELETE FROM replica WHERE content_id = ? AND version = ? AND node_id = ?",
                  {content.str(), version, node.str()});
}

}  // namespace gridtorrent::tracker::store
