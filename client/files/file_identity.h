#pragma once

#include <sys/stat.h>

#include <cstdint>

#include "client/files/file_system.h"

namespace gridtorrent::client::files {

/// What tells that a file is still the same and unaltered.
struct FileIdentity {
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;

  static FileIdentity of(const struct stat& info) {
    return {info.st_ino, static_cast<std::uint64_t>(info.st_size), to_ns(info.st_mtim), to_ns(info.st_ctim)};
  }
};

}  // namespace gridtorrent::client::files
