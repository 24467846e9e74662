#pragma once

#include <string>

#include "client/files/file_system.h"
#include "client/files/selection.h"
#include "common/result.h"
#include "metainfo/manifest.h"

namespace gridtorrent::client::files {

/// A staged tree that goes beside what lies at its place already.
struct Merge {
  int staging = -1;  ///< open folder that holds the staged BASE
  int target = -1;   ///< open folder that holds BASE, or will
  const metainfo::Manifest& manifest;
  const Selection& selection;  ///< what is staged
  std::string staging_path, target_path;
  bool durable = false;
  std::uint32_t umask = 0;  ///< StagingPlan::umask
};

/// kConflict, naming it, where a selected file has something in its place, a selected folder something that is none, or
/// a selected link anything but that link.
Status nothing_in_the_way(const Merge& merge);

/// Makes the folders that are missing and renames file by file; never replaces anything (kConflict, naming it; what was
/// moved before stays). Then every selected folder that is new, or as it came, gets its mode and time. Can be done
/// again after a crash or a failure at any point: where `interrupted`, a file that is no longer staged but stands in
/// its place was moved.
Status merge_tree(const Merge& merge, bool interrupted);

/// Every selected file stands in its place with its size, every selected link in its: what a merge leaves, once its
/// staging folder is gone.
bool is_merged(const Merge& merge);

/// The mode and the published time of one entry. kConflict where it is of another kind by now.
Status set_mode_and_time(int folder, const std::string& name, const metainfo::ManifestEntry& entry, ModeChange mode,
                         const std::string& shown);

}  // namespace gridtorrent::client::files
