#include "client/files/file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

#include "common/text.h"

namespace gridtorrent::client::files {

namespace {

constexpr std::int64_t kNsPerS = 1'000'000'000;

Code code_of(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return Code::kNotFound;
    case EACCES:
    case EPERM:
      return Code::kDenied;
    case EEXIST:
    case ENOTEMPTY:
    case ELOOP:
      return Code::kConflict;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return Code::kExhausted;
    case ENAMETOOLONG:
      return Code::kInvalid;
    default:
      return Code::kDisk;
  }
}

Status remove_below(int root, const std::string& folder, std::string_view shown_path);

/// What an open folder holds, which is called `path` below `root`; the entry `but` stays.
Status remove_entries(int root, const std::string& path, int folder, std::string_view but,
                      std::string_view shown_path) {
  GT_ASSIGN(const std::vector<Listed> names, list_folder(folder, shown_path));
  bool made_writable = false;
  for (const Listed& listed : names) {
    if (listed.name == but) continue;
    if (listed.type != DT_DIR && ::unlinkat(folder, listed.name.c_str(), 0) == 0) continue;
    if (listed.type != DT_DIR && errno == EACCES && !made_writable) {
      made_writable = ::fchmod(folder, 0700) == 0;
      if (::unlinkat(folder, listed.name.c_str(), 0) == 0) continue;
    }
    if (listed.type != DT_DIR && errno != EISDIR) return errno_error(errno, shown_path, "cannot be removed");
    if (!made_writable) made_writable = ::fchmod(folder, 0700) == 0;
    GT_TRY(remove_below(root, path.empty() ? listed.name : path + "/" + listed.name, shown_path));
    if (::unlinkat(folder, listed.name.c_str(), AT_REMOVEDIR) != 0)
      return errno_error(errno, shown_path, "cannot be removed");
  }
  return {};
}

Status remove_below(int root, const std::string& folder, std::string_view shown_path) {
  UniqueFd fd = open_beneath(root, folder, O_RDONLY | O_DIRECTORY);
  if (!fd && errno == EACCES) {
    const SplitPath split = split_path(folder);
    UniqueFd above = open_beneath(root, split.folder, O_PATH | O_DIRECTORY);
    // Where the mode cannot be changed, the open below says why.
    if (above && !chmod_entry(above.get(), split.name, {.add = 0700}))
      return errno_error(errno, shown_path, "cannot be removed");
    fd = open_beneath(root, folder, O_RDONLY | O_DIRECTORY);
  }
  if (!fd) return errno_error(errno, shown_path, "cannot be removed");
  return remove_entries(root, folder, fd.get(), "", shown_path);
}

}  // namespace

std::string quoted(std::string_view path) {
  return "'" + escape_for_display(path) + "'";
}

Error errno_error(int error_number, std::string_view path, std::string_view action) {
  return {code_of(error_number), quoted(path) + " " + std::string(action) + ": " + errno_text(error_number)};
}

Error place_error(int error_number, const Place& place, std::string_view action) {
  if (!place.root.empty() && (error_number == ELOOP || error_number == EXDEV)) {
    return {Code::kDenied, quoted(place.path) + " " + std::string(action) +
                               ": a symbolic link stands in the way below the root " + quoted(place.root) +
                               "; name the real folder as a root of its own"};
  }
  return errno_error(error_number, place.path, action);
}

Result<UniqueFd> open_folder(const Place& folder) {
  UniqueFd fd = open_place(folder, O_RDONLY | O_DIRECTORY);
  if (!fd) return place_error(errno, folder, "cannot be opened as a folder");
  return fd;
}

SplitPath split_path(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {".", std::string(path)};
  return {std::string(path.substr(0, slash)), std::string(path.substr(slash + 1))};
}

int FolderCache::open(const std::string& folder) {
  if (folder == ".") return root_;
  if (fd_ && folder == folder_) return fd_.get();
  fd_ = open_below(root_, folder, O_RDONLY | O_DIRECTORY, by_);
  // A folder that may be searched but not listed.
  if (!fd_ && errno == EACCES) fd_ = open_below(root_, folder, O_PATH | O_DIRECTORY, by_);
  if (!fd_) return -1;
  folder_ = folder;
  return fd_.get();
}

