#include "client/files/root_verifier.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "client/files/selection.h"
#include "client/files/verify.h"

namespace gridtorrent::client::files {

namespace {

using crypto::Sha256Digest;
using metainfo::kBlockBytes;

constexpr std::uint64_t kReadBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kClaimBytes = std::uint64_t{8} << 20;

}  // namespace

/// Reads ranges back and hashes them. One object a thread.
class PageCacheVerifier::Reader {
 public:
  Reader(const PageCacheVerifier& verifier, int root)
      : verifier_(verifier), folders_(root), buffer_(std::make_unique_for_overwrite<std::uint8_t[]>(kReadBytes)) {}

  /// One value a subtree.
  Result<std::vector<Sha256Digest>> hash(const Claim& claim, std::stop_token stop) {
    const Slot& slot = verifier_.all_files_.slots()[claim.slot];
    const metainfo::Manifest& manifest = verifier_.metadata_.manifest;
    const std::string path = metainfo::full_path(manifest, manifest.entries[slot.entry]);
    const UniqueFd fd = folders_.open_file(path, O_RDONLY);
    if (!fd) return errno_error(errno, path, "cannot be read");
    const TreeShape shape(slot.size);
    std::vector<Sha256Digest> values;
    for (std::uint64_t s = claim.first; s < claim.first + claim.count; ++s) {
      leaves_.clear();
      const std::uint64_t end = std::min(shape.subtree_end(s) * kBlockBytes, slot.size);
      for (std::uint64_t at = shape.subtree_begin(s) * kBlockBytes; at < end;) {
        if (stop.stop_requested()) return Error{Code::kCancelled, "stopped on request"};
        const std::uint64_t length = std::min(kReadBytes, end - at);
        GT_TRY(read(fd.get(), at, length, path));
        hash_blocks(length);
        at += length;
      }
      values.push_back(shape.subtree(leaves_));
    }
    if (verifier_.options_.start_write_back) {
      const std::uint64_t begin = shape.subtree_begin(claim.first) * kBlockBytes;
      const std::uint64_t length = shape.subtree_end(claim.first + claim.count - 1) * kBlockBytes - begin;
      ::sync_file_range(fd.get(), static_cast<off_t>(begin), static_cast<off_t>(length), SYNC_FILE_RANGE_WRITE);
    }
    return values;
  }

 private:
  Status read(int fd, std::uint64_t offset, std::uint64_t length, const std::string& path) {
    std::uint64_t filled = 0;
    while (filled < length) {
      const ssize_t got = ::pread(fd, buffer_.get() + filled, length - filled, static_cast<off_t>(offset + filled));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return errno_error(errno, path, "cannot be read");
      if (got == 0) return Error{Code::kCorrupt, "ends at byte " + std::to_string(offset + filled)};
      filled += static_cast<std::uint64_t>(got);
    }
    return {};
  }

  void hash_blocks(std::uint64_t length) {
    blocks_.clear();
    for (std::uint64_t at = 0; at < length; at += kBlockBytes)
      blocks_.emplace_back(buffer_.get() + at, std::min<std::uint64_t>(kBlockBytes, length - at));
    const std::size_t before = leaves_.size();
    leaves_.resize(before + blocks_.size());
    hasher_.sha256(blocks_, std::span(leaves_).subspan(before));
  }

