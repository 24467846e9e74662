#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "client/core/walk_rules.h"
#include "common/ids.h"
#include "common/place.h"
#include "common/result.h"
#include "metainfo/metadata.h"

namespace gridtorrent::client {

/// Bytes done and in all; called from worker threads, at most some ten times a second.
using ProgressFn = std::function<void(std::uint64_t done_bytes, std::uint64_t total_bytes)>;

/// What lies below a path that is to be published, as far as it was counted.
struct ScanFigures {
  std::uint64_t files = 0, bytes = 0;
  std::uint64_t skipped = 0;   ///< symbolic links, sockets, devices
  std::uint64_t links = 0;     ///< symbolic links that are kept, or followed
  std::uint64_t excluded = 0;  ///< by the rules; a folder counts as one
  friend bool operator==(const ScanFigures&, const ScanFigures&) = default;
};
/// Called on the thread that counts, at most some ten times a second.
using ScanFn = std::function<void(const ScanFigures&)>;

struct ScannedTree {
  ScanFigures figures;
  std::string base_name;                   ///< bytes
  std::vector<std::string> warnings;       ///< what is skipped and why, at most 100, for people
  std::vector<std::string> excluded;       ///< what the rules leave out and by which, at most 100
  std::vector<std::string> followed = {};  ///< links and what they lead to, at most 100
  std::string rules_as_before = {};        ///< as PublishOutcome has it
};

/// Files as this node published them before.
struct KnownTree {
  std::shared_ptr<const metainfo::VersionMetadata> metadata;
  std::vector<std::uint64_t> inodes;  ///< per manifest entry; 0: not to be relied on
  std::string sums;  ///< flat SHA-256, 32 bytes per manifest entry, zeros where it is not known; empty: none are
  /// When they were hashed. A file that came into being later is another one, also where it has an inode, a size and an
  /// mtime of these: filesystems give inodes again, and archives set mtimes.
  std::int64_t hashed_ns = std::numeric_limits<std::int64_t>::max();
};

struct HashRequest {
  Place path;           ///< the file or folder to publish
  bool strict = false;  ///< skipped entries (symbolic links, sockets, devices) are an error
  /// Where finished work is noted, so that hashing goes on after an interruption; a file whose size, mtime or inode
  /// changed since is hashed again. Empty: no resume. Removed on success.
  std::string checkpoint_file = {};
  WalkRules rules = {};
  ScanFn counting = {};  ///< told of the files while they are listed, and once they are; may be empty
  /// Of an earlier version: files with the size, mtime and inode that are known here are not read, but for pieces that
  /// they share with changed ones or where they lie elsewhere in the stream of bytes now. May be null.
  std::shared_ptr<const KnownTree> known = {};
  /// Files that were written to at this time or later (by mtime) are never relied on afterwards: their next change
  /// might leave the mtime as it is.
  std::int64_t settled_before_ns = 0;
};

struct HashedTree {
  metainfo::VersionMetadata metadata;
  std::string parent;         ///< the folder that holds BASE; seeding's save_path
  bool follow_links = false;  ///< Place::follow_links of that
  std::uint64_t skipped = 0;
  std::vector<std::string> warnings;                       ///< what was skipped and why, at most 100, for people
  std::uint64_t resumed_bytes = 0;                         ///< taken from the checkpoint
  std::vector<std::uint64_t> inodes;                       ///< as of KnownTree, for these files
  std::string sums;                                        ///< likewise, as far as `known` has them
  std::uint64_t unchanged_files = 0, unchanged_bytes = 0;  ///< of `known`
  std::uint64_t read_bytes = 0;                            ///< that had to be read
};

/// What `verify` found wrong with one entry.
struct EntryFault {
  std::string path;    ///< full_path of the entry, bytes
  std::string reason;  ///< "missing", "size 10, not 12", "differs from byte 49152 on"
};

struct VerifyReport {
  std::uint64_t files = 0, bytes = 0;
  std::vector<EntryFault> faults;  ///< at most 1000
  std::uint64_t fault_count = 0;
};

/// What lies where a get would put its files, as far as names, kinds and sizes tell.
struct PlaceReport {
  std::uint64_t files = 0;               ///< wanted files that are there
  std::uint64_t missing = 0;             ///< wanted files that are not
  std::uint64_t missing_others = 0;      ///< wanted symbolic links and folders that are not
  std::optional<EntryFault> difference;  ///< the first wanted entry that is there and cannot be right
};

/// What was removed of a finished get, or would be.
struct RemovedFiles {
  std::uint64_t files = 0, bytes = 0;
  std::uint64_t kept = 0;  ///< changed since they were put there
  std::string first_kept;  ///< path of the first of them, below the place, bytes; of Node's answer absolute
};

/// What a umask leaves of a published mode. What the owner may do stays as it was published.
constexpr std::uint32_t left_by_umask(std::uint32_t mask, std::uint32_t mode) {
  return mode & ~(mask & 077U);
}

/// Where a transfer is put together: `<target>/.gridtorrent-<transfer id>/`, mode 0700, on the target's own filesystem.
struct StagingPlan {
  TransferId id;
  std::string target;        ///< absolute folder, bytes; made (with parents) if missing
  std::vector<bool> wanted;  ///< per manifest entry; empty: all
  bool beside = false;       ///< BASE is there already, from an earlier transfer: what is wanted is added to it
  std::string root = {};     ///< of a task's target: Place::root
  bool replaces = false;  ///< BASE is there already, of an earlier version: what is staged takes its place in one step
  std::uint32_t replaced_mode = 0;                ///< of BASE, as the version that gives way came; 0: not known
  std::optional<std::uint32_t> folder_mode = {};  ///< of folders made for `target`; nothing: what the umask leaves
  std::string copied_base = {};  ///< of copy_into_staging: BASE where it is copied from; empty: the same
  std::uint32_t umask = 0;       ///< TransferRow::umask
  bool unmarked = false;         ///< begun by a version that put no mark into the folder (staging_folder.h)
  Place folder() const { return {target, root}; }
  std::string staging() const { return target + "/.gridtorrent-" + id.str(); }
  Place staging_folder() const { return {staging(), root}; }
};

/// What an earlier transfer brought, and still lies there.
struct LocalTree {
  Place parent;  ///< the folder that holds BASE
  const metainfo::Manifest& manifest;
  std::vector<bool> held;  ///< per entry; empty: all
};

/// Checks files against their Merkle roots while they arrive: fed with verified pieces, it reads the ranges back
/// through the page cache and keeps only subtree digests. Thread-safe.
class RootVerifier {
 public:
  virtual ~RootVerifier() = default;
  /// The piece passed its SHA-1 and can be read below `root_folder`. Cheap: work is queued for the verifier's own
  /// threads.
  virtual void piece_verified(std::uint32_t piece) = 0;
  /// Hashes what is left and compares every wanted file with its root. Blocks; call once, from a worker thread.
  virtual Result<VerifyReport> finish(std::stop_token stop, const ProgressFn& progress) = 0;
};

struct DiskSpace {
  std::uint64_t free_bytes = 0, total_bytes = 0;
};

/// Everything a node does with people's files but moving bytes over the network; implemented in client/files. Methods
/// block and may be called from several worker threads at once; a stop request makes them return kCancelled soon.
class FileWork {
 public:
  virtual ~FileWork() = default;

