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
      : manifest_(manifest), selection_(selection), look_only_(look_only), folders_(parent), above_(parent) {}

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
    const int folder = folders_.open(split.folder);
    struct stat info{};
    if (folder < 0 || ::fstatat(folder, split.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return {};
    const bool untouched = entry.kind == EntryKind::kLink
                               ? is_link_to(folder, split.name, manifest_.targets.at(static_cast<std::uint32_t>(index)))
                               : is_untouched(info, entry);
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
    int folder = folders_.open(split.folder);
    if (folder < 0 && errno != EACCES) return {};
    if (folder >= 0 && ::unlinkat(folder, split.name.c_str(), flags) == 0) return {};
    if (errno == EACCES && let_in(split.folder)) {  // a folder of ours without write permission, as it was published
      folder = folders_.open(split.folder);
      if (folder >= 0 && ::unlinkat(folder, split.name.c_str(), flags) == 0) return {};
    }
    const int reason = errno;
    if (reason == ENOENT || reason == ENOTEMPTY || reason == EEXIST || reason == ENOTDIR) return {};
    return Error{Code::kDisk, errno_error(reason, shown, "cannot be removed").message};
  }

  bool let_in(const std::string& folder) {
    if (folder == ".") return false;  // not ours
    const SplitPath split = split_path(folder);
    const int above = above_.open(split.folder);
    return above >= 0 && chmod_entry(above, split.name, {.add = 0700});
  }

  const metainfo::Manifest& manifest_;
  const Selection& selection_;
  const bool look_only_;
  FolderCache folders_, above_;
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
