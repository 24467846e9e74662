#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/place.h"
#include "common/result.h"
#include "common/unique_fd.h"

/// Thin helpers over the system calls for files: no symbolic link is followed below the folder one starts from, but
/// where a LookUp says so.
namespace gridtorrent::client::files {

/// 'path', escaped, for messages.
std::string quoted(std::string_view path);
/// Where <iomanip> is included, std::quoted would be the better match for a std::string.
inline std::string quoted(const std::string& path) {
  return quoted(std::string_view(path));
}

/// What an errno means for a path: ENOENT is kNotFound, EACCES kDenied, EEXIST kConflict, ENOSPC kDisk, ...
Error errno_error(int error_number, std::string_view path, std::string_view action);

/// As errno_error; a link below a named root is refused (kDenied) with the way out.
Error place_error(int error_number, const Place& place, std::string_view action);

/// A folder to read; where a person named it, symbolic links in it are followed.
Result<UniqueFd> open_folder(const Place& folder);

/// The folder part and the last component of a relative path; the folder is "." where there is none.
struct SplitPath {
  std::string folder;
  std::string name;
};
SplitPath split_path(std::string_view path);

/// Finds the folder that holds a path below a root and keeps the last one open: entries come sorted, so that most
/// look-ups open nothing. Not thread-safe.
class FolderCache {
 public:
  /// `root` must stay open.
  explicit FolderCache(int root, const LookUp& by = {}) : root_(root), by_(by) {}
  /// The folder's descriptor, valid until the next call, or -1 with errno.
  int open(const std::string& folder);
  /// Opens a file for reading without blocking on FIFOs; empty with errno on failure.
  UniqueFd open_file(const std::string& path, int flags);
  /// False with errno on failure.
  bool stat(const std::string& path, struct stat& info);

 private:
  const int root_;
  const LookUp by_;
  UniqueFd fd_;
  std::string folder_;
};

/// The names in a folder but "." and "..", in no order. The descriptor is read from its start and stays open.
struct Listed {
  std::string name;
  unsigned char type = 0;  ///< DT_*, DT_UNKNOWN where the filesystem does not say
};
Result<std::vector<Listed>> list_folder(int folder, std::string_view shown_path);

/// What a folder holds, and what it is called there, to the disk. Some filesystems know no fsync of folders.
Status sync_folder(int folder, std::string_view shown_path);

/// Makes an empty file of mode 0600 in an open folder, or finds one. kDisk.
Status make_empty_file(int folder, const std::string& name, std::string_view shown_path);

/// Of the bits that a mode has, those of `keep` stay, and `add` comes to them.
struct ModeChange {
  mode_t keep = 07777, add = 0;
};
/// This very mode. A folder made below a set-group-id folder of the site keeps that bit.
inline ModeChange to_mode(std::uint32_t mode) {
  return {.keep = S_ISGID, .add = mode};
}
/// Changes the mode of what is called `name` in an open folder, never of what a link leads to (ELOOP). It is looked at
/// and changed through one descriptor: where others may write in the folder, something else may bear the name by then.
/// False and errno set on failure.
bool chmod_entry(int folder, const std::string& name, ModeChange change);

/// Removes a folder below `parent` with all in it, folders without permission bits included. Missing: nothing to do.
Status remove_tree(int parent, const std::string& name, std::string_view shown_path);
/// Removes all in an open folder but the entry `but`.
Status empty_folder(int folder, std::string_view but, std::string_view shown_path);

/// Bytes of disk behind the files below a folder, as `du` counts them; what cannot be looked at counts as nothing.
std::uint64_t disk_usage(int folder);

/// Nanoseconds since the epoch, and back.
std::int64_t to_ns(const timespec& time);
timespec to_timespec(std::int64_t ns);

/// Names the calling thread and, if asked, lets all others go first.
void name_thread(const char* name, bool low_priority = false);

}  // namespace gridtorrent::client::files
