#include "tracker/store/metadata_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "common/text.h"
#include "common/unique_fd.h"

namespace gridtorrent::tracker::store {

namespace {

constexpr std::string_view kPartial = ".partial-";
constexpr std::size_t kHexDigits = 64;

Error disk_error(std::string_view doing, const std::string& path, int error_number) {
  return {Code::kDisk, "cannot " + std::string(doing) + " " + path + ": " + errno_text(error_number)};
}

Status check_hash(const std::string& hex) {
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (hex.size() == kHexDigits && std::all_of(hex.begin(), hex.end(), is_hex)) return {};
  return Error{Code::kInvalid, "\"" + escape_for_display(hex.substr(0, 80)) + "\" is no SHA-256 in hexadecimal"};
}

Status sync_folder(const std::string& folder) {
  const UniqueFd handle(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!handle || ::fsync(handle.get()) != 0) return disk_error("sync", folder, errno);
  return {};
}

Status write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return disk_error("write", path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Error missing(const std::string& hex) {
  return {Code::kCorrupt, "the server has no document " + hex + "; look with: gridtorrent-server check"};
}

}  // namespace

Result<std::unique_ptr<MetadataFolder>> MetadataFolder::attach(const std::string& data_dir) {
  const std::string folder = data_dir + "/metadata";
  if (::mkdir(folder.c_str(), 0700) != 0) {
    if (errno != EEXIST) return disk_error("create", folder, errno);
  } else {
    GT_TRY(sync_folder(data_dir));
  }
  return std::unique_ptr<MetadataFolder>(new MetadataFolder(folder));
}

Result<std::unique_ptr<MetadataFolder>> MetadataFolder::open(const std::string& data_dir) {
  namespace fs = std::filesystem;
  GT_ASSIGN(auto folder, attach(data_dir));
  std::error_code failed;
  for (auto entry = fs::directory_iterator(folder->folder_, failed); !failed && entry != fs::directory_iterator();
       entry.increment(failed)) {
    if (!entry->path().filename().string().starts_with(kPartial)) continue;
    std::error_code ignored;  // a leftover that stays takes room, no more
    fs::remove(entry->path(), ignored);
  }
  if (failed) return Error{Code::kDisk, "cannot read " + folder->folder_ + ": " + failed.message()};
  return folder;
}

Result<std::size_t> MetadataFolder::count(const std::string& data_dir) {
  namespace fs = std::filesystem;
  const std::string folder = data_dir + "/metadata";
  std::error_code failed;
  std::size_t documents = 0;
  fs::directory_iterator entry(folder, failed);
  if (failed == std::errc::no_such_file_or_directory) return documents;
  for (; !failed && entry != fs::directory_iterator(); entry.increment(failed)) {
    if (check_hash(entry->path().filename().string())) ++documents;
  }
  if (failed) return Error{Code::kDisk, "cannot read " + folder + ": " + failed.message()};
  return documents;
}

Status MetadataFolder::put(const std::string& sha256_hex, std::string_view bytes) {
  GT_TRY(check_hash(sha256_hex));
  const std::string path = folder_ + "/" + sha256_hex;
  // Not by its size alone: one that was altered on the disk is made good by publishing again.
  if (const auto there = read(sha256_hex, 0, bytes.size() + 1); there && *there == bytes) return {};

  static std::atomic<std::uint64_t> counter{0};
  const std::string partial =
      folder_ + "/" + std::string(kPartial) + std::to_string(::getpid()) + "-" + std::to_string(++counter);
  const auto write = [&]() -> Status {
    const UniqueFd file(::open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) return disk_error("create", partial, errno);
    GT_TRY(write_all(file.get(), bytes, path));
    if (::fsync(file.get()) != 0) return disk_error("sync", path, errno);
    if (::rename(partial.c_str(), path.c_str()) != 0) return disk_error("name", path, errno);
    return {};
  };
  const Status written = write();
  if (!written) {
    ::unlink(partial.c_str());
    return written;
  }
  return sync_folder(folder_);
}

Result<std::uint64_t> MetadataFolder::size(const std::string& sha256_hex) {
  GT_TRY(check_hash(sha256_hex));
  struct stat there = {};
  if (::stat((folder_ + "/" + sha256_hex).c_str(), &there) != 0) {
    if (errno == ENOENT) return missing(sha256_hex);
    return disk_error("look at", folder_ + "/" + sha256_hex, errno);
  }
  return static_cast<std::uint64_t>(there.st_size);
}

Result<std::string> MetadataFolder::read(const std::string& sha256_hex, std::uint64_t offset, std::size_t max_bytes) {
  GT_TRY(check_hash(sha256_hex));
  const std::string path = folder_ + "/" + sha256_hex;
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) {
    if (errno == ENOENT) return missing(sha256_hex);
    return disk_error("open", path, errno);
  }
  struct stat there = {};
  if (::fstat(file.get(), &there) != 0) return disk_error("look at", path, errno);
  const auto size = static_cast<std::uint64_t>(there.st_size);
  if (offset >= size) return std::string();
  std::string bytes(static_cast<std::size_t>(std::min<std::uint64_t>(max_bytes, size - offset)), '\0');
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got =
        ::pread(file.get(), bytes.data() + filled, bytes.size() - filled, static_cast<off_t>(offset + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return disk_error("read", path, errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

}  // namespace gridtorrent::tracker::store
