#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "client/core/file_work.h"
#include "client/files/file_identity.h"
#include "common/result.h"
#include "common/unique_fd.h"
#include "metainfo/manifest.h"

namespace gridtorrent::client::files {

/// A folder or file as it lies on the disk, before hashing.
struct WalkedTree {
  metainfo::Manifest manifest;           ///< without roots
  std::vector<FileIdentity> identities;  ///< per entry
  std::string parent;                    ///< the folder that holds BASE
  UniqueFd parent_fd;
  ScanFigures figures;
  std::vector<std::string> warnings;
};

/// Lists what would be published from `path` by the rules of the manifest: regular files and folders; symbolic links,
/// sockets, FIFOs and devices are skipped, counted and warned of (with `strict`: kInvalid). Another filesystem below,
/// an unreadable file, a folder without entries and what is beyond the limits are errors that name it. `counting` may
/// be empty.
Result<WalkedTree> walk(const Place& place, bool strict, const ScanFn& counting, std::stop_token stop);

}  // namespace gridtorrent::client::files
