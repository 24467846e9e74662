#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/crypto/digest.h"
#include "base/rpc/limits.h"
#include "common/result.h"
#include "common/unique_fd.h"

namespace gridtorrent::rpc {

struct UploadLimits {
  /// A larger document goes on in a file. Most are smaller: a metadata document has some 60 bytes a file and 20 a
  /// piece.
  std::size_t in_memory = std::size_t{256} << 10;
  std::size_t memory = std::size_t{64} << 20, memory_of_holder = std::size_t{8} << 20;
  /// Of a holder: four of the largest documents (128 MiB) at a time.
  std::size_t disk = std::size_t{4} << 30, disk_of_holder = std::size_t{512} << 20;
  /// Documents that have come whole are read into memory to be checked, for a second or so: four of the largest at a
  /// time, and two of one holder.
  std::size_t checked = std::size_t{512} << 20, checked_of_holder = std::size_t{256} << 20;
};

/// Where uploads under way keep what has come. A holder is a user, whose share is limited. Thread-safe.
class UploadSpool {
 public:
  /// Makes the folder (0700) where it is missing, and empties it: what lies there is of a process that was killed.
  static Result<std::unique_ptr<UploadSpool>> open(const std::string& folder, const UploadLimits& limits = {});

 private:
  friend class ReceivedDocument;
  UploadSpool(std::string folder, const UploadLimits& limits);
  /// A file without a name: it goes with its descriptor, however the process ends.
  Result<UniqueFd> make_file();

  const std::string folder_;
  const std::size_t in_memory_;
  MemoryBudget memory_, disk_, checked_;
  std::atomic<std::uint64_t> files_made_ = 0;
};

/// A document that arrives in chunks: in memory while it is small, in a file of the spool when it is not. What it took
/// of the spool's shares it gives back at the end. One thread at a time; the spool must outlive it.
class ReceivedDocument {
 public:
  /// `holder`: whose shares it takes.
  ReceivedDocument(UploadSpool& spool, std::string holder) : spool_(spool), holder_(std::move(holder)) {}
  ~ReceivedDocument();
  ReceivedDocument(const ReceivedDocument&) = delete;
  ReceivedDocument& operator=(const ReceivedDocument&) = delete;

  /// kBusy: uploads hold all the room, or the holder's have their share; kDisk.
  Status append(std::string_view data);
  std::size_t size() const { return size_; }
  /// All of it, once it has come; valid for as long as the document. kBusy: too many are checked at the moment; kDisk.
  Result<std::string_view> whole();
  /// Of what has come; call once, at the end.
  std::string sha256_hex();

 private:
  Status move_to_disk();
  Status write_to_disk(std::string_view data);

  UploadSpool& spool_;
  const std::string holder_;
  std::string bytes_;  ///< what is in memory: all, or after whole()
  UniqueFd file_;
  std::size_t size_ = 0;
  std::size_t memory_taken_ = 0, disk_taken_ = 0, checked_taken_ = 0;
  crypto::Sha256Stream hash_;
};

}  // namespace gridtorrent::rpc
