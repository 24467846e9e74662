#include "client/security/rooted_disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/crypto/digest.h"
#include "common/hex.h"
#include "common/text.h"
#include "common/unique_fd.h"

namespace gridtorrent::client::security {
namespace {

constexpr std::size_t kMaxListed = 10'000;

Error lookup_error(int reason, const std::string& root, const std::string& relative) {
  const std::string name = escape_for_display(root + "/" + relative);
  if (reason == ENOENT || reason == ENOTDIR) return {Code::kNotFound, "there is no " + name};
  if (reason == EXDEV || reason == ELOOP) {
    return {Code::kDenied, name +
                               " is refused: below a named root no symbolic link is followed; name the real folder "
                               "as a root of its own (--share-root or --download-root NAME=DIR)"};
  }
  if (reason == EACCES) return {Code::kDenied, "the node may not read " + name};
  return {Code::kDisk, "cannot look at " + name + ": " + errno_text(reason)};
}

Result<std::string> real_path(int fd, const std::string& shown) {
  std::string path(4096 + 256, '\0');
  const ssize_t length = ::readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), path.data(), path.size());
  if (length <= 0) return Error{Code::kDisk, "cannot resolve " + escape_for_display(shown) + ": " + errno_text(errno)};
  path.resize(static_cast<std::size_t>(length));
  return path;
}

void add_number(crypto::Sha256Stream& stream, std::int64_t number) {
  std::uint8_t bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(number) >> (8 * i));
  stream.update(bytes);
}

}  // namespace

Result<Place> RootedDisk::resolve_below(const std::string& root, const std::string& relative, bool must_exist) {
  const UniqueFd top(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!top) {
    return Error{Code::kDisk, "the root " + escape_for_display(root) + " cannot be opened: " + errno_text(errno)};
  }
  GT_ASSIGN(const std::string real_root, real_path(top.get(), root));
  if (relative.empty()) return Place(real_root, real_root);
  // The longest part that exists; what is missing is plain names, checked by the caller.
  for (std::string existing = relative;;) {
    if (open_beneath(top.get(), existing, O_PATH)) break;
    if (must_exist || errno != ENOENT) return lookup_error(errno, root, relative);
    const auto slash = existing.rfind('/');
    if (slash == std::string::npos) break;
    existing.resize(slash);
  }
  return below({real_root, real_root}, relative);
}

Result<std::vector<FolderEntry>> RootedDisk::list(const Place& folder) {
  UniqueFd fd = open_place(folder, O_RDONLY | O_DIRECTORY);
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(fd ? ::fdopendir(fd.get()) : nullptr, ::closedir);
  if (!dir) {
    const int reason = errno;
    const Code code = reason == ENOENT ? Code::kNotFound : reason == EACCES ? Code::kDenied : Code::kInvalid;
    return Error{code, "cannot list " + escape_for_display(folder.path) + ": " + errno_text(reason)};
  }
  fd.release();
  std::vector<FolderEntry> entries;
  while (const dirent* entry = ::readdir(dir.get())) {
    const std::string name = entry->d_name;
    struct stat status{};
    if (name == "." || name == ".." || ::fstatat(::dirfd(dir.get()), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      continue;
    }
    if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) continue;
    if (entries.size() >= kMaxListed) {
      return Error{Code::kExhausted, escape_for_display(folder.path) + " holds more than " +
                                         std::to_string(kMaxListed) + " entries; list a folder below it"};
    }
    const bool is_folder = S_ISDIR(status.st_mode);
    entries.push_back({name, is_folder ? metainfo::EntryKind::kFolder : metainfo::EntryKind::kFile,
                       is_folder ? 0 : static_cast<std::uint64_t>(status.st_size)});
  }
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return entries;
}

bool RootedDisk::exists(const Place& place) {
  return find(place).ok();
}

Status RootedDisk::find(const Place& place) {
  struct stat status{};
  const bool found = place.root.empty() ? ::lstat(place.path.c_str(), &status) == 0
                                        : static_cast<bool>(open_place(place, O_PATH | O_NOFOLLOW));
  if (found) return {};
  const std::string shown = "'" + escape_for_display(place.path) + "'";
  if (errno == ENOENT || errno == ENOTDIR) return Error{Code::kNotFound, shown + " does not exist"};
  if (errno == EACCES) return Error{Code::kDenied, "permission denied: the node may not look at " + shown};
  return Error{Code::kDisk, "cannot look at " + shown + ": " + errno_text(errno)};
}

Result<std::string> RootedDisk::stamp(const Place& parent, const metainfo::Manifest& manifest,
                                      const std::vector<bool>& wanted) {
  const auto missing = [](const std::string& path, int reason) {
    return Error{reason == EACCES ? Code::kDenied : Code::kNotFound, escape_for_display(path) +
                                                                         " cannot be looked at: " + errno_text(reason) +
                                                                         "; put it back, or get the content again"};
  };
  const UniqueFd top = open_place(parent, O_PATH | O_DIRECTORY);
  if (!top) return missing(parent.path, errno);
  const LookUp by{.follow_links = parent.follow_links};
  crypto::Sha256Stream stream;
  UniqueFd folder;
  std::string folder_path;
  for (std::size_t i = 0; i < manifest.entries.size(); ++i) {
    const auto& entry = manifest.entries[i];
    if (entry.kind == metainfo::EntryKind::kFolder || (!wanted.empty() && !wanted[i])) continue;
    const std::string path = metainfo::full_path(manifest, entry);
    const auto slash = path.rfind('/');
    const std::string wanted_folder = slash == std::string::npos ? "" : path.substr(0, slash);
    if (!folder || wanted_folder != folder_path) {  // entries come sorted: most lie in the folder of the one before
      folder = open_below(top.get(), wanted_folder, O_PATH | O_DIRECTORY, by);
      folder_path = wanted_folder;
    }
    struct stat status{};
    const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
    if (!folder || !stat_below(folder.get(), name, status, by)) {
      return missing(parent.path + "/" + path, errno);
    }
    add_number(stream, status.st_size);
    add_number(stream, status.st_mtim.tv_sec);
    add_number(stream, status.st_mtim.tv_nsec);
    add_number(stream, static_cast<std::int64_t>(status.st_ino));
    add_number(stream, S_ISREG(status.st_mode) ? 1 : 0);
  }
  return hex_encode(stream.finish());
}

}  // namespace gridtorrent::client::security
