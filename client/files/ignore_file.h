#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "metainfo/glob.h"

namespace gridtorrent::client::files {

inline constexpr const char* kIgnoreFile = ".gridtorrentignore";
inline constexpr std::size_t kMaxIgnoreFileBytes = std::size_t{64} << 10;

/// What a .gridtorrentignore says: a part of the language of .gitignore (docs/operating.md). Immutable.
class IgnoreFile {
 public:
  IgnoreFile() = default;
  /// kInvalid names the line that holds what is not understood: '[', '\', or NUL.
  static Result<IgnoreFile> parse(std::string_view text);

  /// The line by which a path below the folder is left out; nothing: it is not. The last line that means it counts.
  std::optional<std::size_t> ignored_by(std::string_view path, bool is_folder) const;

 private:
  struct Rule {
    std::size_t line = 0;
    metainfo::Glob pattern{""};
    bool takes_back = false;  ///< '!'
    bool folders_only = false;
  };
  std::vector<Rule> rules_;
};

}  // namespace gridtorrent::client::files