UniqueFd FolderCache::open_file(const std::string& path, int flags) {
  const SplitPath split = split_path(path);
  const int folder = open(split.folder);
  if (folder < 0) return {};
  if (!by_.follow_links) flags |= O_NOFOLLOW;
  return UniqueFd(::openat(folder, split.name.c_str(), flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

bool FolderCache::stat(const std::string& path, struct stat& info) {
  const SplitPath split = split_path(path);
  const int folder = open(split.folder);
  return folder >= 0 && stat_below(folder, split.name, info, by_);
}

Result<std::vector<Listed>> list_folder(int folder, std::string_view shown_path) {
  UniqueFd own(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!own) return errno_error(errno, shown_path, "cannot be listed");
  DIR* stream = ::fdopendir(own.get());
  if (stream == nullptr) return errno_error(errno, shown_path, "cannot be listed");
  own.release();
  std::vector<Listed> names;
  errno = 0;
  while (const dirent* item = ::readdir(stream)) {
    const std::string_view name = item->d_name;
    if (name != "." && name != "..") names.push_back({std::string(name), item->d_type});
    errno = 0;
  }
  const int error_number = errno;
  ::closedir(stream);
  if (error_number != 0) return errno_error(error_number, shown_path, "cannot be listed");
  return names;
}

Status sync_folder(int folder, std::string_view shown_path) {
  if (::fsync(folder) == 0 || errno == EINVAL || errno == ENOTSUP) return {};
  return Error{Code::kDisk, errno_error(errno, shown_path, "cannot be written to the disk").message};
}

Status make_empty_file(int folder, const std::string& name, std::string_view shown_path) {
  const UniqueFd fd(::openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  if (fd) return {};
  return Error{Code::kDisk, errno_error(errno, shown_path, "cannot be made").message};
}

bool chmod_entry(int folder, const std::string& name, ModeChange change) {
  const UniqueFd entry(::openat(folder, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat info{};
  if (!entry || ::fstat(entry.get(), &info) != 0) return false;
  if (S_ISLNK(info.st_mode)) {
    errno = ELOOP;
    return false;
  }
  const mode_t mode = info.st_mode & 07777, wanted = (mode & change.keep) | change.add;
  // Not by fchmod(2), which takes no such descriptor; one for reading is not to be had of every mode.
  if (mode == wanted || ::chmod(("/proc/self/fd/" + std::to_string(entry.get())).c_str(), wanted) == 0) return true;
  if (errno != ENOENT) return false;
  // /proc is not mounted.
  const UniqueFd readable(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat opened{};
  if (!readable || ::fstat(readable.get(), &opened) != 0) return false;
  if (opened.st_ino != info.st_ino || opened.st_dev != info.st_dev) {
    errno = ELOOP;
    return false;
  }
  return ::fchmod(readable.get(), wanted) == 0;
}

Status remove_tree(int parent, const std::string& name, std::string_view shown_path) {
  struct stat info{};
  if (::fstatat(parent, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
    return errno == ENOENT ? Status{} : errno_error(errno, shown_path, "cannot be removed");
  if (!S_ISDIR(info.st_mode)) return Error{Code::kConflict, quoted(shown_path) + " is no folder; it is left alone"};
  GT_TRY(remove_below(parent, name, shown_path));
  if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) != 0) return errno_error(errno, shown_path, "cannot be removed");
  return {};
}

Status empty_folder(int folder, std::string_view but, std::string_view shown_path) {
  return remove_entries(folder, "", folder, but, shown_path);
}

std::uint64_t disk_usage(int folder) {
  constexpr std::uint64_t kStatBlock = 512;  // st_blocks counts these, whatever the filesystem's own block
  std::uint64_t bytes = 0;
  const auto names = list_folder(folder, "");
  if (!names) return 0;
  for (const Listed& listed : *names) {
    struct stat info{};
    if (::fstatat(folder, listed.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISREG(info.st_mode)) bytes += static_cast<std::uint64_t>(info.st_blocks) * kStatBlock;
    if (!S_ISDIR(info.st_mode)) continue;
    const UniqueFd below(::openat(folder, listed.name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (below) bytes += disk_usage(below.get());
  }
  return bytes;
}

std::int64_t to_ns(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * kNsPerS + time.tv_nsec;
}

timespec to_timespec(std::int64_t ns) {
  timespec time{};
  time.tv_sec = ns / kNsPerS;
  time.tv_nsec = ns % kNsPerS;
  if (time.tv_nsec < 0) {
    time.tv_nsec += kNsPerS;
    --time.tv_sec;
  }
  return time;
}

void name_thread(const char* name, bool low_priority) {
  ::pthread_setname_np(::pthread_self(), name);
  // On Linux the "process" of a thread id is that thread alone.
  if (low_priority) ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 10);
}

}  // namespace gridtorrent::client::files
