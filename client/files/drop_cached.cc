#include "client/files/drop_cached.h"

#include <fcntl.h>

#include "client/files/file_system.h"
#include "client/files/selection.h"

namespace gridtorrent::client::files {

void drop_cached_pages(const Place& parent, const metainfo::Manifest& manifest, const std::vector<bool>& wanted) {
  const UniqueFd parent_fd = open_place(parent, O_PATH | O_DIRECTORY);
  if (!parent_fd) return;  // there is nothing to read, either
  const Selection selection(manifest, wanted);
  FolderCache folders(parent_fd.get(), {.follow_links = parent.follow_links});
  for (std::size_t i = 0; i < manifest.entries.size(); ++i) {
    const metainfo::ManifestEntry& entry = manifest.entries[i];
    if (!selection.includes(i) || entry.kind != metainfo::EntryKind::kFile) continue;
    const UniqueFd fd = folders.open_file(metainfo::full_path(manifest, entry), O_RDONLY);
    if (fd) ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED);
  }
}

}  // namespace gridtorrent::client::files
