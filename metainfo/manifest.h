#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/crypto/digest.h"
#include "common/result.h"

namespace gridtorrent::metainfo {

/// Limits of one segment, in one table (model: "Publishing and getting"). What is beyond is refused by name.
inline constexpr std::uint64_t kMaxEntries = 1'000'000;
inline constexpr std::uint64_t kMaxPieces = std::uint64_t{1} << 21;
inline constexpr std::uint64_t kMaxMetadataBytes = std::uint64_t{128} << 20;
inline constexpr std::size_t kMaxPathBytes = 4096;
inline constexpr std::size_t kMaxComponentBytes = 255;
/// Merkle leaves and BitTorrent requests are blocks of this size.
inline constexpr std::uint32_t kBlockBytes = 16 * 1024;

enum class EntryKind : std::uint8_t { kFile, kFolder, kLink };

/// One file, folder or symbolic link of a version.
struct ManifestEntry {
  /// Bytes relative to BASE with '/' between components; empty for BASE itself. Need not be UTF-8.
  std::string path;
  EntryKind kind = EntryKind::kFile;
  std::uint64_t size = 0;       ///< bytes; 0 for folders and links
  std::uint32_t mode = 0;       ///< permission bits, & 0777; 0 for links, which have none
  std::int64_t mtime_ns = 0;    ///< since the epoch
  crypto::Sha256Digest root{};  ///< BEP 52 Merkle root over 16 KiB blocks; all zero for folders, links and empty files

  friend bool operator==(const ManifestEntry&, const ManifestEntry&) = default;
};

/// What a version consists of. `entries[0]` is BASE itself (path ""): a file, then it is the only entry, or a
/// folder. Entries are sorted by path bytes, unique, and every parent folder is listed.
struct Manifest {
  std::string base_name;  ///< last component of the published path, as bytes
  std::vector<ManifestEntry> entries;
  /// Where each link leads, by its index in `entries`: bytes, relative to the folder that holds it. Few data sets have
  /// links, so that entries do not pay for them.
  std::map<std::uint32_t, std::string> targets = {};

  std::uint64_t total_bytes() const;
  std::uint64_t file_count() const;
  bool is_single_file() const { return !entries.empty() && entries.front().kind == EntryKind::kFile; }

  friend bool operator==(const Manifest&, const Manifest&) = default;
};

/// Refuses what may never reach a disk or a database: absolute paths, "..", ".", empty components, NUL, components over
/// 255 bytes, paths (BASE included) over 4096, wrong order, duplicates, missing parents, a file that is another's
/// parent, modes beyond 0777, roots on folders or empty files, more than kMaxEntries, links that lead outside
/// (links.h). The message shows the path escaped.
Status validate(const Manifest& manifest);

/// One component of a path by the rules above; used for `base_name` too.
Status validate_component(std::string_view component);

/// BASE, or BASE/path: where the entry lies below the target folder.
std::string full_path(const Manifest& manifest, const ManifestEntry& entry);

}  // namespace gridtorrent::metainfo
