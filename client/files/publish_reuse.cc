#include "client/files/publish_reuse.h"

#include <algorithm>
#include <unordered_map>

namespace gridtorrent::client::files {

namespace {

/// Where the unchanged files of a new layout lay in the stream of the earlier version.
class Earlier {
 public:
  Earlier(const KnownTree& known, const BirthOf& birth_of)
      : known_(known), birth_of_(birth_of), layout_(known.metadata->manifest) {
    for (std::size_t slot = 0; slot < layout_.slots().size(); ++slot) {
      const std::uint64_t inode = inode_of(layout_.slots()[slot].entry);
      if (inode != 0) by_inode_.emplace(inode, slot);
    }
  }

  /// The slot of the same file, unaltered; `new_entry`: of the new manifest.
  std::optional<std::size_t> slot_of(const FileIdentity& identity, std::uint32_t new_entry) const {
    const auto found = by_inode_.find(identity.inode);
    if (found == by_inode_.end()) return std::nullopt;
    const metainfo::ManifestEntry& entry = entry_of(found->second);
    if (entry.size != identity.size || entry.mtime_ns != identity.mtime_ns) return std::nullopt;
    // Renamed, linked or given another mode since, or made since.
    if (identity.ctime_ns > known_.hashed_ns) {
      const auto birth_ns = birth_of_(new_entry);
      if (!birth_ns || *birth_ns > known_.hashed_ns) return std::nullopt;
    }
    return found->second;
  }
  const metainfo::ManifestEntry& entry_of(std::size_t slot) const {
    return known_.metadata->manifest.entries[layout_.slots()[slot].entry];
  }
  const Slot& slot(std::size_t index) const { return layout_.slots()[index]; }
  std::uint64_t total_bytes() const { return layout_.total_bytes(); }

 private:
  std::uint64_t inode_of(std::uint32_t entry) const { return entry < known_.inodes.size() ? known_.inodes[entry] : 0; }

  const KnownTree& known_;
  const BirthOf& birth_of_;
  const Layout layout_;
  std::unordered_map<std::uint64_t, std::size_t> by_inode_;
};

/// The earlier piece with the bytes of [begin, end) of the new stream.
std::optional<std::uint64_t> same_piece(const Layout& layout, const Earlier& earlier,
                                        std::span<const std::optional<std::size_t>> earlier_slots, Range range,
                                        std::uint32_t piece_bytes) {
  std::optional<std::uint64_t> at;  // of the earlier stream, where the next extent has to lie
  std::uint64_t first = 0;
  for (const Extent& extent : layout.extents(range.begin, range.end)) {
    const auto& slot = earlier_slots[extent.slot];
    if (!slot) return std::nullopt;
    const std::uint64_t place = earlier.slot(*slot).start + extent.offset;
    if (!at) first = place;
    if (at && *at != place) return std::nullopt;
    at = place + extent.length;
  }
  if (!at || first % piece_bytes != 0) return std::nullopt;
  const std::uint64_t piece_end = std::min(first + piece_bytes, earlier.total_bytes());
  if (*at != piece_end) return std::nullopt;
  return first / piece_bytes;
}

}  // namespace

PublishReuse plan_publish_reuse(std::span<const FileIdentity> identities, const Layout& layout,
                                std::uint32_t piece_bytes, const KnownTree& known, const BirthOf& birth_of) {
  PublishReuse reuse;
  const Earlier earlier(known, birth_of);
  std::vector<std::optional<std::size_t>> earlier_slots;
  for (const Slot& slot : layout.slots()) {
    const auto same = earlier.slot_of(identities[slot.entry], slot.entry);
    earlier_slots.push_back(same);
    reuse.entries.push_back(same ? std::optional(earlier.slot(*same).entry) : std::nullopt);
    if (!same) continue;
    ++reuse.unchanged_files;
    reuse.unchanged_bytes += slot.size;
  }
  const auto& segments = known.metadata->segments;
  const bool same_cut = !segments.empty() && segments.front().piece_bytes == piece_bytes;
  const std::uint64_t total = layout.total_bytes();
  for (std::uint64_t begin = 0; begin < total; begin += piece_bytes) {
    const Range range{begin, std::min(begin + piece_bytes, total)};
    reuse.pieces.push_back(same_cut ? same_piece(layout, earlier, earlier_slots, range, piece_bytes) : std::nullopt);
    if (reuse.pieces.back()) continue;
    reuse.read_bytes += range.size();
    if (!reuse.reads.empty() && reuse.reads.back().end == range.begin) {
      reuse.reads.back().end = range.end;
    } else {
      reuse.reads.push_back(range);
    }
  }
  return reuse;
}

}  // namespace gridtorrent::client::files
