#include "client/files/staging.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <mutex>
#include <thread>

#include "base/logging/logging.h"
#include "client/files/file_system.h"
#include "client/files/merge_tree.h"
#include "client/files/replace_base.h"
#include "client/files/selection.h"
#include "client/files/staging_folder.h"
#include "client/files/symbolic_link.h"
#include "client/files/trim_staging.h"

namespace gridtorrent::client::files {

namespace {

using metainfo::EntryKind;
using metainfo::Manifest;
using metainfo::ManifestEntry;

constexpr const char* kMarker = ".committing";
// A placeholder of ours is, or is about to be, under the final name.
constexpr const char* kPlaceholder = ".placeholder";
// With more files than this, one syncfs for the whole filesystem beats a sync a file.
constexpr std::size_t kSyncSingly = 256;
constexpr unsigned kSyncThreads = 8;

/// BASE may have any name, and lies beside the marker.
std::string marker_name(const char* kind, const Manifest& manifest) {
  return manifest.base_name == kind ? std::string(kind) + "-" : kind;
}

std::string base_path(const StagingPlan& plan, const Manifest& manifest) {
  return plan.target + "/" + manifest.base_name;
}

bool exists(int folder, const std::string& name) {
  struct stat info{};
  return ::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

Error in_the_way(const StagingPlan& plan, const Manifest& manifest) {
  return {Code::kConflict, quoted(base_path(plan, manifest)) +
                               " already exists and is not from this transfer; move it away or choose another folder"};
}

Error disk_error(int error_number, const std::string& path, std::string_view action) {
  return {Code::kDisk, errno_error(error_number, path, action).message};
}

/// A folder that was just made gets the mode that was asked for, whatever this process's umask left of it. A bit that
/// it inherits (set-group-id) stays. Its owner can always add to it.
Status give_mode(const std::string& path, std::optional<std::uint32_t> mode) {
  if (!mode || chmod_entry(AT_FDCWD, path, to_mode((*mode & 0777U) | 0700U))) return {};
  return disk_error(errno, path, "cannot be given its mode");
}

Status make_with_parents(const std::string& path, std::optional<std::uint32_t> mode) {
  for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    if (::mkdir(part.c_str(), 0777) == 0) {
      GT_TRY(give_mode(part, mode));
    } else if (errno != EEXIST && errno != EISDIR) {
      struct stat info{};
      const int error_number = errno;
      if (::stat(part.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
        return disk_error(error_number, part, "cannot be made");
    }
    if (slash == std::string::npos) return {};
  }
}

/// Below a named root each step goes on from the folder that the one before opened.
Status make_below_root(const Place& folder) {
  UniqueFd at = open_place({folder.root, folder.root}, O_PATH | O_DIRECTORY);
  if (!at) return place_error(errno, folder, "cannot be opened");
  std::size_t start = folder.root == "/" ? 1 : folder.root.size() + 1;
  while (start < folder.path.size()) {
    const std::size_t end = std::min(folder.path.find('/', start), folder.path.size());
    const std::string name = folder.path.substr(start, end - start);
    if (::mkdirat(at.get(), name.c_str(), 0777) != 0 && errno != EEXIST)
      return disk_error(errno, folder.path, "cannot be made");
    UniqueFd next = open_beneath(at.get(), name, O_PATH | O_DIRECTORY);
    if (!next) return place_error(errno, folder, "cannot be opened");
    at = std::move(next);
    start = end + 1;
  }
  return {};
}

/// All folders of the selection, and its empty files, below an open staging folder. Links come last of all, in the
/// commit: nothing is ever written where one could lead.
Status make_entries(int staging, const StagingPlan& plan, const Manifest& manifest) {
  const Selection selection(manifest, plan.wanted);
  FolderCache folders(staging);
  for (std::size_t i = 0; i < manifest.entries.size(); ++i) {
    const ManifestEntry& entry = manifest.entries[i];
    if (!selection.includes(i) || entry.size > 0 || entry.kind == EntryKind::kLink) continue;
    const std::string path = metainfo::full_path(manifest, entry);
    const SplitPath split = split_path(path);
    const int folder = folders.open(split.folder);
    if (folder < 0) return disk_error(errno, plan.staging() + "/" + split.folder, "cannot be opened");
    if (entry.kind == EntryKind::kFile) {
      GT_TRY(make_empty_file(folder, split.name, plan.staging() + "/" + path));
    } else if (::mkdirat(folder, split.name.c_str(), 0700) != 0 && errno != EEXIST) {
      return disk_error(errno, plan.staging() + "/" + path, "cannot be made");
    }
  }
  return {};
}

Result<UniqueFd> open_target(const StagingPlan& plan) {
  UniqueFd fd = open_place(plan.folder(), O_RDONLY | O_DIRECTORY);
  if (fd) return fd;
  const Error error = place_error(errno, plan.folder(), "cannot be opened");
  return Error{error.code == Code::kDenied && !plan.root.empty() ? Code::kDenied : Code::kDisk, error.message};
}

Replacement replacement_of(const StagingPlan& plan, const Manifest& manifest, int staging, int target, bool durable) {
  return {.staging = staging,
          .target = target,
          .base_name = manifest.base_name,
          .note = marker_name(kMarker, manifest),
          .staging_path = plan.staging(),
          .target_path = plan.target,
          .mode = left_by_umask(plan.umask, manifest.entries.front().mode),
          .replaced_mode = plan.replaced_mode,
          .durable = durable};
}

/// One commit; lives for one call.
class Commit {
 public:
  Commit(const StagingPlan& plan, const Manifest& manifest, bool durable)
      : plan_(plan), manifest_(manifest), durable_(durable), selection_(manifest, plan.wanted) {}

  Status run() {
    GT_ASSIGN(target_, open_target(plan_));
    if (plan_.beside) return run_beside();
    if (plan_.replaces) return run_replacing();
    const bool in_place = exists(target_.get(), base());
    if (!exists(target_.get(), staging_name(plan_))) {
      // Everything was done before the crash but, at most, to remove what was the staging folder.
      if (in_place) return clean_up();
      return Error{Code::kDisk, quoted(plan_.staging()) + " vanished; fetch the content again"};
    }
    GT_ASSIGN(staging_, open_staging(target_.get(), plan_));
    const bool interrupted = exists(staging_.get(), marker_name(kMarker, manifest_));
    const bool staged = exists(staging_.get(), base());
    if (!staged && !(interrupted && in_place))
      return Error{Code::kDisk, quoted(plan_.staging() + "/" + base()) + " vanished; fetch the content again"};
    if (staged) {
      if (in_place && !interrupted) return in_the_way(plan_, manifest_);
      if (interrupted) unlock_folders();
      // Once more: libtorrent may have written late to a file that another choice had left out.
      if (!interrupted) GT_TRY(trim_staging(staging_.get(), manifest_, selection_, plan_.staging()));
      GT_TRY(make_links());
      if (durable_) GT_TRY(sync_data());
      GT_TRY(make_marker(kMarker));
      GT_TRY(set_all_modes_and_times());
      GT_TRY(move(interrupted));
    }
    GT_TRY(finish_base(mode_of(manifest_.entries.front())));
    if (durable_) GT_TRY(sync_folder(target_.get(), plan_.target));
    return clean_up();
  }

 private:
  /// File by file, beside what an earlier transfer brought.
  Status run_beside() {
    if (!exists(target_.get(), staging_name(plan_))) {
      if (is_merged(merge())) return clean_up();
      return Error{Code::kDisk, quoted(plan_.staging()) + " vanished; fetch the content again"};
    }
    GT_ASSIGN(staging_, open_staging(target_.get(), plan_));
    const bool interrupted = exists(staging_.get(), marker_name(kMarker, manifest_));
    if (!interrupted) {
      GT_TRY(nothing_in_the_way(merge()));
      if (durable_) GT_TRY(sync_data());
      GT_TRY(make_marker(kMarker));
    }
    GT_TRY(merge_tree(merge(), interrupted));
    if (durable_) GT_TRY(sync_folder(target_.get(), plan_.target));
    return clean_up();
  }

  /// In one step with what an earlier version has there; that stays in the staging folder.
  Status run_replacing() {
    if (!exists(target_.get(), staging_name(plan_))) {
      if (is_merged(merge())) return clean_up();
      return Error{Code::kDisk, quoted(plan_.staging()) + " vanished; fetch the content again"};
    }
    GT_ASSIGN(staging_, open_staging(target_.get(), plan_));
    const Replacement replacement = replacement_of(plan_, manifest_, staging_.get(), target_.get(), durable_);
    if (!is_replaced(replacement)) {
      if (!exists(staging_.get(), base()))
        return Error{Code::kDisk, quoted(plan_.staging() + "/" + base()) + " vanished; fetch the content again"};
      unlock_folders();
      GT_TRY(make_links());
      if (durable_) GT_TRY(sync_data());
      GT_TRY(set_all_modes_and_times());
      GT_TRY(replace_base(replacement));
    }
    return finish_base(mode_at_place(replacement));
  }

  Merge merge() const {
    return {staging_.get(), target_.get(), manifest_, selection_, plan_.staging(), plan_.target, durable_, plan_.umask};
  }

  std::uint32_t mode_of(const ManifestEntry& entry) const { return left_by_umask(plan_.umask, entry.mode); }
  /// At its place.
  Status finish_base(std::uint32_t mode) const {
    const ManifestEntry& top = manifest_.entries.front();
    // An older version moved it with its staging mode, and a crash may have come then.
    const ModeChange change = plan_.unmarked ? to_mode(mode) : ModeChange{.keep = mode | S_ISGID};
    return set_mode_and_time(target_.get(), base(), top, change, shown(top));
  }

  const std::string& base() const { return manifest_.base_name; }
  std::string shown(const ManifestEntry& entry) const {
    return plan_.staging() + "/" + metainfo::full_path(manifest_, entry);
  }

  Status make_marker(const char* kind) {
    const std::string name = marker_name(kind, manifest_);
    GT_TRY(make_empty_file(staging_.get(), name, plan_.staging() + "/" + name));
    return durable_ ? sync_folder(staging_.get(), plan_.staging()) : Status{};
  }

  // A crash may have left folders without write or search permission.
  void unlock_folders() {
    FolderCache folders(staging_.get());
    for (std::size_t i = 0; i < manifest_.entries.size(); ++i) {
      if (!selection_.includes(i) || manifest_.entries[i].kind != EntryKind::kFolder) continue;
      const SplitPath split = split_path(metainfo::full_path(manifest_, manifest_.entries[i]));
      const int folder = folders.open(split.folder);
      // Where the mode cannot be changed, what is done below the folder fails and names it.
      if (folder < 0 || !chmod_entry(folder, split.name, {.add = 0700})) continue;
    }
  }

  Status make_links() {
    FolderCache folders(staging_.get());
    for (const auto& [i, target] : manifest_.targets) {
      if (!selection_.includes(i)) continue;
      const ManifestEntry& entry = manifest_.entries[i];
      const SplitPath split = split_path(metainfo::full_path(manifest_, entry));
      const int folder = folders.open(split.folder);
      if (folder < 0) return disk_error(errno, plan_.staging() + "/" + split.folder, "cannot be opened");
      GT_TRY(make_link(folder, split.name, target, entry, shown(entry)));
    }
    return {};
  }

  Status sync_data() {
    std::vector<std::size_t> entries;
    for (std::size_t i = 0; i < manifest_.entries.size() && entries.size() <= kSyncSingly; ++i)
      if (selection_.includes(i) && manifest_.entries[i].kind != EntryKind::kLink) entries.push_back(i);
    if (entries.size() > kSyncSingly) {
      if (::syncfs(staging_.get()) != 0) return disk_error(errno, plan_.staging(), "cannot be written to the disk");
      return {};
    }
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    Status outcome;
    {
      std::vector<std::jthread> threads;
      for (std::size_t t = 0; t < std::min<std::size_t>(kSyncThreads, entries.size()); ++t)
        threads.emplace_back([&] {
          name_thread("gt-sync");
          for (std::size_t i = next++; i < entries.size(); i = next++) {
            const Status status = sync_entry(manifest_.entries[entries[i]]);
            const std::lock_guard lock(mutex);
            if (!status && outcome) outcome = status;
          }
        });
    }
    return outcome;
  }

  Status sync_entry(const ManifestEntry& entry) {
    const std::string path = metainfo::full_path(manifest_, entry);
    FolderCache folders(staging_.get());
    UniqueFd fd = folders.open_file(path, O_RDONLY);
    // A mode without read permission, set before a crash: it was synced then.
    if (!fd && errno == EACCES) return {};
    if (!fd) return disk_error(errno, shown(entry), "cannot be opened");
    if (entry.kind == EntryKind::kFolder) return sync_folder(fd.get(), shown(entry));
    if (::fdatasync(fd.get()) != 0) return disk_error(errno, shown(entry), "cannot be written to the disk");
    return {};
  }

  // Children first: a folder may lose its write permission, and its time changes with every entry.
  Status set_all_modes_and_times() {
    FolderCache folders(staging_.get());
    for (std::size_t i = manifest_.entries.size(); i-- > 0;) {
      const ManifestEntry& entry = manifest_.entries[i];
      if (!selection_.includes(i) || entry.kind == EntryKind::kLink) continue;
      const SplitPath split = split_path(metainfo::full_path(manifest_, entry));
      const int folder = folders.open(split.folder);
      if (folder < 0) return disk_error(errno, plan_.staging() + "/" + split.folder, "cannot be opened");
      // BASE is still to be moved, which a folder without write permission would not allow.
      const std::uint32_t needed = i == 0 && entry.kind == EntryKind::kFolder ? 0700 : 0;
      GT_TRY(set_mode_and_time(folder, split.name, entry, to_mode(mode_of(entry) | needed), shown(entry)));
    }
    return {};
  }

  Status move(bool interrupted) {
    const char* name = base().c_str();
    if (interrupted && linked()) return unlink_staged();
    if (::renameat2(staging_.get(), name, target_.get(), name, RENAME_NOREPLACE) == 0) return {};
    const int error_number = errno;
    if (error_number == EEXIST && !placeholder_in_the_way()) return in_the_way(plan_, manifest_);
    if (error_number != EEXIST && error_number != EINVAL && error_number != ENOSYS)
      return disk_error(error_number, base_path(plan_, manifest_), "cannot be moved to its place");
    return move_without_noreplace();
  }

  /// Whether the file stands under its final name already, as a second link: all but unlinking the first was done.
  bool linked() const {
    struct stat staged{}, placed{};
    return manifest_.is_single_file() && ::fstatat(staging_.get(), base().c_str(), &staged, AT_SYMLINK_NOFOLLOW) == 0 &&
           ::fstatat(target_.get(), base().c_str(), &placed, AT_SYMLINK_NOFOLLOW) == 0 &&
           staged.st_dev == placed.st_dev && staged.st_ino == placed.st_ino;
  }

  /// What move_without_noreplace() of an interrupted commit may have left: an empty folder or file of ours.
  bool placeholder_in_the_way() const {
    struct stat info{};
    if (!exists(staging_.get(), marker_name(kPlaceholder, manifest_))) return false;
    if (::fstatat(target_.get(), base().c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return false;
    if (info.st_uid != ::geteuid()) return false;
    if (manifest_.is_single_file()) return S_ISREG(info.st_mode) && info.st_size == 0;
    const UniqueFd fd(::openat(target_.get(), base().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    const auto names = fd ? list_folder(fd.get(), "") : Result<std::vector<Listed>>(std::vector<Listed>(1));
    return names && names->empty();
  }

  /// Under the final name it would pass for what was fetched, and be in the way of the next get.
  void remove_placeholder() {
    if (!placeholder_in_the_way()) return;
    if (::unlinkat(target_.get(), base().c_str(), manifest_.is_single_file() ? 0 : AT_REMOVEDIR) != 0) return;
    ::unlinkat(staging_.get(), marker_name(kPlaceholder, manifest_).c_str(), 0);
  }

  // Filesystems without RENAME_NOREPLACE (NFS, some FUSE): a file is linked, which fails where the name exists; a
  // folder replaces an empty one that we make first, and a rename never replaces a folder with something in it. Where
  // links are unknown too, a file replaces an empty one of ours.
  Status move_without_noreplace() {
    const char* name = base().c_str();
    if (manifest_.is_single_file() && ::linkat(staging_.get(), name, target_.get(), name, 0) == 0)
      return unlink_staged();
    if (!placeholder_in_the_way()) GT_TRY(make_placeholder());
    if (::renameat(staging_.get(), name, target_.get(), name) == 0) return {};
    const int error_number = errno;
    if (error_number == ENOTEMPTY || error_number == EEXIST) return in_the_way(plan_, manifest_);
    remove_placeholder();
    return disk_error(error_number, base_path(plan_, manifest_), "cannot be moved to its place");
  }

  Status make_placeholder() {
    const char* name = base().c_str();
    if (exists(target_.get(), name)) return in_the_way(plan_, manifest_);
    GT_TRY(make_marker(kPlaceholder));
    const bool made = manifest_.is_single_file()
                          ? static_cast<bool>(UniqueFd(::openat(
                                target_.get(), name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)))
                          : ::mkdirat(target_.get(), name, 0700) == 0;
    if (made) return {};
    if (errno == EEXIST) return in_the_way(plan_, manifest_);
    return disk_error(errno, base_path(plan_, manifest_), "cannot be made");
  }

  Status unlink_staged() {
    if (::unlinkat(staging_.get(), base().c_str(), 0) == 0) return {};
    return disk_error(errno, plan_.staging(), "cannot be cleaned up");
  }

  // All is in its place: what cannot be removed (a file that NFS keeps while it is open) takes room, no more.
  Status clean_up() {
    if (const Status removed = remove_staging(target_.get(), plan_); !removed)
      logging::warning("a staging folder stays behind in " + quoted(plan_.target) + ": " + removed.error().message);
    return {};
  }

  const StagingPlan& plan_;
  const Manifest& manifest_;
  const bool durable_;
  const Selection selection_;
  UniqueFd target_;
  UniqueFd staging_;
};

}  // namespace

std::uint64_t staging_usage(const StagingPlan& plan) {
  const UniqueFd staging = open_place(plan.staging_folder(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  return staging ? disk_usage(staging.get()) : 0;
}

Status prepare_staging(const StagingPlan& plan, const Manifest& manifest) {
  GT_TRY(metainfo::validate_component(manifest.base_name));
  if (!plan.target.starts_with('/')) return Error{Code::kInvalid, quoted(plan.target) + " is no absolute path"};
  GT_TRY(plan.root.empty() ? make_with_parents(plan.target, plan.folder_mode) : make_below_root(plan.folder()));
  GT_ASSIGN(const UniqueFd target, open_target(plan));
  if (exists(target.get(), manifest.base_name)) {
    const std::string marker = staging_name(plan) + "/" + marker_name(kMarker, manifest);
    // Our own BASE, moved before a crash: commit() has only to clean up.
    if (exists(target.get(), staging_name(plan)) && exists(target.get(), marker)) return {};
    if (!plan.beside && !plan.replaces) return in_the_way(plan, manifest);
  }
  if (exists(target.get(), manifest.base_name) && plan.beside) {
    const Selection selection(manifest, plan.wanted);
    GT_TRY(nothing_in_the_way({-1, target.get(), manifest, selection, plan.staging(), plan.target, false}));
  }
  GT_ASSIGN(const UniqueFd staging, make_staging(target.get(), plan));
  if (plan.replaces) GT_TRY(check_can_exchange(staging.get(), plan.target));
  GT_TRY(trim_staging(staging.get(), manifest, Selection(manifest, plan.wanted), plan.staging()));
  return make_entries(staging.get(), plan, manifest);
}

bool is_commit_begun(const StagingPlan& plan, const Manifest& manifest) {
  const UniqueFd staging = open_place(plan.staging_folder(), O_PATH | O_DIRECTORY | O_NOFOLLOW);
  struct stat info{};
  return staging && ::fstatat(staging.get(), marker_name(kMarker, manifest).c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
}

Status commit_staging(const StagingPlan& plan, const Manifest& manifest, bool durable) {
  return Commit(plan, manifest, durable).run();
}

bool staging_has_replaced(const StagingPlan& plan, const Manifest& manifest) {
  const UniqueFd target = open_place(plan.folder(), O_RDONLY | O_DIRECTORY);
  const UniqueFd staging = open_place(plan.staging_folder(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  return target && staging && is_replaced(replacement_of(plan, manifest, staging.get(), target.get(), false));
}

Status put_back_replaced(const StagingPlan& plan, const Manifest& manifest, bool durable) {
  GT_ASSIGN(const UniqueFd target, open_target(plan));
  GT_ASSIGN(const UniqueFd staging, open_staging(target.get(), plan));
  return put_back_base(replacement_of(plan, manifest, staging.get(), target.get(), durable));
}

Status discard_staging(const StagingPlan& plan) {
  const UniqueFd target = open_place(plan.folder(), O_RDONLY | O_DIRECTORY);
  if (!target) return errno == ENOENT ? Status{} : Status(place_error(errno, plan.folder(), "cannot be opened"));
  return remove_staging(target.get(), plan);
}

}  // namespace gridtorrent::client::files
