#pragma once

#include <vector>

#include "client/core/file_work.h"

namespace gridtorrent::client::files {

/// FileWork::remove_placed.
Result<RemovedFiles> remove_placed_files(const Place& parent, const metainfo::Manifest& manifest,
                                         const std::vector<bool>& wanted, bool look_only);

}  // namespace gridtorrent::client::files
