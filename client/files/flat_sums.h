#pragma once

#include "client/files/file_work.h"

namespace gridtorrent::client::files {

/// FileWork::flat_sha256.
Result<std::vector<std::optional<crypto::Sha256Digest>>> flat_sums(const Place& parent,
                                                                   const metainfo::Manifest& manifest,
                                                                   const std::string& known, const ProgressFn& progress,
                                                                   std::stop_token stop);

}  // namespace gridtorrent::client::files
