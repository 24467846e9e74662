#pragma once

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/crypto/digest.h"
#include "client/files/file_identity.h"
#include "client/files/file_system.h"
#include "client/files/layout.h"
#include "client/files/leaf_tree.h"
#include "metainfo/manifest.h"

namespace gridtorrent::client::files {

/// The leaves of one file that begin in a batch, reduced (TreeShape::reduce).
struct LeafRun {
  std::size_t slot = 0;
  std::uint64_t first_leaf = 0;
  std::uint64_t count = 0;
  std::vector<crypto::Sha256Digest> nodes;
};

/// A file that could not be read as expected; only where that is tolerated.
struct SlotFailure {
  std::size_t slot = 0;
  Error error;
};

struct BatchOutput {
  std::vector<crypto::Sha1Digest> pieces;
  std::vector<LeafRun> runs;
  std::vector<SlotFailure> failures;
};

/// What all workers of one run share; immutable while they work.
struct BatchContext {
  const metainfo::Manifest& manifest;
  const Layout& layout;
  int root = -1;                  ///< the folder that holds BASE
  std::uint64_t batch_bytes = 0;  ///< a multiple of piece_bytes, if that is set
  std::uint32_t piece_bytes = 0;  ///< 0: no SHA-1
  /// Per slot, to notice files that change; empty: only sizes count.
  std::span<const FileIdentity> identities;
  LookUp look_up = {};
  bool tolerate_failures = false;  ///< a file that cannot be read is noted and skipped
  std::stop_token stop;
};

/// The runs (without digests) that belong to [begin, end) of the stream: a leaf belongs where it begins.
std::vector<LeafRun> leaf_runs(const Layout& layout, std::uint64_t begin, std::uint64_t end);

/// Reads one batch of the stream once and hashes its pieces (SHA-1) and blocks (SHA-256), many at a time. One object a
/// thread; not thread-safe.
class BatchWorker {
 public:
  explicit BatchWorker(const BatchContext& context);
  Result<BatchOutput> run(std::uint64_t begin, std::uint64_t end);
  std::string_view backend() const { return hasher_.backend(); }

 private:
  struct Read;
  Status read_extent(const Read& read);
  Status check_identity(int fd, const Slot& slot, std::size_t index) const;
  void queue_leaves(const Read& read, std::uint64_t from_byte, std::uint64_t to_byte);
  void flush_leaves();
  void drop_leaves_after(std::size_t count);
  void hash_pieces(std::uint64_t bytes, BatchOutput& out);
  std::string path_of(const Slot& slot) const;

  const BatchContext& context_;
  crypto::ManyHasher hasher_;
  FolderCache folders_;
  std::unique_ptr<std::uint8_t[]> buffer_;
  std::vector<std::span<const std::uint8_t>> pending_;
  std::vector<crypto::Sha256Digest> leaves_;
};

}  // namespace gridtorrent::client::files
