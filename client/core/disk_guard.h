#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/place.h"
#include "common/result.h"
#include "metainfo/manifest.h"

namespace gridtorrent::client {

struct FolderEntry {
  std::string name;  ///< bytes
  metainfo::EntryKind kind = metainfo::EntryKind::kFile;
  std::uint64_t size = 0;
};

/// The node's own look at its disk: what a task may reach, and whether files are still the ones it knows. Implemented
/// in client/security. Thread-safe; methods block for the time of some system calls a file.
class DiskGuard {
 public:
  virtual ~DiskGuard() = default;

  /// `relative` below `root`: kDenied where a symbolic link stands in the way, whatever it leads to. The last
  /// components may be missing where `must_exist` is false. What was found can be another thing a moment later, so each
  /// use of the place opens it anew from the root.
  virtual Result<Place> resolve_below(const std::string& root, const std::string& relative, bool must_exist) = 0;
  /// Files and folders of a folder, sorted by name; at most 10,000 (kExhausted beyond).
  virtual Result<std::vector<FolderEntry>> list(const Place& folder) = 0;
  virtual bool exists(const Place& place) = 0;
  /// As exists, with the reason: kNotFound, or kDenied where the node may not look there.
  virtual Status find(const Place& place) = 0;

  /// A short text that changes when a wanted file or link below `parent` is replaced, resized or written to (sizes,
  /// times, inodes). kNotFound names the first that is missing. `wanted` is per entry; empty: all.
  virtual Result<std::string> stamp(const Place& parent, const metainfo::Manifest& manifest,
                                    const std::vector<bool>& wanted) = 0;
};

}  // namespace gridtorrent::client
