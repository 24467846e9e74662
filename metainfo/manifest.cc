#include "metainfo/manifest.h"

#include <algorithm>
#include <set>

#include "common/text.h"
#include "metainfo/links.h"

namespace gridtorrent::metainfo {

namespace {

// Sums of sizes stay far from overflow, and every offset fits the signed 64 bits of a file API.
constexpr std::uint64_t kMaxTotalBytes = std::uint64_t{1} << 60;

std::string shown(const Manifest& manifest, std::string_view path) {
  return "'" + escape_for_display(path.empty() ? manifest.base_name : manifest.base_name + "/" + std::string(path)) +
         "'";
}

Status validate_path(const Manifest& manifest, std::string_view path) {
  if (manifest.base_name.size() + 1 + path.size() > kMaxPathBytes)
    return Error{Code::kInvalid, "path " + shown(manifest, path.substr(0, 200)) + "... is longer than " +
                                     std::to_string(kMaxPathBytes) + " bytes"};
  if (path.starts_with('/'))
    return Error{Code::kInvalid, "path '" + escape_for_display(path) + "' is absolute; paths are relative to the top"};
  std::size_t start = 0;
  while (start <= path.size()) {
    const std::size_t slash = std::min(path.find('/', start), path.size());
    if (Status s = validate_component(path.substr(start, slash - start)); !s)
      return s.error().with_context("path " + shown(manifest, path));
    start = slash + 1;
  }
  return {};
}

Status validate_values(const Manifest& manifest, const ManifestEntry& entry) {
  const auto refuse = [&](std::string_view reason) {
    return Error{Code::kInvalid, shown(manifest, entry.path) + " " + std::string(reason)};
  };
  if (entry.kind > EntryKind::kLink) return refuse("is neither file nor folder nor symbolic link");
  if (entry.mode > 0777) return refuse("has mode bits beyond 0777");
  if (entry.kind == EntryKind::kFolder && entry.size != 0) return refuse("is a folder and has a size");
  if (entry.kind == EntryKind::kLink && (entry.size != 0 || entry.mode != 0))
    return refuse("is a symbolic link and has a size or a mode");
  if (entry.size == 0 && entry.root != crypto::Sha256Digest{}) return refuse("holds no byte and has a Merkle root");
  if (entry.size > kMaxTotalBytes) return refuse("is larger than 2^60 bytes");
  return {};
}

Status validate_parent(const Manifest& manifest, const ManifestEntry& entry,
                       const std::set<std::string_view>& folders) {
  const std::string_view path = entry.path;
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos || folders.contains(path.substr(0, slash))) return {};
  return Error{Code::kInvalid,
               "the folder that holds " + shown(manifest, path) + " is not listed, or is listed as a file or a link"};
}

}  // namespace

std::uint64_t Manifest::total_bytes() const {
  std::uint64_t total = 0;
  for (const ManifestEntry& entry : entries) total += entry.size;
  return total;
}

std::uint64_t Manifest::file_count() const {
  std::uint64_t count = 0;
  for (const ManifestEntry& entry : entries) count += entry.kind == EntryKind::kFile ? 1 : 0;
  return count;
}

Status validate_component(std::string_view component) {
  const auto refuse = [&](std::string_view reason) {
    return Error{Code::kInvalid, "name '" + escape_for_display(component.substr(0, 300)) + "' " + std::string(reason)};
  };
  if (component.empty()) return refuse("is empty");
  if (component == "." || component == "..") return refuse("is not allowed");
  if (component.size() > kMaxComponentBytes)
    return refuse("is longer than " + std::to_string(kMaxComponentBytes) + " bytes");
  if (component.find('/') != std::string_view::npos) return refuse("holds a '/'");
  if (component.find('\0') != std::string_view::npos) return refuse("holds a NUL byte");
  return {};
}

Status validate(const Manifest& manifest) {
  if (Status s = validate_component(manifest.base_name); !s) return s.error().with_context("top name");
  const auto& entries = manifest.entries;
  if (entries.empty()) return Error{Code::kInvalid, "a manifest without entries"};
  if (entries.size() > kMaxEntries)
    return Error{Code::kInvalid,
                 std::to_string(entries.size()) + " files and folders; the limit is " + std::to_string(kMaxEntries)};
  if (entries.front().kind == EntryKind::kLink) return Error{Code::kInvalid, "the top itself is a symbolic link"};
  if (!entries.front().path.empty()) return Error{Code::kInvalid, "the first entry must be the top itself"};
  GT_TRY(validate_values(manifest, entries.front()));
  if (manifest.is_single_file() && entries.size() > 1)
    return Error{Code::kInvalid, shown(manifest, "") + " is a file and cannot hold others"};
  if (!manifest.is_single_file() && entries.size() == 1)
    return Error{Code::kInvalid, "folder " + shown(manifest, "") + " has no entries; there is nothing to transfer"};
  std::set<std::string_view> folders;
  std::uint64_t total = entries.front().size;
  for (std::size_t i = 1; i < entries.size(); ++i) {
    const ManifestEntry& entry = entries[i];
    GT_TRY(validate_path(manifest, entry.path));
    if (entry.path <= entries[i - 1].path)
      return Error{Code::kInvalid, shown(manifest, entry.path) + " is out of order or listed twice"};
    GT_TRY(validate_values(manifest, entry));
    GT_TRY(validate_parent(manifest, entry, folders));
    if (entry.kind == EntryKind::kFolder) folders.insert(entry.path);
    total += entry.size;
    if (total > kMaxTotalBytes) return Error{Code::kInvalid, "more than 2^60 bytes in all"};
  }
  return check_links(manifest);
}

std::string full_path(const Manifest& manifest, const ManifestEntry& entry) {
  return entry.path.empty() ? manifest.base_name : manifest.base_name + "/" + entry.path;
}

}  // namespace gridtorrent::metainfo
