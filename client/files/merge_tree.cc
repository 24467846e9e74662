#include "client/files/merge_tree.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <unordered_map>

#include "base/logging/logging.h"
#include "client/core/file_work.h"
#include "client/files/file_system.h"
#include "client/files/symbolic_link.h"

namespace gridtorrent::client::files {
namespace {

using metainfo::EntryKind;
using metainfo::ManifestEntry;

Error disk_error(int error_number, const std::string& path, std::string_view action) {
  return {Code::kDisk, errno_error(error_number, path, action).message};
}

Error taken(const std::string& path) {
  return {Code::kConflict,
          quoted(path) + " already exists and is not from this transfer; move it away or choose another folder"};
}

bool is_there(int folder, const char* name, const ManifestEntry& entry) {
  struct stat info{};
  return ::fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode) &&
         static_cast<std::uint64_t>(info.st_size) == entry.size;
}

bool is_linked(int folder, const std::string& name, const metainfo::Manifest& manifest, std::size_t entry) {
  return is_link_to(folder, name, manifest.targets.at(static_cast<std::uint32_t>(entry)));
}

/// One merge; lives for one call.
class Merger {
 public:
  Merger(const Merge& merge, bool interrupted)
      : m_(merge), interrupted_(interrupted), from_(merge.staging), to_(merge.target) {}

  Status run() {
    const Status done = merge();
    if (!done) close_again();
    return done;
  }

 private:
  Status merge() {
    // Parents come before what is in them.
    for (std::size_t i = 0; i < m_.manifest.entries.size(); ++i) {
      if (!m_.selection.includes(i)) continue;
      const ManifestEntry& entry = m_.manifest.entries[i];
      if (entry.kind == EntryKind::kFolder) GT_TRY(make_folder(i));
      if (entry.kind == EntryKind::kFile) GT_TRY(move_file(entry));
    }
    // Nothing is put where they could lead.
    for (const auto& [i, target] : m_.manifest.targets) {
      if (m_.selection.includes(i)) GT_TRY(link(m_.manifest.entries[i], target));
    }
    // Children first: a folder's time changes with every entry, and its mode may forbid more of them.
    for (std::size_t i = m_.manifest.entries.size(); i-- > 0;) {
      if (m_.selection.includes(i) && m_.manifest.entries[i].kind == EntryKind::kFolder) GT_TRY(finish_folder(i));
    }
    return {};
  }

  /// Folders that were opened for this, where it came to nothing.
  void close_again() {
    for (const auto& [i, mode] : found_) {
      if ((mode & 0700) == 0700) continue;
      const SplitPath split = split_path(metainfo::full_path(m_.manifest, m_.manifest.entries[i]));
      const int above = to_.open(split.folder);
      if (above >= 0 && chmod_entry(above, split.name, {.keep = mode})) continue;
      logging::warning(place(m_.manifest.entries[i]) + " does not get its mode back");
    }
  }

  std::string place(const ManifestEntry& entry) const {
    return m_.target_path + "/" + metainfo::full_path(m_.manifest, entry);
  }
  std::string staged(const ManifestEntry& entry) const {
    return m_.staging_path + "/" + metainfo::full_path(m_.manifest, entry);
  }

