#include "gui/models/file_tree.h"

#include <algorithm>

namespace gridtorrent::gui {

namespace {

/// As bytes, with '/' before everything else, so that all below a folder is one stretch.
bool is_before(const FileRow& a, const FileRow& b) {
  const auto rank = [](char c) { return c == '/' ? 0 : static_cast<int>(static_cast<unsigned char>(c)) + 1; };
  return std::ranges::lexicographical_compare(a.path, b.path, {}, rank, rank);
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

FileTree::FileTree(std::vector<FileRow> files) : files_(std::move(files)) {
  std::ranges::sort(files_, is_before);
  sums_.reserve(files_.size() + 1);
  sums_.push_back(0);
  for (const FileRow& file : files_) sums_.push_back(sums_.back() + file.bytes);
}

FileTree FileTree::narrowed(std::string_view part, std::vector<std::size_t>& which) const {
  const auto same = [](char a, char b) { return lower(a) == lower(b); };
  std::vector<FileRow> rows;
  which.clear();
  for (std::size_t i = 0; i < files_.size(); ++i) {
    if (std::ranges::search(files_[i].path, part, same).empty() && !part.empty()) continue;
    rows.push_back(files_[i]);
    which.push_back(i);
  }
  return FileTree(std::move(rows));
}

std::vector<FileTree::Entry> FileTree::entries() const {
  return entries(0, files_.size(), 0);
}

std::vector<FileTree::Entry> FileTree::entries(const Entry& folder) const {
  return folder.folder ? entries(folder.first, folder.end, folder.name_end + 1) : std::vector<Entry>();
}

/// `prefix` bytes of each path between are the same, and end in '/'.
std::vector<FileTree::Entry> FileTree::entries(std::size_t first, std::size_t end, std::size_t prefix) const {
  std::vector<Entry> found;
  while (first < end) {
    const std::string& path = files_[first].path;
    const std::size_t slash = path.find('/', prefix);
    if (slash == std::string::npos) {
      found.push_back({first, first + 1, prefix, path.size(), false});
      ++first;
      continue;
    }
    const std::string_view folder = std::string_view(path).substr(0, slash + 1);
    const auto begin = files_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto past = std::partition_point(begin, files_.begin() + static_cast<std::ptrdiff_t>(end),
                                           [&](const FileRow& file) { return file.path.starts_with(folder); });
    const auto next = static_cast<std::size_t>(past - files_.begin());
    found.push_back({first, next, prefix, slash, true});
    first = next;
  }
  return found;
}

std::string_view FileTree::name(const Entry& entry) const {
  return std::string_view(files_[entry.first].path).substr(entry.name_begin, entry.name_end - entry.name_begin);
}

std::string_view FileTree::path(const Entry& entry) const {
  return std::string_view(files_[entry.first].path).substr(0, entry.name_end);
}

}  // namespace gridtorrent::gui