  const PageCacheVerifier& verifier_;
  crypto::ManyHasher hasher_;
  FolderCache folders_;
  std::unique_ptr<std::uint8_t[]> buffer_;
  std::vector<std::span<const std::uint8_t>> blocks_;
  std::vector<Sha256Digest> leaves_;
};

PageCacheVerifier::PageCacheVerifier(Place root_folder, const metainfo::VersionMetadata& metadata,
                                     std::vector<bool> wanted, Options options)
    : root_folder_(std::move(root_folder)),
      metadata_(metadata),
      wanted_(Selection(metadata.manifest, wanted).included()),
      options_(options),
      all_files_(metadata.manifest),
      files_(all_files_.slots().size()) {
  if (!metadata_.segments.empty()) piece_ok_.resize(metadata_.segments.front().piece_count());
  for (unsigned i = 0; i < options_.threads; ++i)
    threads_.emplace_back([this](std::stop_token stop) {
      name_thread("gt-verify", true);
      const UniqueFd root = open_place(root_folder_, O_PATH | O_DIRECTORY);
      // Without the folder, finish() says what is missing.
      if (!root) return;
      Reader reader(*this, root.get());
      while (true) {
        std::vector<Claim> claims;
        {
          std::unique_lock lock(mutex_);
          if (!changed_.wait(lock, stop, [this] { return !queue_.empty(); })) return;
          const std::uint32_t piece = queue_.front();
          queue_.pop_front();
          claims = claims_of_piece(piece);
        }
        for (const Claim& claim : claims) {
          const Result<std::vector<Sha256Digest>> values = reader.hash(claim, stop);
          const std::lock_guard lock(mutex_);
          // Whatever went wrong is looked at again by finish(), which reports it.
          values ? settle(claim, *values) : give_back(claim);
        }
      }
    });
}

PageCacheVerifier::~PageCacheVerifier() = default;

void PageCacheVerifier::piece_verified(std::uint32_t piece) {
  const std::lock_guard lock(mutex_);
  if (piece >= piece_ok_.size() || piece_ok_[piece]) return;
  piece_ok_[piece] = true;
  queue_.push_back(piece);
  changed_.notify_one();
}

bool PageCacheVerifier::covered(const Slot& slot, std::uint64_t begin, std::uint64_t end) const {
  const std::uint64_t piece_bytes = metadata_.segments.front().piece_bytes;
  const std::uint64_t last = (slot.start + end - 1) / piece_bytes;
  for (std::uint64_t piece = (slot.start + begin) / piece_bytes; piece <= last; ++piece)
    if (!piece_ok_[piece]) return false;
  return true;
}

void PageCacheVerifier::claim(std::size_t slot, std::uint64_t subtree, std::vector<Claim>& claims) {
  FileState& file = files_[slot];
  if (file.judged) return;
  const TreeShape shape(all_files_.slots()[slot].size);
  if (!file.open) {
    file.open = std::make_unique<OpenFile>();
    file.open->subtrees.resize(shape.subtrees());
    file.open->claimed.resize(shape.subtrees());
  }
  if (file.open->claimed[subtree]) return;
  file.open->claimed[subtree] = true;
  if (!claims.empty() && claims.back().slot == slot && claims.back().first + claims.back().count == subtree &&
      (claims.back().count + 1) * shape.width() * kBlockBytes <= kClaimBytes) {
    ++claims.back().count;
  } else {
    claims.push_back({slot, subtree, 1});
  }
}

std::vector<PageCacheVerifier::Claim> PageCacheVerifier::claims_of_piece(std::uint32_t piece) {
  std::vector<Claim> claims;
  const std::uint64_t piece_bytes = metadata_.segments.front().piece_bytes;
  for (const Extent& extent : all_files_.extents(piece * piece_bytes, (piece + 1) * piece_bytes)) {
    const Slot& slot = all_files_.slots()[extent.slot];
    if (!wanted_[slot.entry]) continue;
    const TreeShape shape(slot.size);
    const std::uint64_t subtree_bytes = shape.width() * kBlockBytes;
    const std::uint64_t last = (extent.offset + extent.length - 1) / subtree_bytes;
    for (std::uint64_t s = extent.offset / subtree_bytes; s <= last; ++s)
      if (covered(slot, s * subtree_bytes, std::min((s + 1) * subtree_bytes, slot.size))) claim(extent.slot, s, claims);
  }
  return claims;
}

std::vector<PageCacheVerifier::Claim> PageCacheVerifier::open_claims() {
  std::vector<Claim> claims;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    if (!wanted_[all_files_.slots()[i].entry]) continue;
    const std::uint64_t subtrees = TreeShape(all_files_.slots()[i].size).subtrees();
    for (std::uint64_t s = 0; s < subtrees; ++s) claim(i, s, claims);
  }
  return claims;
}

