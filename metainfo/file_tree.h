#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "metainfo/manifest.h"

namespace gridtorrent::metainfo {

/// The entries of a manifest in the order in which people read them: a folder before what is in it, and that before
/// what follows the folder. Sums cost no walk, and pages none but over what
/// lies directly in a folder. Immutable once made; may be read from several
/// threads.
class FileTree {
 public:
  /// Sorts, which takes a second for a million entries.
  explicit FileTree(Manifest manifest);

  enum class Form : std::uint8_t {
    kFiles,   ///< files and links below a place
    kTree,    ///< folders as well, the place itself first
    kFolder,  ///< what lies directly in the place; of a file itself
  };
  struct Line {
    std::uint32_t index = 0;  ///< in the manifest's entries
    std::uint64_t bytes = 0;  ///< of a folder: of all files below it
    std::uint64_t files = 0;  ///< of a folder: files and links below it
  };
  struct Listing {
    std::uint32_t top = 0;  ///< the place's index in the manifest
    std::vector<Line> lines;
    std::size_t all_lines = 0;           ///< of the whole list
    std::uint64_t files = 0, bytes = 0;  ///< below the place
  };

  /// The lines from number `first` on, at most `most` of them. `path`: below BASE, or BASE's name, or with that before
  /// it, which is looked for last; a slash at its end says nothing. kNotFound names it.
  Result<Listing> list(std::string_view path, Form form, std::size_t first, std::size_t most) const;

  const Manifest& manifest() const { return manifest_; }
  /// What it takes in memory, roughly.
  std::size_t memory_bytes() const { return memory_bytes_; }

 private:
  const ManifestEntry& at(std::size_t place) const { return manifest_.entries[order_[place]]; }
  Result<std::size_t> find(std::string_view path) const;
  Line line(std::size_t place) const;
  void find_ends();

  Manifest manifest_;
  std::vector<std::uint32_t> order_;         ///< places → indexes
  std::vector<std::uint32_t> ends_;          ///< by place: behind the last that is below it, or behind itself
  std::vector<std::uint64_t> bytes_before_;  ///< by place, one more than there are
  std::vector<std::uint32_t> files_before_;  ///< the same of files and links
  std::size_t memory_bytes_ = 0;
};

}  // namespace gridtorrent::metainfo
