#pragma once

#include <set>
#include <string_view>
#include <vector>

#include "metainfo/manifest.h"

namespace gridtorrent::client::files {

/// Which entries of a manifest a transfer is about: all, or those chosen, and the folders above them.
/// Immutable.
class Selection {
 public:
  /// `wanted` is per entry; empty, or every file and link: all. The manifest must outlive this.
  Selection(const metainfo::Manifest& manifest, const std::vector<bool>& wanted)
      : included_(manifest.entries.size(), true) {
    const auto is_folder = [&](std::size_t i) { return manifest.entries[i].kind == metainfo::EntryKind::kFolder; };
    for (std::size_t i = 0; i < wanted.size(); ++i) all_ = all_ && (wanted[i] || is_folder(i));
    if (all_) return;
    std::set<std::string_view> folders;
    for (std::size_t i = 0; i < included_.size(); ++i) {
      if (!is_folder(i)) included_[i] = wanted[i];
      if (wanted[i]) add_folders_of(manifest.entries[i].path, folders);
    }
    for (std::size_t i = 0; i < included_.size(); ++i)
      if (is_folder(i)) included_[i] = wanted[i] || folders.contains(manifest.entries[i].path);
  }

  bool includes(std::size_t entry) const { return included_[entry]; }
  bool is_all() const { return all_; }
  const std::vector<bool>& included() const { return included_; }

 private:
  static void add_folders_of(std::string_view path, std::set<std::string_view>& folders) {
    for (std::size_t slash = path.rfind('/'); slash != std::string_view::npos; slash = path.rfind('/')) {
      path = path.substr(0, slash);
      if (!folders.insert(path).second) return;
    }
    folders.insert(std::string_view{});
  }

  bool all_ = true;
  std::vector<bool> included_;
};

}  // namespace gridtorrent::client::files