void PageCacheVerifier::settle(const Claim& claim, const std::vector<Sha256Digest>& values) {
  FileState& file = files_[claim.slot];
  OpenFile& open = *file.open;
  std::copy(values.begin(), values.end(), open.subtrees.begin() + static_cast<std::ptrdiff_t>(claim.first));
  open.done += claim.count;
  if (open.done < open.subtrees.size()) return;
  const Slot& slot = all_files_.slots()[claim.slot];
  file.judged = true;
  file.sound = TreeShape(slot.size).root(open.subtrees) == metadata_.manifest.entries[slot.entry].root;
  file.open.reset();
}

void PageCacheVerifier::give_back(const Claim& claim) {
  OpenFile& open = *files_[claim.slot].open;
  for (std::uint64_t s = claim.first; s < claim.first + claim.count; ++s) open.claimed[s] = false;
}

std::uint64_t PageCacheVerifier::bytes_of(const Claim& claim) const {
  const Slot& slot = all_files_.slots()[claim.slot];
  const TreeShape shape(slot.size);
  return std::min(shape.subtree_end(claim.first + claim.count - 1) * kBlockBytes, slot.size) -
         shape.subtree_begin(claim.first) * kBlockBytes;
}

void PageCacheVerifier::hash_open_claims(const std::vector<Claim>& claims, int root, std::stop_token stop,
                                         ProgressMeter& meter, VerifyReport& report) {
  std::atomic<std::size_t> next{0};
  std::vector<bool> failed(files_.size());
  const auto work = [&] {
    Reader reader(*this, root);
    for (std::size_t i = next++; i < claims.size() && !stop.stop_requested(); i = next++) {
      const Result<std::vector<Sha256Digest>> values = reader.hash(claims[i], stop);
      meter.add(bytes_of(claims[i]));
      const std::lock_guard lock(mutex_);
      if (values) {
        settle(claims[i], *values);
        continue;
      }
      give_back(claims[i]);
      if (values.error().code == Code::kCancelled || failed[claims[i].slot]) continue;
      failed[claims[i].slot] = true;
      const auto& entry = metadata_.manifest.entries[all_files_.slots()[claims[i].slot].entry];
      add_fault(report, metainfo::full_path(metadata_.manifest, entry), values.error().message);
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < options_.finish_threads; ++i)
    threads.emplace_back([&] {
      name_thread("gt-verify");
      work();
    });
}

Result<VerifyReport> PageCacheVerifier::finish(std::stop_token stop, const ProgressFn& progress) {
  for (std::jthread& thread : threads_) thread.request_stop();
  threads_.clear();
  VerifyReport report;
  const UniqueFd root = open_place(root_folder_, O_PATH | O_DIRECTORY);
  if (!root) return place_error(errno, root_folder_, "cannot be opened");
  const std::vector<bool> sound =
      check_kinds_and_sizes(root.get(), metadata_.manifest, wanted_, LinksAre::kYetToCome, report);
  std::vector<Claim> claims;
  std::uint64_t total = 0;
  {
    const std::lock_guard lock(mutex_);
    claims = open_claims();
    for (const Slot& slot : all_files_.slots()) total += wanted_[slot.entry] ? slot.size : 0;
  }
  std::uint64_t left = 0;
  std::erase_if(claims, [&](const Claim& claim) { return !sound[all_files_.slots()[claim.slot].entry]; });
  for (const Claim& claim : claims) left += bytes_of(claim);
  ProgressMeter meter(progress, total);
  meter.add(total - left);
  hash_open_claims(claims, root.get(), stop, meter, report);
  if (stop.stop_requested()) return Error{Code::kCancelled, "stopped on request"};
  meter.finish();
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const auto& entry = metadata_.manifest.entries[all_files_.slots()[i].entry];
    if (files_[i].judged && !files_[i].sound && sound[all_files_.slots()[i].entry])
      add_fault(report, metainfo::full_path(metadata_.manifest, entry), "content differs from what was published");
  }
  return report;
}

}  // namespace gridtorrent::client::files
