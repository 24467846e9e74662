#pragma once

#include <string>

#include "common/result.h"

namespace gridtorrent::client::files {

/// A staged BASE that takes the place of another of the same name, in one step. What stands where after a crash is told
/// by a note in the staging folder: the inode of the staged BASE, and the mode of the other.
struct Replacement {
  int staging = -1;  ///< open folder that holds the staged BASE, afterwards the other one
  int target = -1;   ///< open folder that holds BASE
  std::string base_name;
  std::string note;  ///< name of the note in the staging folder
  std::string staging_path, target_path;
  unsigned mode = 0;           ///< that the staged BASE is to have
  unsigned replaced_mode = 0;  ///< of the other one, as it came; 0: not known
  bool durable = false;
};

/// kUnsupported where the filesystem of an open folder cannot exchange two names (NFS, some FUSE).
Status check_can_exchange(int folder, const std::string& shown_path);

/// The exchange was done: the staged BASE stands at its place.
bool is_replaced(const Replacement& replacement);

/// Exchanges both, unless that was done. The staged BASE has mode_at_place() then, and what its owner needed for the
/// exchange. kConflict where there is nothing to replace; kDisk.
Status replace_base(const Replacement& replacement);

/// The mode that BASE is to have. Where a person had changed that of the one at the place, what they had closed is not
/// opened.
unsigned mode_at_place(const Replacement& replacement);

/// Undoes replace_base, with the mode that BASE had. Nothing where it was not done.
Status put_back_base(const Replacement& replacement);

}  // namespace gridtorrent::client::files
