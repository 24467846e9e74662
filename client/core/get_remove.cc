// Removing what a get has put on the disk.
#include <algorithm>

#include "client/core/get_job.h"
#include "client/core/node_steps.h"
#include "common/text.h"

namespace gridtorrent::client {

/// Of what a get joins, that which came by other means stays somebody's own.
void GetFlow::note_adopted(TransferRow& row, const TransferRow& part, const metainfo::Manifest& manifest) {
  // Of what a task adds to, a person's part is somebody's own.
  const bool all_own = part.kind != TransferKind::kGet || (part.root.empty() && !row.root.empty());
  const auto held = held_entries(manifest, part.globs, part.lost);
  row.adopted.resize(manifest.entries.size());
  for (std::size_t i = 0; i < row.adopted.size(); ++i) {
    const bool is_held = !held || held->empty() || (*held)[i];
    const bool was_adopted = i < part.adopted.size() && part.adopted[i];
    const bool is_own = all_own && is_held && manifest.entries[i].kind != metainfo::EntryKind::kFolder;
    if (is_own || was_adopted) row.adopted[i] = true;
  }
}

/// Where some of an earlier version lay there before, or was published from there, the version that took its place is
/// somebody's own, too.
void GetFlow::note_owner(TransferRow& row, const TransferRow& earlier) {
  const bool came_with_a_get =
      earlier.kind == TransferKind::kGet && std::ranges::find(earlier.adopted, true) == earlier.adopted.end();
  if (!came_with_a_get) row.kind = TransferKind::kAttach;
}

/// Another content of this node has its files there: at the same place, above it, or, unless a get put it there, below.
Status GetFlow::nobody_elses(const TransferRow& row) {
  const auto below = [](const std::string& path, const std::string& folder) {
    return path.size() > folder.size() && path.starts_with(folder) && (folder == "/" || path[folder.size()] == '/');
  };
  const std::string place = join_path(row.target, row.base_name);
  const auto lock = c_.book.lock();
  for (const auto& [id, other] : c_.book.all()) {
    const TransferRow& one = other->row;
    const bool has_files = one.step == TransferStep::kHash || one.step == TransferStep::kHold ||
                           one.step == TransferStep::kAttach ||
                           (one.step == TransferStep::kFailed && !one.stamp.empty());
    if (id == row.id || one.content.id == row.content.id || !has_files || one.base_name.empty()) continue;
    const std::string its = join_path(one.target, one.base_name);
    const bool within = below(its, place) && one.kind != TransferKind::kGet;
    if (its != place && !below(place, its) && !within) continue;
    return Error{Code::kConflict, escape_for_display(place) + " holds files of transfer " + id.str() + " (" +
                                      display_name(one) + "), too, so nothing there is taken away"};
  }
  return {};
}

Result<RemovedFiles> GetFlow::remove_placed(const TransferRow& row, bool look_only) {
  GT_TRY(nobody_elses(row));
  GT_ASSIGN(const MetadataPtr metadata, c_.metadata(row));
  const auto& manifest = metadata->manifest;
  GT_ASSIGN(std::vector<bool> wanted, held_entries(manifest, row.globs, row.lost));
  if (wanted.empty()) wanted.assign(manifest.entries.size(), true);
  for (std::size_t i = 0; i < row.adopted.size() && i < wanted.size(); ++i) {
    if (row.adopted[i]) wanted[i] = false;
  }
  GT_ASSIGN(RemovedFiles removed, c_.ports.files.remove_placed(row.place(), manifest, wanted, look_only));
  if (removed.kept > 0) removed.first_kept = join_path(row.target, removed.first_kept);
  return removed;
}

/// Or it would be forgotten, and its disk come back with the files.
Status GetFlow::are_placed(const TransferRow& row) {
  GT_ASSIGN(const MetadataPtr metadata, c_.metadata(row));
  GT_ASSIGN(const std::vector<bool> held, held_entries(metadata->manifest, row.globs, row.lost));
  if (c_.are_away(row, metadata->manifest, held)) return not_there(row);
  return {};
}

Result<RemovedFiles> GetFlow::removable(const TransferId& id) {
  const auto copy = copy_of(id);
  if (!copy || copy->row.step == TransferStep::kForgotten) return unknown_transfer(id);
  GT_TRY(may_remove(copy->row));
  GT_TRY(are_placed(copy->row));
  return remove_placed(copy->row, true);
}

}  // namespace gridtorrent::client
