#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gui/models/file_tree.h"

namespace gridtorrent::gui {

/// So many patterns a get may carry: its node tries each of them on each file.
inline constexpr std::size_t kMostGlobs = 1000;

/// The patterns of a get (`gridtorrent get --file`) that mean exactly the chosen files of a tree.
struct GlobChoice {
  std::vector<std::string> globs;  ///< valid UTF-8; empty: all files
  bool too_many = false;           ///< it would take more than kMostGlobs; these are none
  /// A file that is not chosen and would come, too: patterns cannot tell it from one that is chosen. Only with names
  /// that have '*' or '?', or are not UTF-8.
  std::optional<std::string> unwanted;
};

/// `chosen` has an entry a file of the tree. Whole folders become one pattern. At least one file must be chosen. Pure.
GlobChoice globs_of(const FileTree& tree, const std::vector<bool>& chosen);

}  // namespace gridtorrent::gui
