#include "tracker/store/columns.h"
#include "tracker/store/tables.h"

// Nodes with their endpoints.

namespace gridtorrent::tracker::store {

namespace {

const std::string kSelect =
    "SELECT n.node_id, n.owner_id, u.name, n.name, n.public_key, n.ephemeral, n.created_ms, n.last_seen_ms, "
    "n.program_version, n.last_sequence, n.acked_sequence, n.roots_told, n.share_roots, n.download_roots FROM node n "
    "JOIN user u ON u.user_id = n.owner_id ";

Result<NodeRecord> node_from(const sql::Row& row) {
  NodeRecord node;
  GT_ASSIGN(node.id, id_at<NodeId>(row, 0));
  GT_ASSIGN(node.owner, id_at<UserId>(row, 1));
  node.owner_name = row.text(2);
  node.name = row.text(3);
  node.public_key = row.text(4);
  node.ephemeral = row.boolean(5);
  node.created = time_at(row, 6);
  node.last_seen = time_at(row, 7);
  node.program_version = row.text(8);
  node.last_sequence = row.u64(9);
  node.acked_sequence = row.u64(10);
  if (row.boolean(11)) {
    node.roots.emplace();
    GT_ASSIGN(node.roots->shares, list_from_text(row.text(12)));
    GT_ASSIGN(node.roots->downloads, list_from_text(row.text(13)));
  }
  return node;
}

Result<NodeEndpoint> endpoint_from(const sql::Row& row) {
  NodeEndpoint endpoint;
  endpoint.endpoint = {row.text(0), static_cast<std::uint16_t>(row.i64(1)), row.boolean(2), row.text(3)};
  const std::int64_t reachability = row.i64(4);
  if (reachability < 0 || reachability > static_cast<std::int64_t>(Reachability::kUnreachable)) {
    return damaged("an endpoint");
  }
  endpoint.reachability = static_cast<Reachability>(reachability);
  endpoint.declared = row.boolean(5);
  return endpoint;
}

}  // namespace

Status SqlNodes::insert(const NodeRecord& n) {
  const Status done = tx_.exec(
      "INSERT INTO node(node_id, owner_id, name, public_key, ephemeral, created_ms, last_seen_ms, program_version, "
      "last_sequence, acked_sequence) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {n.id.str(), n.owner.str(), n.name, sql::Blob(n.public_key), n.ephemeral, n.created.ms, n.last_seen.ms,
       n.program_version, n.last_sequence, n.acked_sequence});
  if (!done) return conflict_or(done.error(), "a node named " + n.name + " or with this key is enrolled already");
  if (n.roots) GT_TRY(set_roots(n.id, *n.roots));
  return set_endpoints(n.id, n.endpoints);
}

Status SqlNodes::add_endpoints(NodeRecord& node) {
  GT_ASSIGN(node.endpoints, tx_.all("SELECT address, port, tls, path, reachability, declared FROM node_endpoint "
                                    "WHERE node_id = ? ORDER BY position",
                                    {node.id.str()}, endpoint_from));
  return {};
}

Result<std::optional<NodeRecord>> SqlNodes::first(std::string_view where, sql::Values values) {
  GT_ASSIGN(auto node, tx_.one(kSelect + std::string(where), values, node_from));
  if (node) GT_TRY(add_endpoints(*node));
  return node;
}

Result<std::optional<NodeRecord>> SqlNodes::by_id(const NodeId& id) {
  return first("WHERE n.node_id = ?", {id.str()});
}

Result<std::optional<NodeRecord>> SqlNodes::by_owner_and_name(const UserId& owner, std::string_view name) {
  return first("WHERE n.owner_id = ? AND n.name = ?", {owner.str(), name});
}

Result<std::optional<NodeRecord>> SqlNodes::by_public_key(std::string_view der) {
  return first("WHERE n.public_key = ?", {sql::Blob(der)});
}

