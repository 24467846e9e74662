#include "client/app/data_dir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "common/text.h"

namespace gridtorrent::client::app {
namespace {

Error cannot(const std::string& doing, const std::string& path, int reason) {
  return {Code::kDisk, "cannot " + doing + " " + escape_for_display(path) + ": " + errno_text(reason) +
                           "; make it writable, or choose another --data-dir"};
}

std::string holder(int fd) {
  char text[32] = {};
  const ssize_t length = ::pread(fd, text, sizeof text - 1, 0);
  std::string pid(text, static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  while (pid.ends_with('\n')) pid.pop_back();
  return pid.empty() ? "another process" : "gridtorrentd with pid " + escape_for_display(pid);
}

}  // namespace

Result<DataDir> DataDir::open(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);  // the umask makes it 0700
  if (error) return cannot("make the data folder", path, error.value());
  const std::string lock_path = path + "/lock";
  UniqueFd fd(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return cannot("open", lock_path, errno);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return cannot("lock", lock_path, errno);
    return Error{Code::kConflict, "the data folder " + escape_for_display(path) + " is in use by " + holder(fd.get()) +
                                      "; stop that, or choose another --data-dir"};
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(fd.get(), 0) != 0 || ::pwrite(fd.get(), pid.data(), pid.size(), 0) < 0) {
    return cannot("write", lock_path, errno);
  }
  for (const char* folder : {"/hashing"}) {
    std::filesystem::create_directories(path + folder, error);
    if (error) return cannot("make", path + folder, error.value());
  }
  return DataDir(path, std::move(fd));
}

}  // namespace gridtorrent::client::app
