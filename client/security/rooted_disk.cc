#include "client/security/rooted_disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

UniqueFd open_beneath(int folder, const std::string& relative) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  return UniqueFd(static_cast<int>(::syscall(SYS_openat2, folder, relative.c_str(), &how, sizeof how)));
}

Error lookup_error(int reason, const std::string& root, const std::string& relative) {
  const std::string name = escape_for_display(root + "/" + relative);
  if (reason == ENOENT || reason == ENOTDIR) return {Code::kNotFound, "there is no " + name};
  if (reason == EXDEV || reason == ELOOP) {
    return {Code::kDenied, name + " leads out of its root and is refused"};
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

Result<std::string> RootedDisk::resolve_below(const std::string& root, const std::string& relative, bool must_exist) {
  const UniqueFd top(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!top) {
    return Error{Code::kDisk, "the root " + escape_for_display(root) + " cannot be opened: " + errno_text(errno)};
  }
  if (relative.empty()) return real_path(top.get(), root);
  // The longest part that exists is resolved by the kernel; what is missing is plain names, checked by the caller.
  std::string existing = relative, missing;
  while (true) {
    const UniqueFd found = open_beneath(top.get(), existing.empty() ? "." : existing);
    if (found) {
      GT_ASSIGN(const std::string real, real_path(found.get(), root + "/" + existing));
      return missing.empty() ? real : real + "/" + missing;
    }
    const int reason = errno;
    if (must_exist || reason != ENOENT || existing.empty()) return lookup_error(reason, root, relative);
    const auto slash = existing.rfind('/');
    const auto last = slash == std::string::npos ? existing : existing.substr(slash + 1);
    missing = missing.empty() ? last : last + "/" + missing;
    existing = slash == std::string::npos ? "" : existing.substr(0, slash);
    // A symbolic link that leads nowhere would be followed later: only what is really absent may be made.
    struct stat status{};
    const UniqueFd parent = open_beneath(top.get(), existing.empty() ? "." : existing);
    if (parent && ::fstatat(parent.get(), last.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
      return lookup_error(ELOOP, root, relative);
    }
  }
}

Result<std::vector<FolderEntry>> RootedDisk::list(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(folder.c_str()), ::closedir);
  if (!dir) {
    const int reason = errno;
    const Code code = reason == ENOENT ? Code::kNotFound : reason == EACCES ? Code::kDenied : Code::kInvalid;
    return Error{code, "cannot list " + escape_for_display(folder) + ": " + errno_text(reason)};
  }
  std::vector<FolderEntry> entries;
  while (const dirent* entry = ::readdir(dir.get())) {
    const std::string name = entry->d_name;
    struct stat status{};
    if (name == "." || name == ".." || ::fstatat(::dirfd(dir.get()), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      continue;
    }
    if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) continue;
    if (entries.size() >= kMaxListed) {
      return Error{Code::kExhausted, escape_for_display(folder) + " holds more than " + std::to_string(kMaxListed) +
                                         " entries; list a folder below it"};
    }
    const bool is_folder = S_ISDIR(status.st_mode);
    entries.push_back({name, is_folder ? metainfo::EntryKind::kFolder : metainfo::EntryKind::kFile,
                       is_folder ? 0 : static_cast<std::uint64_t>(status.st_size)});
  }
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return entries;
}

bool RootedDisk::exists(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0;
}

Result<std::string> RootedDisk::stamp(const std::string& parent, const metainfo::Manifest& manifest,
                                      const std::vector<bool>& wanted) {
  crypto::Sha256Stream stream;
  for (std::size_t i = 0; i < manifest.entries.size(); ++i) {
    const auto& entry = manifest.entries[i];
    if (entry.kind != metainfo::EntryKind::kFile || (!wanted.empty() && !wanted[i])) continue;
    const std::string path = parent + "/" + metainfo::full_path(manifest, entry);
    struct stat status{};
    if (::lstat(path.c_str(), &status) != 0) {
      const int reason = errno;
      return Error{reason == EACCES ? Code::kDenied : Code::kNotFound,
                   escape_for_display(path) + " cannot be looked at: " + errno_text(reason) +
                       "; put it back, or get the content again"};
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
