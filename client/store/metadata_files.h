#pragma once

#include <optional>
#include <string>

#include "common/result.h"

namespace gridtorrent::client::store {

/// Writes beside, syncs, renames over `path` and syncs the folder; 0600. kDisk names the path and the reason.
Status write_file_durably(const std::string& path, const std::string& content);
/// The whole file; nothing where there is none.
Result<std::optional<std::string>> read_whole_file(const std::string& path);

}  // namespace gridtorrent::client::store
