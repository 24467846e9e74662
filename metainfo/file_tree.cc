#include "metainfo/file_tree.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "common/text.h"

namespace gridtorrent::metainfo {
namespace {

/// '/' is less than all else, so that what is in a folder follows it at once.
bool comes_before(std::string_view one, std::string_view other) {
  const auto rank = [](char c) { return c == '/' ? 0 : static_cast<int>(static_cast<unsigned char>(c)) + 1; };
  return std::ranges::lexicographical_compare(one, other, {}, rank, rank);
}

bool is_below(std::string_view path, std::string_view folder) {
  if (folder.empty()) return !path.empty();
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

}  // namespace

FileTree::FileTree(Manifest manifest) : manifest_(std::move(manifest)) {
  manifest_.entries.shrink_to_fit();
  const auto& entries = manifest_.entries;
  order_.resize(entries.size());
  std::iota(order_.begin(), order_.end(), std::uint32_t{0});
  const auto before = [&](std::uint32_t one, std::uint32_t other) {
    return comes_before(entries[one].path, entries[other].path);
  };
  if (!std::ranges::is_sorted(order_, before)) std::ranges::sort(order_, before);
  bytes_before_.reserve(entries.size() + 1);
  files_before_.reserve(entries.size() + 1);
  std::uint64_t bytes = 0;
  std::uint32_t files = 0;
  std::size_t path_bytes = 0;
  for (std::size_t place = 0; place < entries.size(); ++place) {
    bytes_before_.push_back(bytes);
    files_before_.push_back(files);
    bytes += at(place).size;
    files += at(place).kind == EntryKind::kFolder ? 0U : 1U;
    path_bytes += at(place).path.capacity();
  }
  bytes_before_.push_back(bytes);
  files_before_.push_back(files);
  find_ends();
  constexpr std::size_t kOfEntry = sizeof(ManifestEntry) + 3 * sizeof(std::uint32_t) + sizeof(std::uint64_t);
  constexpr std::size_t kOfLink = 100;  // a node of a map
  for (const auto& [index, target] : manifest_.targets) path_bytes += target.capacity() + kOfLink;
  memory_bytes_ = entries.size() * kOfEntry + path_bytes;
}

void FileTree::find_ends() {
  ends_.resize(order_.size());
  std::vector<std::uint32_t> open;  // folders that the place is below
  const auto close_until = [&](std::uint32_t place, std::string_view path) {
    while (!open.empty() && !is_below(path, at(open.back()).path)) {
      ends_[open.back()] = place;
      open.pop_back();
    }
  };
  for (std::uint32_t place = 0; place < order_.size(); ++place) {
    close_until(place, at(place).path);
    ends_[place] = place + 1;
    if (at(place).kind == EntryKind::kFolder) open.push_back(place);
  }
  for (const std::uint32_t folder : open) ends_[folder] = static_cast<std::uint32_t>(order_.size());
}

Result<std::size_t> FileTree::find(std::string_view path) const {
  const std::string shown = escape_for_display(path);
  while (path.ends_with('/')) path.remove_suffix(1);
  const std::string_view base = manifest_.base_name;
  if (path.empty() || path == base) return std::size_t{0};
  const auto place_of = [&](std::string_view below) -> std::size_t {
    const auto found = std::ranges::lower_bound(
        order_, below, comes_before,
        [&](std::uint32_t index) -> std::string_view { return manifest_.entries[index].path; });
    const bool is_there = found != order_.end() && manifest_.entries[*found].path == below;
    return is_there ? static_cast<std::size_t>(found - order_.begin()) : order_.size();
  };
  std::size_t place = place_of(path);
  if (place == order_.size() && is_below(path, base)) place = place_of(path.substr(base.size() + 1));
  if (place < order_.size()) return place;
  return Error{Code::kNotFound, "it has no file or folder '" + shown + "'"};
}

FileTree::Line FileTree::line(std::size_t place) const {
  const ManifestEntry& entry = at(place);
  if (entry.kind != EntryKind::kFolder) return {order_[place], entry.size, 0};
  const std::size_t end = ends_[place];
  return {order_[place], bytes_before_[end] - bytes_before_[place],
          std::uint64_t{files_before_[end]} - files_before_[place]};
}

Result<FileTree::Listing> FileTree::list(std::string_view path, Form form, std::size_t first, std::size_t most) const {
  if (order_.empty()) return Error{Code::kNotFound, "it has no files"};
  GT_ASSIGN(const std::size_t top, find(path));
  const std::size_t end = ends_[top];
  Listing listing;
  listing.top = order_[top];
  listing.bytes = bytes_before_[end] - bytes_before_[top];
  listing.files = std::uint64_t{files_before_[end]} - files_before_[top];
  const auto add = [&](std::size_t place) {
    if (listing.all_lines++ >= first && listing.lines.size() < most) listing.lines.push_back(line(place));
  };
  const bool folder = at(top).kind == EntryKind::kFolder;
  if (form == Form::kTree) {
    listing.all_lines = end - top;
    for (std::size_t place = top + std::min(first, end - top); place < end && listing.lines.size() < most; ++place)
      listing.lines.push_back(line(place));
  } else if (form == Form::kFiles) {
    listing.all_lines = listing.files;
    // The one before which there are `first` files.
    const auto begin = std::ranges::upper_bound(files_before_.begin() + static_cast<std::ptrdiff_t>(top) + 1,
                                                files_before_.begin() + static_cast<std::ptrdiff_t>(end) + 1,
                                                files_before_[top] + first);
    for (std::size_t place = static_cast<std::size_t>(begin - files_before_.begin()) - 1;
         place < end && listing.lines.size() < most; ++place) {
      if (at(place).kind != EntryKind::kFolder) listing.lines.push_back(line(place));
    }
  } else if (!folder) {
    add(top);
  } else {
    for (std::size_t place = top + 1; place < end;
         place = at(place).kind == EntryKind::kFolder ? ends_[place] : place + 1)
      add(place);
  }
  return listing;
}

}  // namespace gridtorrent::metainfo
