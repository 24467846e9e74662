#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/core/node.h"

namespace gridtorrent::client {

/// "ROOT:relative/path" taken apart.
struct RootPath {
  std::string root;      ///< absolute path of the named root
  std::string relative;  ///< below it; empty: the root itself
};

/// The names that the server is told: the first 32 of those that it takes (at most 64 bytes of text).
std::vector<std::string> names_to_tell(const std::vector<NamedRoot>& roots);

/// Finds the root and refuses what could lead out of it: absolute paths, "..", ".", empty components, NUL. `kind`
/// ("share", "download") is for the message. kDenied for an unknown root, naming those there are. Empty text means the
/// first root where `first_by_default`.
Result<RootPath> parse_root_path(std::string_view text, const std::vector<NamedRoot>& roots, std::string_view kind,
                                 bool first_by_default);

}  // namespace gridtorrent::client