Result<std::vector<NodeRecord>> SqlNodes::of_owner(const UserId& owner, std::string_view after, std::size_t limit) {
  GT_ASSIGN(auto nodes, tx_.all(kSelect + "WHERE n.owner_id = ? AND n.name > ? ORDER BY n.name LIMIT ?",
                                {owner.str(), after, limit}, node_from));
  for (NodeRecord& node : nodes) GT_TRY(add_endpoints(node));
  return nodes;
}

Result<std::vector<NodeId>> SqlNodes::ids_of_owner(const UserId& owner, std::size_t limit) {
  return tx_.all("SELECT node_id FROM node WHERE owner_id = ? LIMIT ?", {owner.str(), limit},
                 [](const sql::Row& row) { return id_at<NodeId>(row, 0); });
}

Result<std::vector<std::pair<NodeId, std::string>>> SqlNodes::keys_of(const std::vector<UserId>& owners, WallTime now) {
  std::vector<std::string> ids;
  ids.reserve(owners.size());
  for (const UserId& owner : owners) ids.push_back(owner.str());
  const std::string list = list_to_text(ids);
  return tx_.all(
      "SELECT n.node_id, n.public_key FROM json_each(?) o JOIN node n ON n.owner_id = o.value WHERE EXISTS (SELECT 1 "
      "FROM token t WHERE t.node_id = n.node_id AND t.revoked_ms = 0 AND t.expires_ms > ?)",
      {list, now.ms}, [](const sql::Row& row) -> Result<std::pair<NodeId, std::string>> {
        GT_ASSIGN(const NodeId id, id_at<NodeId>(row, 0));
        return std::pair(id, row.text(1));
      });
}

Status SqlNodes::set_endpoints(const NodeId& id, const std::vector<NodeEndpoint>& endpoints) {
  GT_TRY(tx_.exec("DELETE FROM node_endpoint WHERE node_id = ?", {id.str()}));
  std::int64_t position = 0;
  for (const NodeEndpoint& e : endpoints) {
    GT_TRY(
        tx_.exec("INSERT INTO node_endpoint(node_id, position, address, port, tls, path, reachability, declared) "
                 "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                 {id.str(), position++, e.endpoint.address, e.endpoint.port, e.endpoint.tls, e.endpoint.path,
                  static_cast<int>(e.reachability), e.declared}));
  }
  return {};
}

Status SqlNodes::set_roots(const NodeId& id, const NodeRoots& roots) {
  return tx_.exec("UPDATE node SET roots_told = 1, share_roots = ?, download_roots = ? WHERE node_id = ?",
                  {list_to_text(roots.shares), list_to_text(roots.downloads), id.str()});
}

Status SqlNodes::set_seen(const NodeId& id, WallTime now, std::string_view program_version) {
  return tx_.exec(
      "UPDATE node SET last_seen_ms = ?1, program_version = CASE ?2 WHEN '' THEN program_version ELSE ?2 END "
      "WHERE node_id = ?3",
      {now.ms, program_version, id.str()});
}

Result<std::vector<NodeId>> SqlNodes::stale_ephemeral(WallTime before, std::size_t limit) {
  return tx_.all("SELECT node_id FROM node WHERE ephemeral = 1 AND last_seen_ms < ? ORDER BY last_seen_ms LIMIT ?",
                 {before.ms, limit}, [](const sql::Row& row) { return id_at<NodeId>(row, 0); });
}

Status SqlNodes::set_name(const NodeId& id, std::string_view name) {
  const Status done = tx_.exec("UPDATE node SET name = ? WHERE node_id = ?", {name, id.str()});
  if (!done) return conflict_or(done.error(), "a node named " + std::string(name) + " is enrolled already");
  return {};
}

Status SqlNodes::remove(const NodeId& id) {
  return tx_.exec("DELETE FROM node WHERE node_id = ?", {id.str()});
}

}  // namespace gridtorrent::tracker::store
