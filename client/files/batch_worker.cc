#include "client/files/batch_worker.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/check.h"

namespace gridtorrent::client::files {

namespace {

using metainfo::kBlockBytes;

// Small enough that the blocks are still in the core's cache when they are hashed.
constexpr std::uint64_t kReadBytes = std::uint64_t{512} << 10;
constexpr std::size_t kPendingLeaves = 64;

std::uint64_t blocks_up_to(std::uint64_t bytes) {
  return (bytes + kBlockBytes - 1) / kBlockBytes;
}

Error cancelled() {
  return {Code::kCancelled, "stopped on request"};
}

}  // namespace

/// One file's part of a batch: `length` bytes from `offset` go to `at`; the last leaf may need `tail` bytes that belong
/// to the next batch.
struct BatchWorker::Read {
  std::size_t slot = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::uint64_t tail = 0;
  std::uint8_t* at = nullptr;
};

std::vector<LeafRun> leaf_runs(const Layout& layout, std::uint64_t begin, std::uint64_t end) {
  std::vector<LeafRun> runs;
  for (const Extent& extent : layout.extents(begin, end)) {
    const std::uint64_t first = blocks_up_to(extent.offset);
    const std::uint64_t last = blocks_up_to(extent.offset + extent.length);
    if (first < last) runs.push_back({extent.slot, first, last - first, {}});
  }
  return runs;
}

BatchWorker::BatchWorker(const BatchContext& context)
    : context_(context),
      folders_(context.root, context.look_up),
      buffer_(std::make_unique_for_overwrite<std::uint8_t[]>(context.batch_bytes + kBlockBytes)) {}

std::string BatchWorker::path_of(const Slot& slot) const {
  return metainfo::full_path(context_.manifest, context_.manifest.entries[slot.entry]);
}

Status BatchWorker::check_identity(int fd, const Slot& slot, std::size_t index) const {
  struct stat info{};
  if (::fstat(fd, &info) != 0) return errno_error(errno, path_of(slot), "cannot be examined");
  const bool expected = context_.identities.empty()
                            ? S_ISREG(info.st_mode) && static_cast<std::uint64_t>(info.st_size) == slot.size
                            : FileIdentity::of(info) == context_.identities[index];
  if (expected) return {};
  return Error{Code::kConflict, quoted(path_of(slot)) + " changed while it was being read; try again when it rests"};
}

Status BatchWorker::read_extent(const Read& read) {
  const Slot& slot = context_.layout.slots()[read.slot];
  const UniqueFd fd = folders_.open_file(path_of(slot), O_RDONLY);
  if (!fd) return errno_error(errno, path_of(slot), "cannot be read");
  GT_TRY(check_identity(fd.get(), slot, read.slot));
  const std::uint64_t whole = read.length + read.tail;
  if (whole > kReadBytes) ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  std::uint64_t filled = 0;
  std::uint64_t queued = blocks_up_to(read.offset) * kBlockBytes - read.offset;
  while (filled < whole) {
    if (context_.stop.stop_requested()) return cancelled();
    const ssize_t got = ::pread(fd.get(), read.at + filled, std::min(kReadBytes, whole - filled),
                                static_cast<off_t>(read.offset + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error(errno, path_of(slot), "cannot be read");
    if (got == 0) return Error{Code::kConflict, quoted(path_of(slot)) + " became shorter while it was being read"};
    filled += static_cast<std::uint64_t>(got);
    // Only whole blocks, but for the last one of the file.
    const std::uint64_t last_border = (read.offset + filled) / kBlockBytes * kBlockBytes;
    const std::uint64_t usable = filled == whole ? whole : std::max(last_border, read.offset) - read.offset;
    if (usable > queued) {
      queue_leaves(read, queued, usable);
      queued = usable;
    }
  }
  // A write while we read shows in the times, unless it came with the tick of the clock that opened the file.
  return check_identity(fd.get(), slot, read.slot);
}

void BatchWorker::queue_leaves(const Read& read, std::uint64_t from_byte, std::uint64_t to_byte) {
  for (std::uint64_t at = from_byte; at < to_byte; at += kBlockBytes) {
    pending_.emplace_back(read.at + at, std::min<std::uint64_t>(kBlockBytes, to_byte - at));
    if (pending_.size() == kPendingLeaves) flush_leaves();
  }
}

void BatchWorker::flush_leaves() {
  const std::size_t done = leaves_.size();
  leaves_.resize(done + pending_.size());
  hasher_.sha256(pending_, std::span(leaves_).subspan(done));
  pending_.clear();
}

void BatchWorker::drop_leaves_after(std::size_t count) {
  if (count >= leaves_.size()) {
    pending_.resize(count - leaves_.size());
  } else {
    pending_.clear();
    leaves_.resize(count);
  }
}

void BatchWorker::hash_pieces(std::uint64_t bytes, BatchOutput& out) {
  std::vector<std::span<const std::uint8_t>> pieces;
  for (std::uint64_t at = 0; at < bytes; at += context_.piece_bytes)
    pieces.emplace_back(buffer_.get() + at, std::min<std::uint64_t>(context_.piece_bytes, bytes - at));
  out.pieces.resize(pieces.size());
  hasher_.sha1(pieces, out.pieces);
}

Result<BatchOutput> BatchWorker::run(std::uint64_t begin, std::uint64_t end) {
  BatchOutput out;
  pending_.clear();
  leaves_.clear();
  out.runs = leaf_runs(context_.layout, begin, end);
  std::size_t run = 0;
  std::uint64_t at = 0;
  std::vector<Extent> extents = context_.layout.extents(begin, end);
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const Extent& extent = extents[i];
    const Slot& slot = context_.layout.slots()[extent.slot];
    const std::uint64_t extent_end = extent.offset + extent.length;
    const bool owns_leaves = run < out.runs.size() && out.runs[run].slot == extent.slot;
    Read read{extent.slot, extent.offset, extent.length, 0, buffer_.get() + at};
    // Only the last extent can end inside a block that goes on.
    if (owns_leaves) read.tail = std::min(blocks_up_to(extent_end) * kBlockBytes, slot.size) - extent_end;
    GT_CHECK(read.tail == 0 || i + 1 == extents.size());
    const std::size_t leaves_before = leaves_.size() + pending_.size();
    if (Status status = read_extent(read); !status) {
      if (!context_.tolerate_failures || status.error().code == Code::kCancelled) return status.error();
      out.failures.push_back({extent.slot, status.error()});
      drop_leaves_after(leaves_before);
      if (owns_leaves) out.runs.erase(out.runs.begin() + static_cast<std::ptrdiff_t>(run));
      at += extent.length;
      continue;
    }
    at += extent.length;
    if (owns_leaves) ++run;
  }
  flush_leaves();
  std::size_t next = 0;
  for (LeafRun& leaf_run : out.runs) {
    const TreeShape shape(context_.layout.slots()[leaf_run.slot].size);
    GT_CHECK(next + leaf_run.count <= leaves_.size());
    leaf_run.nodes = shape.reduce(leaf_run.first_leaf, std::span(leaves_).subspan(next, leaf_run.count));
    next += leaf_run.count;
  }
  GT_CHECK(next == leaves_.size());
  if (context_.piece_bytes != 0) hash_pieces(end - begin, out);
  return out;
}

}  // namespace gridtorrent::client::files
