#include "client/files/symbolic_link.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "client/files/file_system.h"
#include "metainfo/links.h"

namespace gridtorrent::client::files {

Result<std::string> read_link(int folder, const std::string& name, const std::string& shown) {
  std::string target(metainfo::kMaxTargetBytes + 1, '\0');
  const ssize_t size = ::readlinkat(folder, name.c_str(), target.data(), target.size());
  if (size < 0 && errno == EINVAL) return Error{Code::kConflict, quoted(shown) + " is no symbolic link any more"};
  if (size < 0) return errno_error(errno, shown, "cannot be read");
  if (static_cast<std::size_t>(size) == target.size())
    return Error{Code::kInvalid, "the target of " + quoted(shown) + " is too long"};
  target.resize(static_cast<std::size_t>(size));
  return target;
}

bool is_link_to(int folder, const std::string& name, const std::string& target) {
  const auto found = read_link(folder, name, name);
  return found && *found == target;
}

Status make_link(int folder, const std::string& name, const std::string& target, const metainfo::ManifestEntry& entry,
                 const std::string& shown) {
  if (::symlinkat(target.c_str(), folder, name.c_str()) != 0) {
    if (errno != EEXIST) return Error{Code::kDisk, errno_error(errno, shown, "cannot be made").message};
    if (!is_link_to(folder, name, target))
      return Error{Code::kConflict, quoted(shown) +
                                        " already exists and is not this symbolic link; move it away or "
                                        "choose another folder"};
  }
  const std::array<timespec, 2> times{timespec{0, UTIME_OMIT}, to_timespec(entry.mtime_ns)};
  if (::utimensat(folder, name.c_str(), times.data(), AT_SYMLINK_NOFOLLOW) != 0)
    return Error{Code::kDisk, errno_error(errno, shown, "cannot be given its time").message};
  return {};
}

}  // namespace gridtorrent::client::files
