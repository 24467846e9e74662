#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "base/crypto/digest.h"
#include "client/files/file_system.h"
#include "client/files/file_work.h"
#include "client/files/layout.h"
#include "client/files/leaf_tree.h"
#include "client/files/progress_meter.h"

namespace gridtorrent::client::files {

/// RootVerifier over the page cache. A subtree (1 MiB of a file, more in very large files) is read back and hashed as
/// soon as all pieces that touch it are verified; 32 bytes are kept of it until the file is complete. Every member
/// below `mutex_` belongs to it; the digests of a claimed subtree belong to the thread that claimed it.
class PageCacheVerifier final : public RootVerifier {
 public:
  struct Options {
    unsigned threads = 1;         ///< low priority, while pieces arrive
    unsigned finish_threads = 1;  ///< normal priority, for what is left
    bool start_write_back =
        true;  ///< asks the kernel to write hashed ranges to disk early, so that the last sync is short
  };

  PageCacheVerifier(Place root_folder, const metainfo::VersionMetadata& metadata, std::vector<bool> wanted,
                    Options options);
  ~PageCacheVerifier() override;

  void piece_verified(std::uint32_t piece) override;
  Result<VerifyReport> finish(std::stop_token stop, const ProgressFn& progress) override;

 private:
  /// Neighbouring subtrees of one file, to be read in one go.
  struct Claim {
    std::size_t slot = 0;
    std::uint64_t first = 0;
    std::uint64_t count = 0;
  };
  struct OpenFile {
    std::vector<crypto::Sha256Digest> subtrees;
    std::vector<bool> claimed;
    std::uint64_t done = 0;
  };
  struct FileState {
    std::unique_ptr<OpenFile> open;  ///< from the first claim to the verdict
    bool judged = false;
    bool sound = false;
  };
  class Reader;

  std::vector<Claim> claims_of_piece(std::uint32_t piece);
  std::vector<Claim> open_claims();
  bool covered(const Slot& slot, std::uint64_t begin, std::uint64_t end) const;
  void claim(std::size_t slot, std::uint64_t subtree, std::vector<Claim>& claims);
  void settle(const Claim& claim, const std::vector<crypto::Sha256Digest>& values);
  void give_back(const Claim& claim);
  std::uint64_t bytes_of(const Claim& claim) const;
  void hash_open_claims(const std::vector<Claim>& claims, int root, std::stop_token stop, ProgressMeter& meter,
                        VerifyReport& report);

  const Place root_folder_;
  const metainfo::VersionMetadata& metadata_;
  const std::vector<bool> wanted_;
  const Options options_;
  const Layout all_files_;  ///< pieces are cut from all files, wanted or not

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<bool> piece_ok_;
  std::deque<std::uint32_t> queue_;  ///< at most one entry a piece
  std::vector<FileState> files_;
  std::vector<std::jthread> threads_;
};

}  // namespace gridtorrent::client::files
