#include "client/files/copy_files.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "client/files/file_system.h"
#include "client/files/progress_meter.h"
#include "client/files/selection.h"
#include "client/files/staging_folder.h"

namespace gridtorrent::client::files {

namespace {

constexpr std::uint64_t kKernelCopyBytes = std::uint64_t{32} << 20;
constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

/// One file; lives for one call.
class FileCopy {
 public:
  FileCopy(int from, int to, std::uint64_t size, std::string shown, ProgressMeter& meter, std::stop_token stop)
      : from_(from), to_(to), size_(size), shown_(std::move(shown)), meter_(meter), stop_(std::move(stop)) {}

  Status run() {
    if (::ioctl(to_, FICLONE, from_) == 0) {
      meter_.add(size_);
      return {};
    }
    while (done_ < size_) {
      if (stop_.stop_requested()) return Error{Code::kCancelled, "stopped on request"};
      const ssize_t moved = ::copy_file_range(from_, nullptr, to_, nullptr,
                                              static_cast<std::size_t>(std::min(kKernelCopyBytes, size_ - done_)), 0);
      if (moved < 0 && errno == EINTR) continue;
      const bool cannot = moved < 0 && (errno == EXDEV || errno == ENOSYS || errno == EINVAL || errno == EOPNOTSUPP);
      if (cannot) return through_buffer();
      GT_TRY(count(moved));
    }
    return {};
  }

 private:
  Status through_buffer() {
    const auto buffer = std::make_unique_for_overwrite<char[]>(kBufferBytes);
    while (done_ < size_) {
      if (stop_.stop_requested()) return Error{Code::kCancelled, "stopped on request"};
      const ssize_t got =
          ::pread(from_, buffer.get(), std::min<std::uint64_t>(kBufferBytes, size_ - done_), static_cast<off_t>(done_));
      if (got < 0 && errno == EINTR) continue;
      const ssize_t put =
          got <= 0 ? got : ::pwrite(to_, buffer.get(), static_cast<std::size_t>(got), static_cast<off_t>(done_));
      if (put < 0 && errno == EINTR) continue;
      GT_TRY(count(put));
    }
    return {};
  }

  Status count(ssize_t moved) {
    if (moved < 0) return Error{Code::kDisk, errno_error(errno, shown_, "cannot be copied").message};
    if (moved == 0)
      return Error{Code::kCorrupt, quoted(shown_) + " ends at byte " + std::to_string(done_) + " of " +
                                       std::to_string(size_) + "; it changed meanwhile"};
    done_ += static_cast<std::uint64_t>(moved);
    meter_.add(static_cast<std::uint64_t>(moved));
    return {};
  }

  const int from_, to_;
  const std::uint64_t size_;
  const std::string shown_;
  ProgressMeter& meter_;
  const std::stop_token stop_;
  std::uint64_t done_ = 0;
};

}  // namespace

Status copy_bytes(int from, int to, std::uint64_t size, const std::string& shown, ProgressMeter& meter,
                  std::stop_token stop) {
  return FileCopy(from, to, size, shown, meter, std::move(stop)).run();
}

Status copy_to_staging(const Place& parent, const StagingPlan& plan, const metainfo::Manifest& manifest,
                       const ProgressFn& progress, std::stop_token stop) {
  GT_ASSIGN(const UniqueFd from_root, open_folder(parent));
  GT_ASSIGN(const UniqueFd to_root, open_staging(plan));
  const Selection selection(manifest, plan.wanted);
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < manifest.entries.size(); ++i)
    if (selection.includes(i)) total += manifest.entries[i].size;
  ProgressMeter meter(progress, total);
  metainfo::Manifest there;  // its name alone counts
  there.base_name = plan.copied_base.empty() ? manifest.base_name : plan.copied_base;
  FolderCache from_folders(from_root.get(), {.follow_links = parent.follow_links});
  FolderCache to_folders(to_root.get());
  for (std::size_t i = 0; i < manifest.entries.size(); ++i) {
    const metainfo::ManifestEntry& entry = manifest.entries[i];
    if (!selection.includes(i) || entry.size == 0) continue;
    const std::string path = metainfo::full_path(manifest, entry);
    const std::string source = metainfo::full_path(there, entry);
    const UniqueFd from = from_folders.open_file(source, O_RDONLY);
    if (!from) return errno_error(errno, parent.path + "/" + source, "cannot be read");
    const SplitPath split = split_path(path);
    const int folder = to_folders.open(split.folder);
    const UniqueFd to(
        folder < 0 ? -1
                   : ::openat(folder, split.name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!to) return Error{Code::kDisk, errno_error(errno, plan.staging() + "/" + path, "cannot be made").message};
    GT_TRY(copy_bytes(from.get(), to.get(), entry.size, parent.path + "/" + source, meter, stop));
  }
  meter.finish();
  return {};
}

}  // namespace gridtorrent::client::files
