#include "common/place.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace gridtorrent {
namespace {

UniqueFd open_by_components(int folder, const std::string& path, int flags) {
  UniqueFd held;
  int at = folder;
  std::size_t start = 0;
  while (true) {
    const std::size_t slash = path.find('/', start);
    const std::string component = path.substr(start, slash == std::string::npos ? slash : slash - start);
    if (component.empty() || component == "..") {
      errno = EXDEV;
      return {};
    }
    const bool last = slash == std::string::npos;
    UniqueFd next(::openat(at, component.c_str(),
                           last ? flags | O_NOFOLLOW | O_CLOEXEC : O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next || last) return next;
    held = std::move(next);
    at = held.get();
    start = slash + 1;
  }
}

}  // namespace

Place below(const Place& folder, const std::string& name) {
  return {(folder.path == "/" ? "" : folder.path) + "/" + name, folder.root, folder.follow_links};
}

Place folder_of(const Place& place) {
  const auto slash = place.path.rfind('/');
  const std::string folder = slash == 0 || slash == std::string::npos ? "/" : place.path.substr(0, slash);
  return {folder, place.path == place.root ? std::string() : place.root, place.follow_links};
}

UniqueFd open_place(const Place& place, int flags) {
  if (place.root.empty()) return UniqueFd(::open(place.path.c_str(), flags | O_CLOEXEC));
  const bool is_root = place.path == place.root;
  const std::size_t start = place.root == "/" ? 1 : place.root.size() + 1;
  const bool is_below = place.path.size() > start && place.path.starts_with(place.root) && place.path[start - 1] == '/';
  if (!is_root && !is_below) {
    errno = EXDEV;
    return {};
  }
  const UniqueFd root(::open(place.root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) return {};
  return open_beneath(root.get(), is_root ? "." : place.path.substr(start), flags);
}

UniqueFd open_beneath(int folder, const std::string& path, int flags, bool same_device) {
  const std::string wanted = path.empty() ? "." : path;
  open_how how{};
  how.flags = static_cast<__u64>(static_cast<unsigned>(flags | O_CLOEXEC));
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  if (same_device) how.resolve |= RESOLVE_NO_XDEV;
  while (true) {
    const long fd = ::syscall(SYS_openat2, folder, wanted.c_str(), &how, sizeof how);
    if (fd >= 0) return UniqueFd(static_cast<int>(fd));
    if (errno == ENOSYS || errno == EPERM) break;
    if (errno != EINTR && errno != EAGAIN) return {};
  }
  return open_by_components(folder, wanted, flags);
}

UniqueFd open_below(int folder, const std::string& path, int flags, const LookUp& by) {
  if (!by.follow_links) return open_beneath(folder, path, flags, by.same_device);
  return UniqueFd(::openat(folder, path.empty() ? "." : path.c_str(), flags | O_CLOEXEC));
}

bool stat_below(int folder, const std::string& name, struct stat& info, const LookUp& by) {
  return ::fstatat(folder, name.c_str(), &info, by.follow_links ? 0 : AT_SYMLINK_NOFOLLOW) == 0;
}

}  // namespace gridtorrent
