#include "client/files/remove_placed.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "client/files/file_system.h"
#include "client/files/selection.h"
#include "client/files/symbolic_link.h"

namespace gridtorrent::client::files {
namespace {

using metainfo::EntryKind;
using metainfo::ManifestEntry;

/// One removal; lives for one call.
class Removal {
 public:
  Removal(int parent, const metainfo::Manifest& manifest, const Selection& selection, bool look_only)
      : manifest_(manifest), selection_(selection), look_only_(look_only), folders_(parent) {}
  /// Folders that are still there get the modes back that they had, the deepest first.
  ~Removal() {
    for (auto entered = entered_.rbegin(); entered != entered_.rend(); ++entered) {
      const SplitPath split = split_path(entered->folder);
      const int above = folders_.open(split.folder);
      if (above >= 0) chmod_entry(above, split.name, to_mode(entered->mode));
    }
  }
  Removal(const Removal&) = delete;
  Removal& operator=(const Removal&) = delete;

  Result<RemovedFiles> run() {
    for (std::size_t i = 0; i < manifest_.entries.size(); ++i) {
      const ManifestEntry& entry = manifest_.entries[i];
      if (selection_.includes(i) && entry.kind != EntryKind::kFolder) GT_TRY(file(i));
    }
    // Children first: a folder goes once nothing is left in it.
    for (std::size_t i = manifest_.entries.size(); i-- > 0 && !look_only_;) {
      const ManifestEntry& entry = manifest_.entries[i];
      if (selection_.includes(i) && entry.kind == EntryKind::kFolder) GT_TRY(folder(entry));
    }
    return removed_;
  }

 private:
  /// Or a symbolic link.
  Status file(std::size_t index) {
    const ManifestEntry& entry = manifest_.entries[index];
    const std::string path = metainfo::full_path(manifest_, entry);
    const SplitPath split = split_path(path);
    struct stat info{};
    const auto look = [&](int holder) {
      return ::fstatat(holder, split.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
    };
    if (!within(split.folder, look)) {
      if (errno == EACCES) return Error{Code::kDisk, errno_error(errno, path, "cannot be looked at").message};
      return {};  // it is gone, or something else stands in its place
    }
    const auto is_our_link = [&](int holder) {
      return is_link_to(holder, split.name, manifest_.targets.at(static_cast<std::uint32_t>(index)));
    };
    const bool untouched =
        entry.kind == EntryKind::kLink ? within(split.folder, is_our_link) : is_untouched(info, entry);
    if (!untouched) {
      if (removed_.kept++ == 0) removed_.first_kept = path;
      return {};
    }
    if (!look_only_) GT_TRY(unlink(split, 0, path));
    ++removed_.files;
    removed_.bytes += entry.size;
    return {};
  }

  /// As a commit left it: whoever changed it since owns what is in it.
  static bool is_untouched(const struct stat& info, const ManifestEntry& entry) {
    return S_ISREG(info.st_mode) && static_cast<std::uint64_t>(info.st_size) == entry.size &&
           to_ns(info.st_mtim) == entry.mtime_ns;
  }

  Status folder(const ManifestEntry& entry) {
    const std::string path = metainfo::full_path(manifest_, entry);
    return unlink(split_path(path), AT_REMOVEDIR, path);
  }

  Status unlink(const SplitPath& split, int flags, const std::string& shown) {
    if (within(split.folder, [&](int holder) { return ::unlinkat(holder, split.name.c_str(), flags) == 0; })) return {};
    const int reason = errno;
    if (reason != EACCES && reason != EPERM && reason != EBUSY && reason != EROFS && reason != EIO) return {};
    return Error{Code::kDisk, errno_error(reason, shown, "cannot be removed").message};
  }

  /// Whether `action` succeeds in a folder, else errno. Folders of ours may have been published without permissions:
  /// they get them while this lasts.
  template <class Action>
  bool within(const std::string& folder, const Action& action) {
    for (bool first = true;; first = false) {
      const int fd = folders_.open(folder);
      if (fd >= 0 && action(fd)) return true;
      if (errno != EACCES || !first) return false;
      if (!let_in(folder)) {
        errno = EACCES;
        return false;
      }
    }
  }

  bool let_in(const std::string& folder) {
    if (folder == ".") return false;  // not ours
    const SplitPath split = split_path(folder);
    return within(split.folder, [&](int above) {
      struct stat info{};
      if (::fstatat(above, split.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(info.st_mode)) return false;
      if (!chmod_entry(above, split.name, {.add = 0700})) return false;
      if ((info.st_mode & 0700) != 0700) entered_.push_back({folder, info.st_mode & 07777});
      return true;
    });
  }

  struct Entered {
    std::string folder;
    mode_t mode;  ///< before
  };

  const metainfo::Manifest& manifest_;
  const Selection& selection_;
  const bool look_only_;
  FolderCache folders_;
  std::vector<Entered> entered_;
  RemovedFiles removed_;
};

}  // namespace

Result<RemovedFiles> remove_placed_files(const Place& parent, const metainfo::Manifest& manifest,
                                         const std::vector<bool>& wanted, bool look_only) {
  const UniqueFd fd = open_place(parent, O_PATH | O_DIRECTORY);
  if (!fd && errno == ENOENT) return RemovedFiles();
  if (!fd) return place_error(errno, parent, "cannot be opened");
  const Selection selection(manifest, wanted);
  return Removal(fd.get(), manifest, selection, look_only).run();
}

}  // namespace gridtorrent::client::files
