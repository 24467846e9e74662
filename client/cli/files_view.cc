#include "client/cli/files_view.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "common/text.h"
#include "common/units.h"

namespace gridtorrent::client::cli {

namespace {

/// Without BASE; empty for BASE itself.
std::string_view below_base(const api::FileEntry& entry) {
  const std::string_view path = entry.path;
  const std::size_t slash = path.find('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
}

bool is_named(std::string_view text, const api::FileEntry& entry) {
  const std::string_view below = below_base(entry);
  if (text == entry.path || (!below.empty() && text == below)) return true;
  if (text.find('\\') == std::string_view::npos) return false;
  return text == escape_for_display(entry.path) || text == escape_for_display(below);
}

bool is_below(std::string_view path, std::string_view folder) {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

/// A folder before what is in it, and that before what follows the folder.
bool comes_before(std::string_view one, std::string_view other) {
  const auto place = [](char c) { return c == '/' ? 0 : static_cast<int>(static_cast<unsigned char>(c)) + 1; };
  return std::ranges::lexicographical_compare(one, other, {}, place, place);
}

Result<std::vector<const api::FileEntry*>> chosen(const std::vector<api::FileEntry>& entries, std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  std::vector<const api::FileEntry*> found;
  std::string_view top;
  if (!path.empty()) {
    // The top by its name, then a path as it is shown, as the server does; then other forms of it.
    const auto is_shown = [&](const auto& entry) { return below_base(entry) == path; };
    auto named = entries.begin();
    if (entries.empty() || path != entries.front().path) named = std::ranges::find_if(entries, is_shown);
    if (named == entries.end())
      named = std::ranges::find_if(entries, [&](const auto& entry) { return is_named(path, entry); });
    if (named == entries.end())
      return Error{Code::kNotFound, "it has no file or folder '" + escape_for_display(path) + "'"};
    top = named->path;
  }
  for (const api::FileEntry& entry : entries)
    if (top.empty() || entry.path == top || is_below(entry.path, top)) found.push_back(&entry);
  std::ranges::sort(found, [](const auto* one, const auto* other) { return comes_before(one->path, other->path); });
  return found;
}

/// By path: what all files below a folder come to.
std::map<std::string_view, std::uint64_t> folder_bytes(const std::vector<const api::FileEntry*>& entries) {
  std::map<std::string_view, std::uint64_t> sums;
  for (const api::FileEntry* entry : entries) {
    if (entry->folder) continue;
    std::string_view path = entry->path;
    for (std::size_t slash = path.rfind('/'); slash != std::string_view::npos; slash = path.rfind('/')) {
      path = path.substr(0, slash);
      sums[path] += entry->bytes;
    }
  }
  return sums;
}

std::size_t depth_of(std::string_view path) {
  return static_cast<std::size_t>(std::ranges::count(path, '/'));
}

}  // namespace

Result<FilesPage> files_page(const std::vector<api::FileEntry>& entries, const FilesWish& wish) {
  GT_ASSIGN(const std::vector<const api::FileEntry*> found, chosen(entries, wish.path));
  const auto sums = wish.tree ? folder_bytes(found) : std::map<std::string_view, std::uint64_t>();
  const std::size_t top = found.empty() ? 0 : depth_of(found.front()->path);
  FilesPage page;
  for (const api::FileEntry* entry : found) {
    page.files += entry->folder ? 0 : 1;
    page.bytes += entry->bytes;
    if (entry->folder && !wish.tree) continue;
    const std::size_t line = page.all_lines++;
    if (line < wish.first || page.lines.size() >= wish.limit) continue;
    const std::string_view below = below_base(*entry);
    const auto sum = sums.find(entry->path);
    page.lines.push_back({std::string(below.empty() ? std::string_view(entry->path) : below),
                          depth_of(entry->path) - top, entry->folder,
                          entry->folder ? (sum == sums.end() ? 0 : sum->second) : entry->bytes, *entry});
  }
  if (wish.first + page.lines.size() < page.all_lines) page.next = wish.first + page.lines.size();
  return page;
}

FilesPage files_page(const api::FilePage& page, const FilesWish& wish) {
  FilesPage shown;
  shown.files = page.files;
  shown.bytes = page.bytes;
  shown.all_lines = page.all_lines;
  const std::size_t top = depth_of(page.path);
  for (const api::FilePage::Line& line : page.lines) {
    const std::string_view below = below_base(line.entry);
    shown.lines.push_back({std::string(below.empty() ? std::string_view(line.entry.path) : below),
                           std::max(depth_of(line.entry.path), top) - top, line.entry.folder, line.entry.bytes,
                           line.entry});
  }
  if (wish.first + shown.lines.size() < shown.all_lines) shown.next = wish.first + shown.lines.size();
  return shown;
}

std::string files_text(const FilesPage& page, bool tree) {
  std::string text;
  constexpr std::size_t kSizeColumns = 8;
  for (const FileLine& line : page.lines) {
    const std::string size = format_bytes(line.bytes);
    text += std::string(kSizeColumns - std::min(kSizeColumns, size.size()), ' ') + size + "  ";
    const std::size_t slash = line.path.rfind('/');
    const std::string name =
        tree && line.depth > 0 && slash != std::string::npos ? line.path.substr(slash + 1) : line.path;
    text += (tree ? std::string(2 * line.depth, ' ') : "") + escape_for_display(name) + (line.folder ? "/" : "");
    if (!line.entry.link_target.empty()) text += " -> " + escape_for_display(line.entry.link_target);
    text += "\n";
  }
  return text;
}

}  // namespace gridtorrent::client::cli
