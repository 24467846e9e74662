#include "client/files/local_sources.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <string_view>

#include "client/files/copy_files.h"
#include "client/files/file_system.h"
#include "client/files/progress_meter.h"
#include "client/files/selection.h"
#include "client/files/staging_folder.h"

namespace gridtorrent::client::files {
namespace {

using metainfo::EntryKind;
using metainfo::Manifest;
using metainfo::ManifestEntry;

/// One call of stage_local_sources.
class LocalCopy {
 public:
  LocalCopy(const LocalTree& earlier, const StagingPlan& plan, const Manifest& next, int from, int to)
      : earlier_(earlier),
        plan_(plan),
        next_(next),
        from_(from, {.follow_links = earlier.parent.follow_links}),
        to_(to) {}

  /// Bytes taken.
  Result<std::uint64_t> one(std::size_t index, const LocalSource& source, ProgressMeter& meter, std::stop_token stop) {
    const ManifestEntry& entry = next_.entries[index];
    const ManifestEntry& known = earlier_.manifest.entries[source.entry];
    const std::string path = metainfo::full_path(next_, entry);
    const std::uint64_t bytes = std::min(entry.size, known.size);
    const SplitPath split = split_path(path);
    const int folder = to_.open(split.folder);
    if (folder < 0) return disk_error(plan_.staging() + "/" + split.folder, "cannot be opened");
    struct stat staged{};
    // Of an attempt before: what it lacks is found by hashing.
    if (::fstatat(folder, split.name.c_str(), &staged, AT_SYMLINK_NOFOLLOW) == 0 &&
        static_cast<std::uint64_t>(staged.st_size) == entry.size) {
      meter.add(bytes);
      return bytes;
    }
    const std::string known_path = metainfo::full_path(earlier_.manifest, known);
    const UniqueFd from = from_.open_file(known_path, O_RDONLY);
    if (!from) return errno_error(errno, earlier_.parent.path + "/" + known_path, "cannot be read");
    const UniqueFd to(
        ::openat(folder, split.name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!to) return disk_error(plan_.staging() + "/" + path, "cannot be made");
    GT_TRY(copy_bytes(from.get(), to.get(), bytes, earlier_.parent.path + "/" + known_path, meter, std::move(stop)));
    // A reflink takes all of a file.
    if (known.size > entry.size && ::ftruncate(to.get(), static_cast<off_t>(entry.size)) != 0)
      return disk_error(plan_.staging() + "/" + path, "cannot be written");
    return bytes;
  }

 private:
  static Error disk_error(const std::string& path, std::string_view action) {
    return {Code::kDisk, errno_error(errno, path, action).message};
  }

  const LocalTree& earlier_;
  const StagingPlan& plan_;
  const Manifest& next_;
  FolderCache from_, to_;
};

/// Looks through one folder after the other for a name that no manifest knows.
class ForeignSearch {
 public:
  ForeignSearch(const Manifest& manifest, const std::vector<bool>& held, bool all)
      : base_(manifest.base_name), all_(all) {
    const Selection selection(manifest, held);
    for (std::size_t i = 0; i < manifest.entries.size(); ++i)
      if (selection.includes(i)) known_.insert(manifest.entries[i].path);
  }

  /// `path` below BASE, of an open folder.
  Result<std::string> in(int folder, const std::string& path) {
    GT_ASSIGN(const std::vector<Listed> names, list_folder(folder, base_ + "/" + path));
    for (const Listed& one : names) {
      const std::string own = path.empty() ? one.name : path + "/" + one.name;
      if (!known_.contains(own) && !all_ && is_nobodys(one.name)) continue;
      if (!known_.contains(own)) return base_ + "/" + own;
      struct stat info{};
      if (::fstatat(folder, one.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(info.st_mode)) continue;
      const UniqueFd next(
          ::openat(folder, one.name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
      if (!next) return errno_error(errno, base_ + "/" + own, "cannot be opened");
      GT_ASSIGN(std::string found, in(next.get(), own));
      if (!found.empty()) return found;
    }
    return std::string();
  }

 private:
  /// Of another get into this folder, or of the filesystem.
  static bool is_nobodys(std::string_view name) {
    return name.starts_with(".gridtorrent-x_") || name.starts_with(".nfs") || name == "lost+found";
  }

  const std::string base_;
  const bool all_;
  std::set<std::string_view> known_;
};

}  // namespace

std::vector<std::optional<LocalSource>> plan_local_sources(const Manifest& earlier, const std::vector<bool>& held,
                                                           const Manifest& next, const std::vector<bool>& wanted) {
  std::map<crypto::Sha256Digest, std::uint32_t> by_root;
  std::map<std::string_view, std::uint32_t> by_path;
  for (std::uint32_t i = 0; i < earlier.entries.size(); ++i) {
    const ManifestEntry& entry = earlier.entries[i];
    if (entry.size == 0 || (!held.empty() && !held[i])) continue;
    by_root.emplace(entry.root, i);
    by_path.emplace(entry.path, i);
  }
  std::vector<std::optional<LocalSource>> sources(next.entries.size());
  for (std::size_t i = 0; i < next.entries.size(); ++i) {
    const ManifestEntry& entry = next.entries[i];
    if (entry.size == 0 || (!wanted.empty() && !wanted[i])) continue;
    const auto same = by_root.find(entry.root);
    const auto named = by_path.find(entry.path);
    if (same != by_root.end() && earlier.entries[same->second].size == entry.size) {
      sources[i] = LocalSource{same->second, true};
    } else if (named != by_path.end()) {
      sources[i] = LocalSource{named->second, false};
    }
  }
  return sources;
}

Result<std::uint64_t> stage_local_sources(const LocalTree& earlier, const StagingPlan& plan, const Manifest& next,
                                          const ProgressFn& progress, std::stop_token stop) {
  const auto sources = plan_local_sources(earlier.manifest, earlier.held, next, plan.wanted);
  GT_ASSIGN(const UniqueFd from, open_folder(earlier.parent));
  GT_ASSIGN(const UniqueFd to, open_staging(plan));
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (sources[i]) total += std::min(next.entries[i].size, earlier.manifest.entries[sources[i]->entry].size);
  }
  ProgressMeter meter(progress, total);
  LocalCopy copy(earlier, plan, next, from.get(), to.get());
  std::uint64_t taken = 0;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (!sources[i]) continue;
    if (stop.stop_requested()) return Error{Code::kCancelled, "stopped on request"};
    GT_ASSIGN(const std::uint64_t bytes, copy.one(i, *sources[i], meter, stop));
    taken += bytes;
  }
  meter.finish();
  return taken;
}

Result<std::string> find_foreign_path(const LocalTree& tree, bool all) {
  if (tree.manifest.is_single_file()) return std::string();
  const Place place = below(tree.parent, tree.manifest.base_name);
  const UniqueFd base = open_place(place, O_RDONLY | O_DIRECTORY);
  if (!base) return place_error(errno, place, "cannot be opened");
  return ForeignSearch(tree.manifest, tree.held, all).in(base.get(), "");
}

bool is_own_folder(const Place& place) {
  const UniqueFd folder = open_place(place, O_RDONLY | O_DIRECTORY);
  struct stat info{};
  if (!folder || ::fstat(folder.get(), &info) != 0) return false;
  return info.st_uid == ::geteuid() && (info.st_mode & S_IWOTH) == 0;
}

}  // namespace gridtorrent::client::files
