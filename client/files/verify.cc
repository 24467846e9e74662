#include "client/files/verify.h"

#include <fcntl.h>

#include <cerrno>

#include "client/files/hash_run.h"
#include "client/files/selection.h"
#include "client/files/symbolic_link.h"
#include "common/text.h"

namespace gridtorrent::client::files {

namespace {

constexpr std::size_t kMaxFaults = 1000;

/// Empty if kind and size are as published.
std::string difference(const metainfo::ManifestEntry& entry, int error_number, const struct stat& info) {
  if (error_number == ENOENT || error_number == ENOTDIR) return "missing";
  if (error_number == ELOOP) return "reached through a symbolic link";
  if (error_number != 0) return errno_text(error_number);
  if (entry.kind == metainfo::EntryKind::kFolder) return S_ISDIR(info.st_mode) ? "" : "no folder";
  if (entry.kind == metainfo::EntryKind::kLink) return S_ISLNK(info.st_mode) ? "" : "no symbolic link";
  if (!S_ISREG(info.st_mode)) return "no regular file";
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (size == entry.size) return "";
  return "size " + std::to_string(size) + ", not " + std::to_string(entry.size);
}

/// What a look at an entry found, without reading it.
struct Looked {
  bool missing = false;
  std::string reason;  ///< empty: kind, size, and where a link leads, are as published
};

/// `there`: the folder that `folders` starts from is.
Looked look(FolderCache& folders, bool there, const metainfo::Manifest& manifest, std::size_t index,
            const std::string& path) {
  const metainfo::ManifestEntry& entry = manifest.entries[index];
  const SplitPath split = split_path(path);
  struct stat info{};
  const int error_number = !there ? ENOENT : folders.stat(path, info) ? 0 : errno;
  std::string reason = difference(entry, error_number, info);
  const bool link = entry.kind == metainfo::EntryKind::kLink;
  if (link && reason.empty() &&
      !is_link_to(folders.open(split.folder), split.name, manifest.targets.at(static_cast<std::uint32_t>(index))))
    reason = "leads elsewhere";
  return {error_number == ENOENT || error_number == ENOTDIR, std::move(reason)};
}

}  // namespace

void add_fault(VerifyReport& report, const std::string& path, std::string reason) {
  ++report.fault_count;
  if (report.faults.size() < kMaxFaults) report.faults.push_back({path, std::move(reason)});
}

std::vector<bool> check_kinds_and_sizes(int parent, const metainfo::Manifest& manifest, const std::vector<bool>& wanted,
                                        LinksAre links, VerifyReport& report, const LookUp& by) {
  std::vector<bool> sound(manifest.entries.size());
  const Selection selection(manifest, wanted);
  FolderCache folders(parent, by);
  for (std::size_t i = 0; i < manifest.entries.size(); ++i) {
    if (!selection.includes(i)) continue;
    const metainfo::ManifestEntry& entry = manifest.entries[i];
    const bool link = entry.kind == metainfo::EntryKind::kLink;
    if (link && links == LinksAre::kYetToCome) continue;
    const std::string path = metainfo::full_path(manifest, entry);
    std::string reason = look(folders, parent >= 0, manifest, i, path).reason;
    if (entry.kind == metainfo::EntryKind::kFile) {
      ++report.files;
      report.bytes += entry.size;
    }
    sound[i] = reason.empty();
    if (!reason.empty()) add_fault(report, path, std::move(reason));
  }
  return sound;
}

Result<PlaceReport> look_at_tree(const Place& parent, const metainfo::Manifest& manifest,
                                 const std::vector<bool>& wanted) {
  PlaceReport report;
  const UniqueFd parent_fd = open_place(parent, O_PATH | O_DIRECTORY);
  if (!parent_fd && errno != ENOENT && errno != ENOTDIR) return place_error(errno, parent, "cannot be opened");
  const Selection selection(manifest, wanted);
  FolderCache folders(parent_fd ? parent_fd.get() : -1, {.follow_links = parent.follow_links});
  for (std::size_t i = 0; i < manifest.entries.size(); ++i) {
    if (!selection.includes(i)) continue;
    const metainfo::ManifestEntry& entry = manifest.entries[i];
    const std::string path = metainfo::full_path(manifest, entry);
    Looked found = look(folders, static_cast<bool>(parent_fd), manifest, i, path);
    const bool is_file = entry.kind == metainfo::EntryKind::kFile;
    if (found.missing) {
      report.missing += is_file ? 1 : 0;
      report.missing_others += is_file ? 0 : 1;
      continue;
    }
    report.files += is_file ? 1 : 0;
    if (!found.reason.empty() && !report.difference) report.difference = EntryFault{path, std::move(found.reason)};
  }
  return report;
}

Result<VerifyReport> verify_tree(const Place& parent, const metainfo::Manifest& manifest,
                                 const std::vector<bool>& wanted, unsigned threads, std::uint64_t memory_bytes,
                                 const ProgressFn& progress, std::stop_token stop) {
  VerifyReport report;
  const UniqueFd parent_fd = open_place(parent, O_PATH | O_DIRECTORY);
  if (!parent_fd && errno != ENOENT && errno != ENOTDIR) return place_error(errno, parent, "cannot be opened");
  // Without the folder every entry is missing, which is a finding and no error.
  const int root = parent_fd ? parent_fd.get() : -1;
  const LookUp by{.follow_links = parent.follow_links};
  const std::vector<bool> sound = check_kinds_and_sizes(root, manifest, wanted, LinksAre::kThere, report, by);
  const Layout layout(manifest, sound);
  std::vector<bool> failed(layout.slots().size());
  const auto path_of = [&](std::size_t slot) {
    return metainfo::full_path(manifest, manifest.entries[layout.slots()[slot].entry]);
  };
  HashSink sink;
  sink.on_failure = [&](std::size_t slot, const Error& error) {
    if (!failed[slot]) add_fault(report, path_of(slot), error.message);
    failed[slot] = true;
  };
  sink.on_root = [&](std::size_t slot, const crypto::Sha256Digest& root_found) {
    if (root_found != manifest.entries[layout.slots()[slot].entry].root)
      add_fault(report, path_of(slot), "content differs from what was published");
  };
  ProgressMeter meter(progress, layout.total_bytes());
  HashRun run({.manifest = manifest,
               .layout = layout,
               .root = root,
               .identities = {},
               .look_up = by,
               .tolerate_failures = true,
               .stop = std::move(stop)},
              plan_hash(layout.total_bytes(), 0, threads, memory_bytes), std::move(sink), nullptr, meter);
  GT_TRY(run.run());
  meter.finish();
  return report;
}

}  // namespace gridtorrent::client::files
