#pragma once

#include <memory>

#include "client/core/file_work.h"

namespace gridtorrent::client::files {

struct FileWorkOptions {
  unsigned hash_threads = 0;  ///< for publishing and verifying; 0: one a core
  unsigned verifier_threads =
      0;  ///< low-priority threads that check files while they arrive; 0: a quarter of the cores
  std::uint64_t hash_memory_bytes = std::uint64_t{64} << 20;  ///< read buffers of one hash or verify, all threads
  /// Write data to the disk before a get is called done. Off: a power loss soon after can leave torn files.
  bool durable = true;
};

std::unique_ptr<FileWork> make_file_work(FileWorkOptions options = {});

/// kDisk with the free and the needed bytes if a folder's filesystem cannot take `needed_bytes` more.
Status check_free_space(const DiskSpace& space, std::uint64_t needed_bytes, std::string_view folder);

}  // namespace gridtorrent::client::files
