#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "client/files/batch_worker.h"
#include "client/files/checkpoint.h"
#include "client/files/progress_meter.h"

namespace gridtorrent::client::files {

/// Where the results of a run go. Called by one thread at a time.
struct HashSink {
  std::function<void(std::uint64_t first_piece, std::span<const crypto::Sha1Digest>)> on_pieces;
  std::function<void(std::size_t slot, const crypto::Sha256Digest& root)> on_root;
  std::function<void(std::size_t slot, const Error&)> on_failure;
};

/// How a run is cut among threads within a budget of memory.
struct HashPlan {
  unsigned threads = 1;
  std::uint64_t batch_bytes = 0;
};
/// `piece_bytes` 0: no pieces, batches may be of any size.
HashPlan plan_hash(std::uint64_t total_bytes, std::uint32_t piece_bytes, unsigned threads, std::uint64_t memory_bytes);

/// Hashes the stream of a layout, or parts of it, on `plan.threads` threads, batch by batch, each byte read once. Lives
/// for one run.
class HashRun {
 public:
  /// `context.batch_bytes` is taken from the plan; `checkpoint` may be null. `parts` are hashed, in order; where there
  /// are pieces they begin and end at their borders.
  HashRun(BatchContext context, HashPlan plan, HashSink sink, Checkpoint* checkpoint, ProgressMeter& meter,
          std::vector<Range> parts);
  /// The same of the whole stream.
  HashRun(BatchContext context, HashPlan plan, HashSink sink, Checkpoint* checkpoint, ProgressMeter& meter);
  /// Blocks. The first error stops all.
  Status run();
  std::uint64_t resumed_bytes() const { return resumed_bytes_; }
  /// Why progress could not be noted, which hashing itself survives; success otherwise.
  Status checkpoint_status() const { return checkpoint_status_; }

 private:
  void work();
  std::optional<Range> next_batch();
  Status one_batch(BatchWorker& worker, std::uint64_t begin, std::uint64_t end);
  void note(std::uint64_t begin, std::uint64_t end, const BatchOutput& output);
  void deliver(std::uint64_t begin, const BatchOutput& output);

  BatchContext context_;
  const HashPlan plan_;
  const HashSink sink_;
  Checkpoint* const checkpoint_;
  ProgressMeter& meter_;
  std::atomic<std::uint64_t> resumed_bytes_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;  // below
  const std::vector<Range> parts_;
  std::size_t part_ = 0;     ///< the one that the next batch is cut from
  std::uint64_t taken_ = 0;  ///< of that, from its beginning
  Status outcome_;
  Status checkpoint_status_;
  std::map<std::size_t, LeafTree> trees_;
};

}  // namespace gridtorrent::client::files
