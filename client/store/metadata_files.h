#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>

#include "common/result.h"

namespace gridtorrent::client::store {

/// Writes beside, syncs, renames over `path` and syncs the folder; 0600. kDisk names the path and the reason.
Status write_file_durably(const std::string& path, const std::string& content);
/// The whole file; nothing where there is none.
Result<std::optional<std::string>> read_whole_file(const std::string& path);

/// A document is written before the transfer that names it, so a younger one may still be named.
inline constexpr std::chrono::hours kStillNamed{1};
/// What cannot be removed stays, and is tried at the next start.
void remove_if_old(const std::string& path);
/// Of the files in a folder, those that `named` lacks: documents, and what a crash left of writing one.
void remove_old_but(const std::set<std::string>& named, const std::string& folder);

}  // namespace gridtorrent::client::store
