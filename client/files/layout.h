#pragma once

#include <cstdint>
#include <vector>

#include "metainfo/manifest.h"

namespace gridtorrent::client::files {

/// One file with bytes, and where it begins in the stream of all of them.
struct Slot {
  std::uint32_t entry = 0;  ///< index in the manifest
  std::uint64_t start = 0;
  std::uint64_t size = 0;
};

/// A part of one file.
struct Extent {
  std::size_t slot = 0;
  std::uint64_t offset = 0;  ///< in the file
  std::uint64_t length = 0;
};

/// A part of the stream of all files.
struct Range {
  std::uint64_t begin = 0, end = 0;
  std::uint64_t size() const { return end - begin; }
  friend bool operator==(const Range&, const Range&) = default;
};

/// The bytes of all files with size > 0, in the manifest's order, as one stream: what pieces are cut from. Immutable.
class Layout {
 public:
  Layout() = default;
  /// Only entries with `included[entry]` where that is not empty.
  explicit Layout(const metainfo::Manifest& manifest, const std::vector<bool>& included = {});

  const std::vector<Slot>& slots() const { return slots_; }
  std::uint64_t total_bytes() const { return total_; }
  /// The parts of files that make up [begin, end) of the stream; end is clipped.
  std::vector<Extent> extents(std::uint64_t begin, std::uint64_t end) const;

 private:
  std::vector<Slot> slots_;
  std::uint64_t total_ = 0;
};

}  // namespace gridtorrent::client::files
