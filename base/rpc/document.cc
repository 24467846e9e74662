#include "base/rpc/document.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "common/hex.h"
#include "common/text.h"

namespace gridtorrent::rpc {

namespace {

Error disk_error(std::string_view doing, const std::string& path, int error_number) {
  return {Code::kDisk,
          "cannot " + std::string(doing) + " " + escape_for_display(path) + ": " + errno_text(error_number)};
}

Error too_much() {
  return {Code::kBusy, "the server takes in too much at once; try again in a minute"};
}

}  // namespace

Result<std::unique_ptr<UploadSpool>> UploadSpool::open(const std::string& folder, const UploadLimits& limits) {
  namespace fs = std::filesystem;
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return disk_error("create", folder, errno);
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
    std::error_code ignored;  // a leftover that stays takes room, no more
    fs::remove(entry->path(), ignored);
  }
  if (failed) return disk_error("read", folder, failed.value());
  return std::unique_ptr<UploadSpool>(new UploadSpool(folder, limits));
}

UploadSpool::UploadSpool(std::string folder, const UploadLimits& limits)
    : folder_(std::move(folder)),
      in_memory_(limits.in_memory),
      memory_(limits.memory, limits.memory_of_holder),
      disk_(limits.disk, limits.disk_of_holder),
      checked_(limits.checked, limits.checked_of_holder) {}

Result<UniqueFd> UploadSpool::make_file() {
  const std::string path = folder_ + "/" + std::to_string(::getpid()) + "-" + std::to_string(++files_made_);
  UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return disk_error("create", path, errno);
  if (::unlink(path.c_str()) != 0) return disk_error("remove", path, errno);
  return file;
}

ReceivedDocument::~ReceivedDocument() {
  spool_.memory_.give_back(holder_, memory_taken_);
  spool_.disk_.give_back(holder_, disk_taken_);
  spool_.checked_.give_back(holder_, checked_taken_);
}

Status ReceivedDocument::append(std::string_view data) {
  if (!file_ && size_ + data.size() <= spool_.in_memory_ && spool_.memory_.take(holder_, data.size())) {
    memory_taken_ += data.size();
    bytes_ += data;
  } else {
    if (!file_) GT_TRY(move_to_disk());
    GT_TRY(write_to_disk(data));
  }
  size_ += data.size();
  hash_.update(as_bytes(data));
  return {};
}

Status ReceivedDocument::move_to_disk() {
  GT_ASSIGN(file_, spool_.make_file());
  GT_TRY(write_to_disk(bytes_));
  spool_.memory_.give_back(holder_, std::exchange(memory_taken_, 0));
  bytes_ = std::string();
  return {};
}

Status ReceivedDocument::write_to_disk(std::string_view data) {
  if (!spool_.disk_.take(holder_, data.size())) return too_much();
  disk_taken_ += data.size();
  while (!data.empty()) {
    const ssize_t written = ::write(file_.get(), data.data(), data.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return disk_error("write an upload to", spool_.folder_, errno);
    data.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<std::string_view> ReceivedDocument::whole() {
  if (!file_ || checked_taken_ > 0) return std::string_view(bytes_);
  if (!spool_.checked_.take(holder_, size_)) return too_much();
  checked_taken_ = size_;
  bytes_.resize(size_);
  std::size_t filled = 0;
  while (filled < size_) {
    const ssize_t got = ::pread(file_.get(), bytes_.data() + filled, size_ - filled, static_cast<off_t>(filled));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return disk_error("read an upload from", spool_.folder_, got < 0 ? errno : EIO);
    filled += static_cast<std::size_t>(got);
  }
  return std::string_view(bytes_);
}

std::string ReceivedDocument::sha256_hex() {
  return hex_encode(hash_.finish());
}

}  // namespace gridtorrent::rpc
