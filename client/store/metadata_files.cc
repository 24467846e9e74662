#include "client/store/metadata_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "common/text.h"
#include "common/unique_fd.h"

namespace gridtorrent::client::store {
namespace {

Error disk_error(const std::string& doing, const std::string& path) {
  const int reason = errno;
  return {Code::kDisk, "cannot " + doing + " " + escape_for_display(path) + ": " + errno_text(reason) +
                           "; make room or mend the disk of the node's data folder"};
}

Status write_all(int fd, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return disk_error("write", path);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace

Status write_file_durably(const std::string& path, const std::string& content) {
  const std::string beside = path + ".new-" + std::to_string(::gettid());
  {
    const UniqueFd fd(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!fd) return disk_error("create", beside);
    Status written = write_all(fd.get(), content, beside);
    if (written && ::fsync(fd.get()) != 0) written = disk_error("sync", beside);
    if (!written) {
      ::unlink(beside.c_str());
      return written;
    }
  }
  if (::rename(beside.c_str(), path.c_str()) != 0) return disk_error("rename to", path);
  const auto slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash);
  const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) return disk_error("sync", folder);
  return {};
}

Result<std::optional<std::string>> read_whole_file(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) {
    if (errno == ENOENT) return std::optional<std::string>();
    return disk_error("open", path);
  }
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return disk_error("read", path);
  std::string content(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t got = ::read(fd.get(), content.data() + done, content.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return disk_error("read", path);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  content.resize(done);
  return std::optional<std::string>(std::move(content));
}

void remove_if_old(const std::string& path) {
  std::error_code ignored;
  const auto written = std::filesystem::last_write_time(path, ignored);
  if (ignored || std::filesystem::file_time_type::clock::now() - written < kStillNamed) return;
  std::filesystem::remove(path, ignored);
}

void remove_old_but(const std::set<std::string>& named, const std::string& folder) {
  std::error_code ignored;
  const std::filesystem::directory_iterator end;
  for (std::filesystem::directory_iterator one(folder, ignored); !ignored && one != end; one.increment(ignored)) {
    if (!named.contains(one->path().filename().string())) remove_if_old(one->path().string());
  }
}

}  // namespace gridtorrent::client::store
