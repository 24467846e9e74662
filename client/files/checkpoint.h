#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "client/files/batch_worker.h"
#include "common/result.h"
#include "common/unique_fd.h"

namespace gridtorrent::client::files {

/// Finished batches of a publish, in an append-only file, so that hashing goes on after an interruption. A record is
/// named by a digest of all that its result depends on (paths, sizes, mtimes, inodes, offsets, piece size), so a record
/// of files that changed since is never found; each carries a checksum, and a torn end is cut off. Thread-safe.
class Checkpoint {
 public:
  using Key = std::array<std::uint8_t, 16>;

  /// Reads what is there, or makes the file (mode 0600). An unusable file is an error (kDisk).
  static Result<std::unique_ptr<Checkpoint>> open(const std::string& path);
  /// What the result of a batch depends on.
  static Key key(const BatchContext& context, std::uint64_t begin, std::uint64_t end);

  /// The result of that batch, if it is known and whole.
  std::optional<BatchOutput> find(const BatchContext& context, std::uint64_t begin, std::uint64_t end);
  Status append(const Key& key, const BatchOutput& output);
  /// After success.
  void remove();

 private:
  struct Place {
    std::uint64_t offset = 0;
    std::uint32_t length = 0;
  };
  Checkpoint(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  Status load();

  const std::string path_;
  const UniqueFd fd_;
  std::mutex mutex_;
  std::map<Key, Place> records_;
  std::uint64_t end_ = 0;
};

}  // namespace gridtorrent::client::files
