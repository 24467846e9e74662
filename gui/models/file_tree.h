#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gridtorrent::gui {

/// A file of a content; the path is relative, its parts separated by '/', and is bytes that others wrote.
struct FileRow {
  std::string path;
  std::uint64_t bytes = 0;
  std::uint32_t place = 0;  ///< in the manifest
};

/// The files of a content as folders within folders, without a node for each: the files lie sorted in one array, and a
/// folder is a stretch of it. Up to a million files; making one sorts them (give it to another thread), a folder's
/// entries cost a binary search each, its sum of bytes two reads. Immutable once made, any thread.
class FileTree {
 public:
  /// A folder or a file. `first` to before `end` are the files below it; of a file, that is itself.
  struct Entry {
    std::size_t first = 0, end = 0;
    std::size_t name_begin = 0, name_end = 0;  ///< its last part within the path of `first`
    bool folder = false;
  };

  FileTree() = default;
  explicit FileTree(std::vector<FileRow> files);

  /// Those files whose path has this part, ASCII case ignored, as a tree of its own; `which` gets where each of them is
  /// in this tree.
  FileTree narrowed(std::string_view part, std::vector<std::size_t>& which) const;

  std::size_t files() const { return files_.size(); }
  std::uint64_t bytes() const { return sums_.empty() ? 0 : sums_.back(); }
  /// What lies directly below the top, or below a folder: folders and files by name.
  std::vector<Entry> entries() const;
  std::vector<Entry> entries(const Entry& folder) const;
  std::string_view name(const Entry& entry) const;
  std::string_view path(const Entry& entry) const;
  const FileRow& file(std::size_t index) const { return files_[index]; }
  std::uint64_t bytes(const Entry& entry) const { return sums_[entry.end] - sums_[entry.first]; }

 private:
  std::vector<Entry> entries(std::size_t first, std::size_t end, std::size_t prefix) const;

  std::vector<FileRow> files_;
  std::vector<std::uint64_t> sums_;  // of the bytes of all files before
};

}  // namespace gridtorrent::gui
