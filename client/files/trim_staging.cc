#include "client/files/trim_staging.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <string_view>

#include "client/files/file_system.h"

namespace gridtorrent::client::files {
namespace {

class Trim {
 public:
  Trim(const metainfo::Manifest& manifest, const Selection& selection, std::string shown) : shown_(std::move(shown)) {
    for (std::size_t i = 0; i < manifest.entries.size(); ++i)
      if (selection.includes(i)) selected_.insert(manifest.entries[i].path);
  }

  /// `path` below BASE, of an open folder.
  Status in(int folder, const std::string& path) {
    GT_ASSIGN(const std::vector<Listed> names, list_folder(folder, shown_ + "/" + path));
    for (const Listed& one : names) {
      const std::string own = path.empty() ? one.name : path + "/" + one.name;
      struct stat info{};
      if (::fstatat(folder, one.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
        return errno_error(errno, shown_ + "/" + own, "cannot be examined");
      if (!selected_.contains(own)) {
        GT_TRY(remove(folder, one.name, S_ISDIR(info.st_mode), shown_ + "/" + own));
      } else if (S_ISDIR(info.st_mode)) {
        const UniqueFd next(::openat(folder, one.name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!next) return errno_error(errno, shown_ + "/" + own, "cannot be opened");
        GT_TRY(in(next.get(), own));
      }
    }
    return {};
  }

 private:
  static Status remove(int folder, const std::string& name, bool is_folder, const std::string& shown) {
    if (is_folder) return remove_tree(folder, name, shown);
    if (::unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT) return {};
    return errno_error(errno, shown, "cannot be removed");
  }

  const std::string shown_;  ///< of BASE
  std::set<std::string_view> selected_;
};

}  // namespace

Status trim_staging(int staging, const metainfo::Manifest& manifest, const Selection& selection,
                    const std::string& shown) {
  if (manifest.is_single_file() || selection.is_all()) return {};
  const UniqueFd base(::openat(staging, manifest.base_name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!base) return errno == ENOENT ? Status() : errno_error(errno, shown, "cannot be opened");
  return Trim(manifest, selection, shown + "/" + manifest.base_name).in(base.get(), "");
}

}  // namespace gridtorrent::client::files