  /// Walks `path` (never through a symbolic link, never onto another device) and hashes pieces and roots in one read on
  /// all cores. Errors: kNotFound, kInvalid (folder with no entries, limits, with --strict skipped entries), kDenied
  /// (an unreadable file, named), kConflict (a file changed while being hashed, named), kCancelled.
  virtual Result<HashedTree> hash_tree(const HashRequest& request, const ProgressFn& progress,
                                       std::stop_token stop) = 0;

  /// Removes what an interrupted hash_tree noted in a checkpoint file; missing: nothing to do.
  virtual void forget_hashed(const std::string& checkpoint_file) = 0;

  /// Lists what hash_tree would publish and reads no file. What hash_tree would refuse is an error that names it.
  virtual Result<ScannedTree> scan_tree(const Place& path, const WalkRules& rules, const ScanFn& counting,
                                        std::stop_token stop) = 0;

  /// Compares what lies at `parent`/BASE with the manifest: kinds, sizes and Merkle roots. Never an error because of a
  /// difference, which is in the report. `wanted` is per manifest entry; empty: all.
  virtual Result<VerifyReport> verify(const Place& parent, const metainfo::Manifest& manifest,
                                      const std::vector<bool>& wanted, const ProgressFn& progress,
                                      std::stop_token stop) = 0;

  /// A quick look at what `verify` would read. Never an error because of a difference.
  virtual Result<PlaceReport> look_at(const Place& parent, const metainfo::Manifest& manifest,
                                      const std::vector<bool>& wanted) = 0;

  /// Has these files of `parent`/BASE read from the disk the next time. After a failed write memory holds what the disk
  /// does not. Pages that are mapped or still to be written stay. `wanted` as above.
  virtual void drop_cached(const Place& parent, const metainfo::Manifest& manifest,
                           const std::vector<bool>& wanted) = 0;

