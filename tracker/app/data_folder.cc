#include "tracker/app/data_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <filesystem>

#include "common/text.h"

namespace gridtorrent::tracker::app {

namespace {

Error system_error(const std::string& what, const std::string& path, int error_number) {
  const Code code = error_number == EACCES || error_number == EPERM ? Code::kDenied : Code::kDisk;
  return {code, what + " " + escape_for_display(path) + ": " + errno_text(error_number)};
}

std::string read_line(int fd) {
  std::array<char, 32> buffer{};
  const ssize_t size = ::pread(fd, buffer.data(), buffer.size(), 0);
  std::string text(buffer.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  return text.substr(0, text.find('\n'));
}

}  // namespace

Status prepare_data_folder(const std::string& path) {
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failed);  // mkdir says what is wrong
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return system_error("cannot make the data folder", path, errno);
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return system_error("cannot use the data folder", path, errno);
  if (!S_ISDIR(info.st_mode)) return Error{Code::kConflict, escape_for_display(path) + " is no folder"};
  if (info.st_uid != ::geteuid()) {
    return Error{Code::kDenied, "the data folder " + escape_for_display(path) + " belongs to uid " +
                                    std::to_string(info.st_uid) + ": run the server as that user"};
  }
  if ((info.st_mode & 077) != 0 && ::chmod(path.c_str(), 0700) != 0) {
    return system_error("cannot protect the data folder", path, errno);
  }
  return {};
}

Result<DataFolderLock> DataFolderLock::take(const std::string& path) {
  const std::string file = path + "/lock";
  UniqueFd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd) return system_error("cannot open", file, errno);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return system_error("cannot lock", file, errno);
    const std::string pid = read_line(fd.get());
    return Error{Code::kConflict, "another gridtorrent-server" + (pid.empty() ? "" : " (pid " + pid + ")") + " uses " +
                                      escape_for_display(path) + ": stop it, or give this one another --data-dir"};
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(fd.get(), 0) != 0 || ::pwrite(fd.get(), pid.data(), pid.size(), 0) < 0) {
    return system_error("cannot write", file, errno);
  }
  return DataFolderLock(std::move(fd));
}

Status write_public_file(const std::string& path, const std::string& content) {
  const std::string beside = path + ".new";
  {
    const UniqueFd file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!file) return system_error("cannot write", beside, errno);
    if (::fchmod(file.get(), 0644) != 0) return system_error("cannot write", beside, errno);
    std::string_view left = content;
    while (!left.empty()) {
      const ssize_t written = ::write(file.get(), left.data(), left.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return system_error("cannot write", beside, errno);
      left.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::fsync(file.get()) != 0) return system_error("cannot sync", beside, errno);
  }
  if (::rename(beside.c_str(), path.c_str()) != 0) return system_error("cannot replace", path, errno);
  return {};
}

}  // namespace gridtorrent::tracker::app
