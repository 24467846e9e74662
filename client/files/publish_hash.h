#pragma once

#include "client/files/file_work.h"

namespace gridtorrent::client::files {

/// FileWork::scan_tree.
Result<ScannedTree> scan_for_publishing(const Place& path, const WalkRules& rules, const ScanFn& counting,
                                        std::stop_token stop);

/// FileWork::hash_tree with the number of threads and the memory to use.
Result<HashedTree> hash_for_publishing(const HashRequest& request, unsigned threads, std::uint64_t memory_bytes,
                                       const ProgressFn& progress, std::stop_token stop);

}  // namespace gridtorrent::client::files
