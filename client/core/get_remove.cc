// Removing what a get has put on the disk.
#include <algorithm>

#include "client/core/get_job.h"
#include "client/core/node_steps.h"

namespace gridtorrent::client {

/// Of what a get joins, that which came by other means stays somebody's own.
void GetFlow::note_adopted(TransferRow& row, const TransferRow& part, const metainfo::Manifest& manifest) {
  const bool all_own = part.kind != TransferKind::kGet;
  const auto held = held_entries(manifest, part.globs, part.lost);
  row.adopted.resize(manifest.entries.size());
  for (std::size_t i = 0; i < row.adopted.size(); ++i) {
    const bool is_held = !held || held->empty() || (*held)[i];
    const bool was_adopted = i < part.adopted.size() && part.adopted[i];
    if ((all_own && is_held) || was_adopted) row.adopted[i] = true;
  }
}

/// Where some of an earlier version lay there before, or was published from there, the version that took its place is
/// somebody's own, too.
void GetFlow::note_owner(TransferRow& row, const TransferRow& earlier) {
  const bool came_with_a_get =
      earlier.kind == TransferKind::kGet && std::ranges::find(earlier.adopted, true) == earlier.adopted.end();
  if (!came_with_a_get) row.kind = TransferKind::kAttach;
}

Result<RemovedFiles> GetFlow::remove_placed(const TransferRow& row, bool look_only) {
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

Result<RemovedFiles> GetFlow::removable(const TransferId& id) {
  const auto copy = copy_of(id);
  if (!copy || copy->row.step == TransferStep::kForgotten) return unknown_transfer(id);
  GT_TRY(may_remove(copy->row));
  return remove_placed(copy->row, true);
}

}  // namespace gridtorrent::client
