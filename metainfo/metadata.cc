#include "metainfo/metadata.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "metainfo/bencode.h"
#include "metainfo/bencode_cursor.h"
#include "metainfo/links.h"

namespace gridtorrent::metainfo {

namespace {

// Links came with format 2, in a list of their own behind the format: programs that know format 1 alone read that far
// and say which format they would need. What has no links stays format 1.
constexpr std::int64_t kFormat = 1;
constexpr std::int64_t kFormatWithLinks = 2;
constexpr std::uint32_t kMaxPieceBytes = std::uint32_t{512} << 20;

/// A file is [path, 0, mode, mtime, size, root]; the root is an empty string where the size is 0. A folder is
/// [path, 1, mode, mtime].
void write_entry(BencodeWriter& out, const ManifestEntry& entry) {
  out.begin_list();
  out.string(entry.path);
  out.integer(static_cast<std::int64_t>(entry.kind));
  out.integer(entry.mode);
  out.integer(entry.mtime_ns);
  if (entry.kind == EntryKind::kFile) {
    out.integer(static_cast<std::int64_t>(entry.size));
    out.string(entry.size == 0 ? std::string_view{}
                               : std::string_view(reinterpret_cast<const char*>(entry.root.data()), 32));
  }
  out.end();
}

Result<std::uint64_t> read_unsigned(BencodeCursor& in, std::uint64_t limit) {
  GT_ASSIGN(const std::int64_t value, in.integer());
  if (value < 0 || static_cast<std::uint64_t>(value) > limit) return in.fail("a number out of its range");
  return static_cast<std::uint64_t>(value);
}

Result<ManifestEntry> read_entry(BencodeCursor& in) {
  ManifestEntry entry;
  GT_TRY(in.expect('l'));
  GT_ASSIGN(const std::string_view path, in.string());
  if (path.size() > kMaxPathBytes) return in.fail("a path over " + std::to_string(kMaxPathBytes) + " bytes");
  entry.path = path;
  GT_ASSIGN(const std::uint64_t kind, read_unsigned(in, 1));
  entry.kind = kind == 0 ? EntryKind::kFile : EntryKind::kFolder;
  GT_ASSIGN(const std::uint64_t mode, read_unsigned(in, 0777));
  entry.mode = static_cast<std::uint32_t>(mode);
  GT_ASSIGN(entry.mtime_ns, in.integer());
  if (entry.kind == EntryKind::kFile) {
    GT_ASSIGN(entry.size, read_unsigned(in, INT64_MAX));
    GT_ASSIGN(const std::string_view root, in.string());
    if (root.size() != (entry.size == 0 ? 0 : entry.root.size())) return in.fail("a Merkle root of the wrong length");
    std::memcpy(entry.root.data(), root.data(), root.size());
  }
  GT_TRY(in.expect('e'));
  return entry;
}

/// A link is [path, mtime, target].
void write_link(BencodeWriter& out, const ManifestEntry& entry, const std::string& target) {
  out.begin_list();
  out.string(entry.path);
  out.integer(entry.mtime_ns);
  out.string(target);
  out.end();
}

struct Link {
  ManifestEntry entry;
  std::string target;
};

Result<Link> read_link(BencodeCursor& in) {
  Link link;
  GT_TRY(in.expect('l'));
  GT_ASSIGN(const std::string_view path, in.string());
  if (path.size() > kMaxPathBytes) return in.fail("a path over " + std::to_string(kMaxPathBytes) + " bytes");
  link.entry.path = path;
  link.entry.kind = EntryKind::kLink;
  GT_ASSIGN(link.entry.mtime_ns, in.integer());
  GT_ASSIGN(const std::string_view target, in.string());
  if (target.size() > kMaxTargetBytes) return in.fail("a target over " + std::to_string(kMaxTargetBytes) + " bytes");
  link.target = target;
  GT_TRY(in.expect('e'));
  return link;
}

/// Puts the links where they belong among the entries, which both come sorted; validate() finds those that do not.
void merge_links(Manifest& manifest, std::vector<Link> links) {
  std::vector<ManifestEntry> merged;
  merged.reserve(manifest.entries.size() + links.size());
  auto link = links.begin();
  const auto add_link = [&] {
    manifest.targets.emplace(static_cast<std::uint32_t>(merged.size()), std::move(link->target));
    merged.push_back(std::move(link->entry));
    ++link;
  };
  for (ManifestEntry& entry : manifest.entries) {
    while (link != links.end() && link->entry.path < entry.path) add_link();
    merged.push_back(std::move(entry));
  }
  while (link != links.end()) add_link();
  manifest.entries = std::move(merged);
}

Status read_links(BencodeCursor& in, Manifest& manifest) {
  GT_TRY(in.key("links"));
  GT_TRY(in.expect('l'));
  std::vector<Link> links;
  while (in.peek() != 'e') {
    if (manifest.entries.size() + links.size() == kMaxEntries)
      return in.fail("more than " + std::to_string(kMaxEntries) + " files, folders and links");
    GT_ASSIGN(Link link, read_link(in));
    links.push_back(std::move(link));
  }
  GT_TRY(in.expect('e'));
  if (links.empty()) return in.fail("no links where the format says that there are some");
  merge_links(manifest, std::move(links));
  return {};
}

Result<Segment> read_segment(BencodeCursor& in) {
  Segment segment;
  GT_TRY(in.expect('d'));
  GT_TRY(in.key("piece_bytes"));
  GT_ASSIGN(const std::uint64_t piece_bytes, read_unsigned(in, kMaxPieceBytes));
  segment.piece_bytes = static_cast<std::uint32_t>(piece_bytes);
  GT_TRY(in.key("pieces"));
  GT_ASSIGN(const std::string_view pieces, in.string());
  segment.piece_hashes = pieces;
  GT_TRY(in.expect('e'));
  return segment;
}

Status check_segments(const VersionMetadata& metadata) {
  const std::uint64_t total = metadata.manifest.total_bytes();
  if (metadata.segments.size() != (total == 0 ? 0U : 1U))
    return Error{Code::kInvalid, std::to_string(metadata.segments.size()) + " segments; " +
                                     (total == 0 ? "data without a byte has none" : "this version knows exactly one")};
  for (const Segment& segment : metadata.segments) {
    if (!std::has_single_bit(segment.piece_bytes) || segment.piece_bytes < kBlockBytes ||
        segment.piece_bytes > kMaxPieceBytes)
      return Error{Code::kInvalid, "a piece size of " + std::to_string(segment.piece_bytes) +
                                       " bytes; it must be a power of two from 16 KiB to 512 MiB"};
    const std::uint64_t pieces = (total - 1) / segment.piece_bytes + 1;
    if (pieces > kMaxPieces)
      return Error{Code::kInvalid, std::to_string(pieces) + " pieces; the limit is " + std::to_string(kMaxPieces)};
    if (segment.piece_hashes.size() != pieces * 20)
      return Error{Code::kInvalid, std::to_string(segment.piece_hashes.size()) + " bytes of piece hashes where " +
                                       std::to_string(pieces) + " pieces need " + std::to_string(pieces * 20)};
  }
  return {};
}

Result<VersionMetadata> read_document(BencodeCursor& in) {
  VersionMetadata metadata;
  GT_TRY(in.expect('d'));
  GT_TRY(in.key("base"));
  GT_ASSIGN(const std::string_view base, in.string());
  metadata.manifest.base_name = base;
  GT_TRY(in.key("entries"));
  GT_TRY(in.expect('l'));
  while (in.peek() != 'e') {
    if (metadata.manifest.entries.size() == kMaxEntries)
      return in.fail("more than " + std::to_string(kMaxEntries) + " files and folders");
    GT_ASSIGN(ManifestEntry entry, read_entry(in));
    metadata.manifest.entries.push_back(std::move(entry));
  }
  GT_TRY(in.expect('e'));
  GT_TRY(in.key("format"));
  GT_ASSIGN(const std::int64_t format, in.integer());
  if (format != kFormat && format != kFormatWithLinks)
    return Error{Code::kUnsupported, "metadata of format " + std::to_string(format) +
                                         ", this program knows formats 1 and 2; a newer version of it is needed"};
  if (format == kFormatWithLinks) GT_TRY(read_links(in, metadata.manifest));
  GT_TRY(in.key("segments"));
  GT_TRY(in.expect('l'));
  while (in.peek() != 'e') {
    if (!metadata.segments.empty()) return in.fail("more than one segment");
    GT_ASSIGN(Segment segment, read_segment(in));
    metadata.segments.push_back(std::move(segment));
  }
  GT_TRY(in.expect('e'));
  GT_TRY(in.expect('e'));
  if (!in.at_end()) return in.fail("bytes after the end of the document");
  return metadata;
}

}  // namespace

std::string encode(const VersionMetadata& metadata) {
  BencodeWriter out;
  out.begin_dict();
  out.string("base");
  out.string(metadata.manifest.base_name);
  out.string("entries");
  out.begin_list();
  for (const ManifestEntry& entry : metadata.manifest.entries)
    if (entry.kind != EntryKind::kLink) write_entry(out, entry);
  out.end();
  const auto& targets = metadata.manifest.targets;
  out.string("format");
  out.integer(targets.empty() ? kFormat : kFormatWithLinks);
  if (!targets.empty()) {
    out.string("links");
    out.begin_list();
    for (const auto& [index, target] : targets) write_link(out, metadata.manifest.entries[index], target);
    out.end();
  }
  out.string("segments");
  out.begin_list();
  for (const Segment& segment : metadata.segments) {
    out.begin_dict();
    out.string("piece_bytes");
    out.integer(segment.piece_bytes);
    out.string("pieces");
    out.string(segment.piece_hashes);
    out.end();
  }
  out.end();
  out.end();
  return out.take();
}

Result<VersionMetadata> decode(std::string_view bytes) {
  if (bytes.size() > kMaxMetadataBytes)
    return Error{Code::kInvalid, "metadata of " + std::to_string(bytes.size()) + " bytes; the limit is " +
                                     std::to_string(kMaxMetadataBytes)};
  BencodeCursor cursor(bytes);
  Result<VersionMetadata> metadata = read_document(cursor);
  if (!metadata) return metadata.error().with_context("metadata");
  if (Status s = validate(metadata->manifest); !s) return s.error().with_context("metadata");
  if (Status s = check_segments(*metadata); !s) return s.error().with_context("metadata");
  return metadata;
}

std::uint32_t choose_piece_bytes(std::uint64_t total_bytes) {
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
  constexpr std::uint64_t kTiB = std::uint64_t{1} << 40;
  struct Row {
    std::uint64_t up_to, piece_bytes;
  };
  constexpr Row kTable[] = {{64 * kMiB, kMiB / 64}, {256 * kMiB, kMiB / 16}, {kGiB, kMiB / 4},
                            {4 * kGiB, kMiB},       {16 * kGiB, 2 * kMiB},   {200 * kGiB, 4 * kMiB},
                            {2 * kTiB, 8 * kMiB},   {32 * kTiB, 16 * kMiB}};
  for (const Row& row : kTable)
    if (total_bytes <= row.up_to) return static_cast<std::uint32_t>(row.piece_bytes);
  std::uint64_t piece_bytes = 16 * kMiB;
  while (piece_bytes < kMaxPieceBytes && total_bytes / piece_bytes >= kMaxPieces) piece_bytes *= 2;
  return static_cast<std::uint32_t>(piece_bytes);
}

}  // namespace gridtorrent::metainfo