  /// The first step of a get: refuses a foreign file in the way of BASE, or of a wanted file where BASE is added to
  /// (kConflict, named), a target that cannot be
  /// made or written (kDisk), and makes the staging folder with all folders and empty files. Idempotent: a second call
  /// after a crash, or for another choice of files, finds its own staging folder and goes on; what is there and not
  /// wanted goes.
  virtual Status prepare(const StagingPlan& plan, const metainfo::Manifest& manifest) = 0;

  /// The last step: sets modes (as published, less the umask) and times, syncs, and moves staging/BASE to target/BASE
  /// with a no-replace rename, or file by file where BASE is added to, then removes the staging folder. Where the plan
  /// replaces, the two are exchanged and the staging folder stays. Idempotent across a crash at any point. kConflict
  /// where something came in the way meanwhile.
  virtual Status commit(const StagingPlan& plan, const metainfo::Manifest& manifest) = 0;

  /// Of a plan that replaces: whether the exchange was done. What was at its place is in the staging folder then, until
  /// `discard` removes it or `put_back` moves it back.
  virtual bool has_replaced(const StagingPlan& plan, const metainfo::Manifest& manifest) = 0;
  virtual Status put_back(const StagingPlan& plan, const metainfo::Manifest& manifest) = 0;

  /// A commit of it was begun and has not ended: files may have been moved already, and only another commit can end it.
  virtual bool commit_begun(const StagingPlan& plan, const metainfo::Manifest& manifest) = 0;

  /// Removes the staging folder of a cancelled transfer, and nothing else: kConflict where what is there does not bear
  /// this transfer's mark, and stays.
  virtual Status discard(const StagingPlan& plan) = 0;

  /// Removes the wanted files as a commit put them at `parent`: those with another size or time by now stay, and so
  /// does every folder with something left in it. `look_only`: counts them. Can be done again after a crash.
  virtual Result<RemovedFiles> remove_placed(const Place& parent, const metainfo::Manifest& manifest,
                                             const std::vector<bool>& wanted, bool look_only) = 0;

  /// Makes the mark of its staging folder as good as new to those who delete old files.
  virtual void touch_mark(const StagingPlan& plan) = 0;

  /// For a get of what already lies intact at `parent`: reflinks or copies it into the staging folder.
  virtual Status copy_into_staging(const Place& parent, const StagingPlan& plan, const metainfo::Manifest& manifest,
                                   const ProgressFn& progress, std::stop_token stop) = 0;

  /// Takes into the staging folder of `next` what an earlier version has: files with the same root whole, and of those
  /// that changed what lay there under the same name, as far as it goes. By reflink, else copied. Which pieces are
  /// right is for hashing to find. Bytes taken. Done again after an interruption, it keeps files that have their size.
  virtual Result<std::uint64_t> stage_local(const LocalTree& earlier, const StagingPlan& plan,
                                            const metainfo::Manifest& next, const ProgressFn& progress,
                                            std::stop_token stop) = 0;

  /// Something below BASE that is neither of the manifest nor above it, as BASE/path; empty: nothing. `held` as above.
  /// `all`: also what nodes and filesystems leave there (staging folders, .nfs…, lost+found).
  virtual Result<std::string> foreign_path(const LocalTree& tree, bool all) = 0;
  /// BASE is a folder of this process's user that not everybody may write in.
  virtual bool is_own_folder(const Place& parent, const std::string& base_name) = 0;

  /// `root_folder` holds BASE (a staging folder). The metadata must outlive the verifier.
  virtual std::unique_ptr<RootVerifier> make_root_verifier(Place root_folder, const metainfo::VersionMetadata& metadata,
                                                           std::vector<bool> wanted) = 0;

  /// The SHA-256 of each file, in manifest order (folders: nothing), for `sha256sum -c`. Low priority, on one thread.
  /// `known`: KnownTree::sums of these files; they are not read.
  virtual Result<std::vector<std::optional<crypto::Sha256Digest>>> flat_sha256(const Place& parent,
                                                                               const metainfo::Manifest& manifest,
                                                                               const std::string& known,
                                                                               const ProgressFn& progress,
                                                                               std::stop_token stop) = 0;

  virtual Result<DiskSpace> disk_space(const std::string& folder) = 0;

  /// Bytes that the files in the staging folder take on its disk; 0 where there is none. Looks at every one.
  virtual std::uint64_t staged_bytes(const StagingPlan& plan) = 0;
};

}  // namespace gridtorrent::client
