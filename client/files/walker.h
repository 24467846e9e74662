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
  std::vector<bool> elsewhere;           ///< per entry, on another filesystem than BASE; empty: none is
  std::string parent;                    ///< the folder that holds BASE
  UniqueFd parent_fd;
  LookUp look_up;  ///< how the files below are found
  ScanFigures figures;
  std::vector<std::string> warnings;
  std::vector<std::string> excluded;
  std::vector<std::string> followed;  ///< as ScannedTree
};

struct WalkWish {
  WalkRules rules;
  bool strict = false;     ///< what would be skipped is an error
  const ScanFn& counting;  ///< may be empty
};

/// Lists what would be published from `place` by the rules of the manifest and of the wish: regular files, folders and,
/// where they are kept, symbolic links; where they are followed, what they lead to. Other links, sockets, FIFOs and
/// devices are skipped, counted and warned of (with `strict`: kInvalid); what the rules or the folder's ignore file
/// leave out is counted apart. A kept link that leads outside, a followed one to a folder that it lies in, another
/// filesystem below (but through a followed link), an unreadable file, a folder without entries and what is beyond the
/// limits are errors that name it. kDenied: links are to be followed below a named root.
Result<WalkedTree> walk(const Place& place, const WalkWish& wish, std::stop_token stop);

}  // namespace gridtorrent::client::files
