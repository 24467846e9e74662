#include "client/files/publish_hash.h"

#include <fcntl.h>

#include <cerrno>

#include "client/files/hash_run.h"
#include "client/files/publish_reuse.h"
#include "client/files/walker.h"

namespace gridtorrent::client::files {

namespace {

/// Once all is read: each file and folder must still be what was listed, or the result would describe a state that
/// never was as a whole. A folder's own mtime tells of names that came or went.
Status check_unchanged(const WalkedTree& tree) {
  FolderCache folders(tree.parent_fd.get(), tree.look_up);
  for (std::size_t i = 0; i < tree.manifest.entries.size(); ++i) {
    const std::string path = metainfo::full_path(tree.manifest, tree.manifest.entries[i]);
    struct stat info{};
    if (!folders.stat(path, info))
      return errno_error(errno, path, "changed while it was being hashed").code == Code::kNotFound
                 ? Error{Code::kConflict, quoted(path) + " vanished while it was being hashed"}
                 : errno_error(errno, path, "cannot be examined");
    if (FileIdentity::of(info) == tree.identities[i]) continue;
    return Error{Code::kConflict, quoted(path) + " changed while it was being hashed; try again when it rests"};
  }
  return {};
}

/// Of the entry's file, as long as it is the one that was listed; nothing where the filesystem keeps no time of birth.
std::optional<std::int64_t> birth_ns(const WalkedTree& tree, FolderCache& folders, std::uint32_t entry) {
  const SplitPath split = split_path(metainfo::full_path(tree.manifest, tree.manifest.entries[entry]));
  const int folder = folders.open(split.folder);
  struct statx info{};
  const int flags = tree.look_up.follow_links ? 0 : AT_SYMLINK_NOFOLLOW;
  if (folder < 0 || ::statx(folder, split.name.c_str(), flags, STATX_BTIME | STATX_INO, &info) != 0)
    return std::nullopt;
  if ((info.stx_mask & STATX_BTIME) == 0 || info.stx_ino != tree.identities[entry].inode) return std::nullopt;
  return info.stx_btime.tv_sec * 1'000'000'000 + info.stx_btime.tv_nsec;
}

/// Inodes name files on one filesystem only: what lies on another one is read anew.
bool lies_elsewhere(const WalkedTree& tree, std::size_t entry) {
  return !tree.elsewhere.empty() && tree.elsewhere[entry];
}

PublishReuse reuse_of(const WalkedTree& tree, const Layout& layout, std::uint32_t piece_bytes, const KnownTree& known) {
  FolderCache folders(tree.parent_fd.get(), tree.look_up);
  std::vector<FileIdentity> identities = tree.identities;
  for (std::size_t i = 0; i < identities.size(); ++i) {
    if (lies_elsewhere(tree, i)) identities[i].inode = 0;
  }
  return plan_publish_reuse(identities, layout, piece_bytes, known,
                            [&](std::uint32_t entry) { return birth_ns(tree, folders, entry); });
}

Status check_limits(std::uint64_t total_bytes, std::uint32_t piece_bytes) {
  const std::uint64_t pieces = total_bytes == 0 ? 0 : (total_bytes - 1) / piece_bytes + 1;
  if (pieces <= metainfo::kMaxPieces) return {};
  return Error{Code::kInvalid, "the data needs " + std::to_string(pieces) + " pieces, the limit is " +
                                   std::to_string(metainfo::kMaxPieces) + "; publish its parts"};
}

/// All of it is read.
PublishReuse nothing_known(const Layout& layout) {
  PublishReuse reuse;
  reuse.entries.resize(layout.slots().size());
  reuse.read_bytes = layout.total_bytes();
  if (reuse.read_bytes > 0) reuse.reads.push_back({0, reuse.read_bytes});
  return reuse;
}

/// As long as nothing has been read, the hashes of what is not going to be.
std::string known_hashes(const PublishReuse& reuse, const KnownTree* known, std::uint64_t piece_count) {
  constexpr std::size_t kBytes = sizeof(crypto::Sha1Digest);
  std::string hashes(piece_count * kBytes, '\0');
  for (std::size_t i = 0; i < reuse.pieces.size(); ++i) {
    if (!reuse.pieces[i]) continue;
    const std::string& earlier = known->metadata->segments.front().piece_hashes;
    hashes.replace(i * kBytes, kBytes, earlier, *reuse.pieces[i] * kBytes, kBytes);
  }
  return hashes;
}

std::string known_sums(const Layout& layout, const PublishReuse& reuse, const KnownTree& known, std::size_t entries) {
  constexpr std::size_t kBytes = sizeof(crypto::Sha256Digest);
  if (known.sums.size() != known.metadata->manifest.entries.size() * kBytes) return {};
  std::string sums(entries * kBytes, '\0');
  for (std::size_t slot = 0; slot < layout.slots().size(); ++slot) {
    if (!reuse.entries[slot]) continue;
    sums.replace(layout.slots()[slot].entry * kBytes, kBytes, known.sums, *reuse.entries[slot] * kBytes, kBytes);
  }
  return sums;
}

std::vector<std::uint64_t> reliable_inodes(const WalkedTree& tree, std::int64_t settled_before_ns) {
  std::vector<std::uint64_t> inodes;
  inodes.reserve(tree.identities.size());
  for (std::size_t i = 0; i < tree.identities.size(); ++i) {
    const bool reliable = tree.identities[i].mtime_ns < settled_before_ns && !lies_elsewhere(tree, i);
    inodes.push_back(reliable ? tree.identities[i].inode : 0);
  }
  return inodes;
}

}  // namespace

Result<ScannedTree> scan_for_publishing(const Place& path, const WalkRules& rules, const ScanFn& counting,
                                        std::stop_token stop) {
  GT_ASSIGN(WalkedTree tree, walk(path, {rules, /*strict=*/false, counting}, std::move(stop)));
  const std::uint64_t bytes = tree.figures.bytes;
  GT_TRY(check_limits(bytes, metainfo::choose_piece_bytes(bytes)));
  return ScannedTree{tree.figures, std::move(tree.manifest.base_name), std::move(tree.warnings),
                     std::move(tree.excluded), std::move(tree.followed)};
}

Result<HashedTree> hash_for_publishing(const HashRequest& request, unsigned threads, std::uint64_t memory_bytes,
                                       const ProgressFn& progress, std::stop_token stop) {
  GT_ASSIGN(WalkedTree tree, walk(request.path, {request.rules, request.strict, request.counting}, stop));
  if (request.counting) request.counting(tree.figures);
  const Layout layout(tree.manifest);
  const std::uint64_t total = layout.total_bytes();
  const std::uint32_t piece_bytes = metainfo::choose_piece_bytes(total);
  GT_TRY(check_limits(total, piece_bytes));

  std::vector<FileIdentity> identities;
  identities.reserve(layout.slots().size());
  for (const Slot& slot : layout.slots()) identities.push_back(tree.identities[slot.entry]);
  std::unique_ptr<Checkpoint> checkpoint;
  if (!request.checkpoint_file.empty() && total > 0) {
    GT_ASSIGN(checkpoint, Checkpoint::open(request.checkpoint_file));
  }

  const bool has_known = request.known && request.known->metadata;
  const PublishReuse reuse = has_known ? reuse_of(tree, layout, piece_bytes, *request.known) : nothing_known(layout);
  HashedTree result;
  metainfo::Segment segment{.piece_bytes = piece_bytes, .piece_hashes = {}};
  if (total > 0) segment.piece_hashes = known_hashes(reuse, request.known.get(), (total - 1) / piece_bytes + 1);
  std::vector<crypto::Sha256Digest> roots(layout.slots().size());
  for (std::size_t slot = 0; slot < roots.size(); ++slot) {
    if (reuse.entries[slot]) roots[slot] = request.known->metadata->manifest.entries[*reuse.entries[slot]].root;
  }
  HashSink sink;
  sink.on_pieces = [&](std::uint64_t first, std::span<const crypto::Sha1Digest> pieces) {
    for (std::size_t i = 0; i < pieces.size(); ++i)
      std::copy(pieces[i].begin(), pieces[i].end(), &segment.piece_hashes[(first + i) * sizeof(crypto::Sha1Digest)]);
  };
  sink.on_root = [&](std::size_t slot, const crypto::Sha256Digest& root) { roots[slot] = root; };
  ProgressMeter meter(progress, reuse.read_bytes);
  HashRun run({.manifest = tree.manifest,
               .layout = layout,
               .root = tree.parent_fd.get(),
               .piece_bytes = piece_bytes,
               .identities = identities,
               .look_up = tree.look_up,
               .stop = stop},
              plan_hash(reuse.read_bytes, piece_bytes, threads, memory_bytes), std::move(sink), checkpoint.get(), meter,
              reuse.reads);
  GT_TRY(run.run());
  GT_TRY(check_unchanged(tree));
  meter.finish();
  if (checkpoint) checkpoint->remove();
  if (const Status noted = run.checkpoint_status(); !noted)
    tree.warnings.push_back("an interruption would have cost the work so far: " + noted.error().message);

  for (std::size_t i = 0; i < roots.size(); ++i) tree.manifest.entries[layout.slots()[i].entry].root = roots[i];
  result.inodes = reliable_inodes(tree, request.settled_before_ns);
  if (has_known) result.sums = known_sums(layout, reuse, *request.known, tree.manifest.entries.size());
  result.unchanged_files = reuse.unchanged_files;
  result.unchanged_bytes = reuse.unchanged_bytes;
  result.read_bytes = reuse.read_bytes;
  result.metadata.manifest = std::move(tree.manifest);
  if (total > 0) result.metadata.segments.push_back(std::move(segment));
  result.parent = std::move(tree.parent);
  result.follow_links = tree.look_up.follow_links;
  result.skipped = tree.figures.skipped;
  result.warnings = std::move(tree.warnings);
  result.resumed_bytes = run.resumed_bytes();
  return result;
}

}  // namespace gridtorrent::client::files
