#pragma once

#include "client/files/file_work.h"
#include "client/files/layout.h"

namespace gridtorrent::client::files {

/// Collects faults up to the report's limit; the count goes on. Not thread-safe.
void add_fault(VerifyReport& report, const std::string& path, std::string reason);

/// Links are made when all else has arrived.
enum class LinksAre : std::uint8_t { kThere, kYetToCome };

/// Kinds, sizes and targets of the wanted entries below an open folder (-1: there is none), without reading any data.
/// `sound[i]` tells whether entry i is worth hashing; faults go to the report.
std::vector<bool> check_kinds_and_sizes(int parent, const metainfo::Manifest& manifest, const std::vector<bool>& wanted,
                                        LinksAre links, VerifyReport& report, const LookUp& by = {});

/// FileWork::look_at.
Result<PlaceReport> look_at_tree(const Place& parent, const metainfo::Manifest& manifest,
                                 const std::vector<bool>& wanted);

/// FileWork::verify with the number of threads and the memory to use.
Result<VerifyReport> verify_tree(const Place& parent, const metainfo::Manifest& manifest,
                                 const std::vector<bool>& wanted, unsigned threads, std::uint64_t memory_bytes,
                                 const ProgressFn& progress, std::stop_token stop);

}  // namespace gridtorrent::client::files
