#include "client/app/data_dir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <sstream>

#include "common/host.h"
#include "common/text.h"

namespace gridtorrent::client::app {
namespace {

Error cannot(const std::string& doing, const std::string& path, int reason) {
  return {Code::kDisk, "cannot " + doing + " " + escape_for_display(path) + ": " + errno_text(reason) +
                           "; make it writable, or choose another --data-dir"};
}

std::string holder(int fd) {
  char text[320] = {};
  const ssize_t length = ::pread(fd, text, sizeof text - 1, 0);
  std::istringstream words{std::string(text, static_cast<std::size_t>(std::max<ssize_t>(length, 0)))};
  std::string pid, host;
  if (!(words >> pid)) return "another process";
  words >> host;
  return "gridtorrentd" + (host.empty() ? "" : " on " + escape_for_display(host)) + " with pid " +
         escape_for_display(pid);
}

}  // namespace

Result<DataDir> DataDir::open(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);  // the umask makes it 0700
  if (error) return cannot("make the data folder", path, error.value());
  // Before a token is used up by an enrolment: the database would refuse it after that.
  GT_TRY(require_local_disk(path, "choose a data folder on a local disk with --data-dir"));
  const std::string lock_path = path + "/lock";
  UniqueFd fd(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return cannot("open", lock_path, errno);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return cannot("lock", lock_path, errno);
    return Error{Code::kConflict, "the data folder " + escape_for_display(path) + " is in use by " + holder(fd.get()) +
                                      "; stop that, or choose another --data-dir"};
  }
  // For messages only. With the host, as the folder may be on a disk that hosts share and that looks like their own.
  const std::string self = std::to_string(::getpid()) + " " + host_name() + "\n";
  if (::ftruncate(fd.get(), 0) != 0 || ::pwrite(fd.get(), self.data(), self.size(), 0) < 0) {
    return cannot("write", lock_path, errno);
  }
  for (const char* folder : {"/hashing"}) {
    std::filesystem::create_directories(path + folder, error);
    if (error) return cannot("make", path + folder, error.value());
  }
  return DataDir(path, std::move(fd));
}

}  // namespace gridtorrent::client::app
