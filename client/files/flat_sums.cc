#include "client/files/flat_sums.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>

#include "client/files/file_system.h"
#include "client/files/progress_meter.h"

namespace gridtorrent::client::files {

namespace {

constexpr std::size_t kReadBytes = std::size_t{256} << 10;

using Sums = std::vector<std::optional<crypto::Sha256Digest>>;

Result<crypto::Sha256Digest> sum_of(int fd, const std::string& shown, std::uint64_t size, std::uint8_t* buffer,
                                    ProgressMeter& meter, const std::stop_token& stop) {
  crypto::Sha256Stream stream;
  std::uint64_t done = 0;
  while (true) {
    if (stop.stop_requested()) return Error{Code::kCancelled, "stopped on request"};
    const ssize_t got = ::read(fd, buffer, kReadBytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error(errno, shown, "cannot be read");
    if (got == 0) break;
    stream.update({buffer, static_cast<std::size_t>(got)});
    done += static_cast<std::uint64_t>(got);
    if (done > size) break;
    meter.add(static_cast<std::uint64_t>(got));
  }
  if (done != size) return Error{Code::kConflict, quoted(shown) + " is no longer what was published"};
  return stream.finish();
}

std::optional<crypto::Sha256Digest> known_sum(const std::string& known, std::size_t entry) {
  crypto::Sha256Digest digest{};
  if (known.size() < (entry + 1) * digest.size()) return std::nullopt;
  std::memcpy(digest.data(), known.data() + entry * digest.size(), digest.size());
  return digest == crypto::Sha256Digest{} ? std::nullopt : std::optional(digest);
}

Result<Sums> all_sums(const Place& parent, const metainfo::Manifest& manifest, const std::string& known,
                      const ProgressFn& progress, const std::stop_token& stop) {
  GT_ASSIGN(const UniqueFd root, open_folder(parent));
  ProgressMeter meter(progress, manifest.total_bytes());
  FolderCache folders(root.get(), {.follow_links = parent.follow_links});
  const auto buffer = std::make_unique_for_overwrite<std::uint8_t[]>(kReadBytes);
  Sums sums(manifest.entries.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const metainfo::ManifestEntry& entry = manifest.entries[i];
    if (entry.kind != metainfo::EntryKind::kFile) continue;
    sums[i] = known_sum(known, i);
    if (sums[i]) {
      meter.add(entry.size);
      continue;
    }
    const std::string path = metainfo::full_path(manifest, entry);
    const UniqueFd fd = folders.open_file(path, O_RDONLY);
    if (!fd) return errno_error(errno, path, "cannot be read");
    GT_ASSIGN(sums[i], sum_of(fd.get(), path, entry.size, buffer.get(), meter, stop));
  }
  meter.finish();
  return sums;
}

}  // namespace

Result<Sums> flat_sums(const Place& parent, const metainfo::Manifest& manifest, const std::string& known,
                       const ProgressFn& progress, std::stop_token stop) {
  // An own thread: a thread cannot raise its priority again.
  std::optional<Result<Sums>> outcome;
  std::jthread([&] {
    name_thread("gt-flat-sums", true);
    outcome.emplace(all_sums(parent, manifest, known, progress, stop));
  }).join();
  return std::move(*outcome);
}

}  // namespace gridtorrent::client::files
