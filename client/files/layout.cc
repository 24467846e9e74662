#include "client/files/layout.h"

#include <algorithm>

namespace gridtorrent::client::files {

Layout::Layout(const metainfo::Manifest& manifest, const std::vector<bool>& included) {
  for (std::size_t i = 0; i < manifest.entries.size(); ++i) {
    const metainfo::ManifestEntry& entry = manifest.entries[i];
    if (entry.size == 0 || (!included.empty() && !included[i])) continue;
    slots_.push_back({static_cast<std::uint32_t>(i), total_, entry.size});
    total_ += entry.size;
  }
}

std::vector<Extent> Layout::extents(std::uint64_t begin, std::uint64_t end) const {
  std::vector<Extent> parts;
  end = std::min(end, total_);
  if (begin >= end) return parts;
  auto slot = std::upper_bound(slots_.begin(), slots_.end(), begin,
                               [](std::uint64_t at, const Slot& s) { return at < s.start; });
  for (--slot; slot != slots_.end() && slot->start < end; ++slot) {
    const std::uint64_t from = std::max(begin, slot->start);
    const std::uint64_t to = std::min(end, slot->start + slot->size);
    parts.push_back({static_cast<std::size_t>(slot - slots_.begin()), from - slot->start, to - from});
  }
  return parts;
}

}  // namespace gridtorrent::client::files