  /// One that is there must let us in until the end, and keeps its mode then.
  Status make_folder(std::size_t i) {
    const ManifestEntry& entry = m_.manifest.entries[i];
    const SplitPath split = split_path(metainfo::full_path(m_.manifest, entry));
    const int above = to_.open(split.folder);
    if (above < 0) return disk_error(errno, place(entry), "cannot be opened");
    if (::mkdirat(above, split.name.c_str(), kUnfinished) == 0) return {};
    if (errno != EEXIST) return disk_error(errno, place(entry), "cannot be made");
    struct stat info{};
    if (::fstatat(above, split.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
      return disk_error(errno, place(entry), "cannot be examined");
    if (!S_ISDIR(info.st_mode)) return taken(place(entry));
    if ((info.st_mode & 01777) == kUnfinished) return {};
    found_.emplace(i, info.st_mode & 07777);
    if ((info.st_mode & 0700) != 0700 && !chmod_entry(above, split.name, {.add = 0700}))
      return disk_error(errno, place(entry), "cannot be added to");
    return {};
  }

  Status move_file(const ManifestEntry& entry) {
    const SplitPath split = split_path(metainfo::full_path(m_.manifest, entry));
    const int to = to_.open(split.folder);
    if (to < 0) return disk_error(errno, place(entry), "cannot be moved to its place");
    const int from = from_.open(split.folder);
    const char* name = split.name.c_str();
    if (from < 0 || ::faccessat(from, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno != ENOENT) return disk_error(errno, staged(entry), "cannot be looked at");
      if (interrupted_ && is_there(to, name, entry)) return {};
      return Error{Code::kDisk, quoted(staged(entry)) + " vanished; fetch the content again"};
    }
    GT_TRY(set_mode_and_time(from, split.name, entry, to_mode(mode_of(entry)), staged(entry)));
    if (::renameat2(from, name, to, name, RENAME_NOREPLACE) == 0) return {};
    if (errno == EINVAL || errno == ENOSYS) return link_file(entry, from, to, name);
    if (errno == EEXIST) return same_file(from, to, name) ? unlink_staged(entry, from, name) : taken(place(entry));
    return disk_error(errno, place(entry), "cannot be moved to its place");
  }

  /// Where there is no rename that refuses to replace (NFS, some FUSE): a link does.
  Status link_file(const ManifestEntry& entry, int from, int to, const char* name) {
    if (::linkat(from, name, to, name, 0) == 0) return unlink_staged(entry, from, name);
    const int error_number = errno;
    if (error_number == EEXIST && same_file(from, to, name)) return unlink_staged(entry, from, name);
    struct stat info{};
    if (error_number == EEXIST || ::fstatat(to, name, &info, AT_SYMLINK_NOFOLLOW) == 0) return taken(place(entry));
    // No links either: what somebody makes there between the look and this is replaced.
    if (::renameat(from, name, to, name) == 0) return {};
    return disk_error(errno, place(entry), "cannot be moved to its place");
  }

  static bool same_file(int from, int to, const char* name) {
    struct stat one{}, other{};
    return ::fstatat(from, name, &one, AT_SYMLINK_NOFOLLOW) == 0 &&
           ::fstatat(to, name, &other, AT_SYMLINK_NOFOLLOW) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
  }

  Status unlink_staged(const ManifestEntry& entry, int from, const char* name) const {
    if (::unlinkat(from, name, 0) == 0) return {};
    return disk_error(errno, staged(entry), "cannot be cleaned up");
  }

  Status link(const ManifestEntry& entry, const std::string& target) {
    const SplitPath split = split_path(metainfo::full_path(m_.manifest, entry));
    const int folder = to_.open(split.folder);
    if (folder < 0) return disk_error(errno, place(entry), "cannot be made");
    return make_link(folder, split.name, target, entry, place(entry));
  }

  Status finish_folder(std::size_t i) {
    const ManifestEntry& entry = m_.manifest.entries[i];
    const SplitPath split = split_path(metainfo::full_path(m_.manifest, entry));
    const int above = to_.open(split.folder);
    if (above < 0) return disk_error(errno, place(entry), "cannot be opened");
    if (m_.durable) {
      const UniqueFd fd(::openat(above, split.name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!fd) return disk_error(errno, place(entry), "cannot be opened");
      GT_TRY(sync_folder(fd.get(), place(entry)));
    }
    const auto found = found_.find(i);
    if (found == found_.end())
      return set_mode_and_time(above, split.name, entry, to_mode(mode_of(entry)), place(entry));
    // Whoever made it, nobody gets in who did not before.
    const ModeChange back{.keep = found->second};
    if ((found->second & 01777) == mode_of(entry))
      return set_mode_and_time(above, split.name, entry, back, place(entry));
    if ((found->second & 0700) == 0700 || chmod_entry(above, split.name, back)) return {};
    return disk_error(errno, place(entry), "cannot be given its mode");
  }

  std::uint32_t mode_of(const ManifestEntry& entry) const { return left_by_umask(m_.umask, entry.mode); }

  /// Of a folder that this merge made, until its end; somebody's own has no sticky bit beside a mode of 0700.
  static constexpr mode_t kUnfinished = 01700;

  const Merge& m_;
  const bool interrupted_;
  std::unordered_map<std::size_t, mode_t> found_;  ///< modes of folders that were there, which somebody may have chosen
  FolderCache from_, to_;
};

}  // namespace

Status nothing_in_the_way(const Merge& merge) {
  FolderCache to(merge.target);
  for (std::size_t i = 0; i < merge.manifest.entries.size(); ++i) {
    if (!merge.selection.includes(i)) continue;
    const ManifestEntry& entry = merge.manifest.entries[i];
    const std::string path = metainfo::full_path(merge.manifest, entry);
    const SplitPath split = split_path(path);
    const int folder = to.open(split.folder);
    if (folder < 0 && errno == ENOENT) continue;
    if (folder < 0) return disk_error(errno, merge.target_path + "/" + split.folder, "cannot be opened");
    struct stat info{};
    if (::fstatat(folder, split.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (entry.kind == EntryKind::kFolder && S_ISDIR(info.st_mode)) continue;
    if (entry.kind == EntryKind::kLink && is_linked(folder, split.name, merge.manifest, i)) continue;
    return taken(merge.target_path + "/" + path);
  }
  return {};
}

Status merge_tree(const Merge& merge, bool interrupted) {
  return Merger(merge, interrupted).run();
}

bool is_merged(const Merge& merge) {
  FolderCache to(merge.target);
  for (std::size_t i = 0; i < merge.manifest.entries.size(); ++i) {
    const ManifestEntry& entry = merge.manifest.entries[i];
    if (!merge.selection.includes(i) || entry.kind == EntryKind::kFolder) continue;
    const SplitPath split = split_path(metainfo::full_path(merge.manifest, entry));
    const int folder = to.open(split.folder);
    if (folder < 0) return false;
    const bool there = entry.kind == EntryKind::kLink ? is_linked(folder, split.name, merge.manifest, i)
                                                      : is_there(folder, split.name.c_str(), entry);
    if (!there) return false;
  }
  return true;
}

Status set_mode_and_time(int folder, const std::string& name, const ManifestEntry& entry, ModeChange mode,
                         const std::string& shown) {
  const std::array<timespec, 2> times{timespec{0, UTIME_OMIT}, to_timespec(entry.mtime_ns)};
  struct stat info{};
  if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
    return disk_error(errno, shown, "cannot be examined");
  const bool right_kind = entry.kind == EntryKind::kFolder ? S_ISDIR(info.st_mode) : S_ISREG(info.st_mode);
  if (!right_kind) return Error{Code::kConflict, quoted(shown) + " was replaced by something else"};
  if (!chmod_entry(folder, name, mode)) return disk_error(errno, shown, "cannot be given its mode");
  if (::utimensat(folder, name.c_str(), times.data(), AT_SYMLINK_NOFOLLOW) != 0)
    return disk_error(errno, shown, "cannot be given its time");
  return {};
}

}  // namespace gridtorrent::client::files
