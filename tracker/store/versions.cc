#include "tracker/store/columns.h"
#include "tracker/store/tables.h"

// Versions of contents but the newest of each.

namespace gridtorrent::tracker::store {

namespace {

const std::string kSelect =
    "SELECT v.content_id, v.version, v.sealed, v.bytes, v.files, v.entries, v.base_name, v.piece_bytes, "
    "v.metadata_sha256, v.metadata_bytes, v.checksums_sha256, v.checksums_bytes, v.publisher_node, v.published_ms, "
    "v.touched_ms FROM content_version v ";

Result<ccm::VersionRecord> version_from(const sql::Row& row) {
  ccm::VersionRecord v;
  GT_ASSIGN(v.content, id_at<ContentId>(row, 0));
  v.number = row.u32(1);
  v.sealed = row.boolean(2);
  v.bytes = row.u64(3);
  v.files = row.u64(4);
  v.entries = row.u64(5);
  v.base_name = row.text(6);
  v.piece_bytes = row.u32(7);
  v.metadata_sha256 = row.text(8);
  v.metadata_bytes = row.u64(9);
  v.checksums_sha256 = row.text(10);
  v.checksums_bytes = row.u64(11);
  GT_ASSIGN(v.publisher_node, id_at<NodeId>(row, 12));
  v.published = time_at(row, 13);
  v.touched = time_at(row, 14);
  return v;
}

}  // namespace

Status SqlVersions::put(const ccm::VersionRecord& v) {
  return tx_.exec(
      "INSERT OR REPLACE INTO content_version(content_id, version, sealed, bytes, files, entries, base_name, "
      "piece_bytes, metadata_sha256, metadata_bytes, checksums_sha256, checksums_bytes, publisher_node, published_ms, "
      "touched_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {v.content.str(), v.number, v.sealed, v.bytes, v.files, v.entries, sql::Blob(v.base_name), v.piece_bytes,
       v.metadata_sha256, v.metadata_bytes, v.checksums_sha256, v.checksums_bytes, id_or_null(v.publisher_node),
       v.published.ms, v.touched.ms});
}

Result<std::optional<ccm::VersionRecord>> SqlVersions::find(const ContentId& content, std::uint32_t number) {
  return tx_.one(kSelect + "WHERE v.content_id = ? AND v.version = ?", {content.str(), number}, version_from);
}

Result<std::optional<ccm::VersionRecord>> SqlVersions::draft_of(const ContentId& content) {
  return tx_.one(kSelect + "WHERE v.content_id = ? AND v.sealed = 0", {content.str()}, version_from);
}

Result<std::vector<ccm::VersionRecord>> SqlVersions::sealed_of(const ContentId& content, std::size_t limit) {
  return tx_.all(kSelect + "WHERE v.content_id = ? AND v.sealed = 1 ORDER BY v.version DESC LIMIT ?",
                 {content.str(), limit}, version_from);
}

Status SqlVersions::remove(const ContentId& content, std::uint32_t number) {
  return tx_.exec("DELETE FROM content_version WHERE content_id = ? AND version = ?", {content.str(), number});
}

Result<std::vector<ccm::VersionRecord>> SqlVersions::stale_drafts(WallTime before, std::size_t limit) {
  return tx_.all(kSelect + "WHERE v.sealed = 0 AND v.touched_ms < ? ORDER BY v.touched_ms LIMIT ?", {before.ms, limit},
                 version_from);
}

Result<std::vector<ccm::VersionRecord>> SqlVersions::unheld(WallTime before, std::size_t limit) {
  return tx_.all(kSelect +
                     "WHERE v.sealed = 1 AND v.touched_ms < ? AND NOT EXISTS (SELECT 1 FROM replica r WHERE "
                     "r.content_id = v.content_id AND r.version = v.version) ORDER BY v.touched_ms LIMIT ?",
                 {before.ms, limit}, version_from);
}

}  // namespace gridtorrent::tracker::store
