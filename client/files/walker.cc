#include "client/files/walker.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <numeric>

namespace gridtorrent::client::files {

namespace {

using metainfo::EntryKind;
using metainfo::ManifestEntry;

constexpr std::size_t kMaxWarnings = 100;
constexpr std::chrono::milliseconds kTellPause{100};
constexpr std::string_view kStagingPrefix = ".gridtorrent-x_";

std::string_view kind_name(mode_t mode) {
  if (S_ISLNK(mode)) return "a symbolic link";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISBLK(mode) || S_ISCHR(mode)) return "a device";
  return "neither file nor folder";
}

class Walk {
 public:
  Walk(WalkedTree& tree, bool strict, const ScanFn& counting, std::stop_token stop)
      : tree_(tree), strict_(strict), counting_(counting), stop_(std::move(stop)) {}

  Status start() {
    const std::string& base = tree_.manifest.base_name;
    struct stat info{};
    if (::fstatat(tree_.parent_fd.get(), base.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) return Error{Code::kNotFound, quoted(shown("")) + " does not exist"};
      return errno_error(errno, shown(""), "cannot be examined");
    }
    if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
      return Error{Code::kInvalid, quoted(shown("")) + " is " + std::string(kind_name(info.st_mode)) +
                                       "; name the file or folder itself"};
    device_ = info.st_dev;
    GT_TRY(add(tree_.parent_fd.get(), base, "", info));
    while (!folders_.empty()) {
      const std::string folder = std::move(folders_.back());
      folders_.pop_back();
      GT_TRY(list(folder));
    }
    if (!tree_.manifest.is_single_file() && tree_.manifest.entries.size() == 1)
      return Error{Code::kInvalid, "folder " + quoted(shown("")) + " has no entries" +
                                       (tree_.figures.skipped > 0 ? " that can be published" : "") +
                                       "; there is nothing to publish"};
    return sort();
  }

 private:
  std::string shown(const std::string& path) const {
    const std::string top = (tree_.parent == "/" ? "" : tree_.parent) + "/" + tree_.manifest.base_name;
    return path.empty() ? top : top + "/" + path;
  }

  Status list(const std::string& folder) {
    if (stop_.stop_requested()) return Error{Code::kCancelled, "stopped on request"};
    const std::string below_parent =
        folder.empty() ? tree_.manifest.base_name : tree_.manifest.base_name + "/" + folder;
    const UniqueFd fd = open_beneath(tree_.parent_fd.get(), below_parent, O_RDONLY | O_DIRECTORY, true);
    if (!fd) {
      if (errno == EXDEV) return other_filesystem(folder);
      return errno_error(errno, shown(folder), "cannot be read");
    }
    GT_ASSIGN(const std::vector<Listed> names, list_folder(fd.get(), shown(folder)));
    for (const Listed& listed : names) {
      const std::string path = folder.empty() ? listed.name : folder + "/" + listed.name;
      struct stat info{};
      if (::fstatat(fd.get(), listed.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT)
          return Error{Code::kConflict, quoted(shown(path)) + " vanished while the folder was being listed"};
        return errno_error(errno, shown(path), "cannot be examined");
      }
      GT_TRY(add(fd.get(), listed.name, path, info));
      tell();
      if (stop_.stop_requested()) return Error{Code::kCancelled, "stopped on request"};
    }
    return {};
  }

  void tell() {
    if (!counting_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_word_) return;
    next_word_ = now + kTellPause;
    counting_(tree_.figures);
  }

  Status add(int folder, const std::string& name, const std::string& path, const struct stat& info) {
    if (S_ISDIR(info.st_mode) && name.starts_with(kStagingPrefix))
      return skip(path, "the staging folder of a running transfer");
    if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) return skip(path, kind_name(info.st_mode));
    if (info.st_dev != device_) return other_filesystem(path);
    if (tree_.manifest.base_name.size() + 1 + path.size() > metainfo::kMaxPathBytes)
      return Error{Code::kInvalid, "path " + quoted(shown(path)) + " is longer than " +
                                       std::to_string(metainfo::kMaxPathBytes) + " bytes"};
    if (tree_.manifest.entries.size() == metainfo::kMaxEntries)
      return Error{Code::kInvalid, quoted(shown("")) + " holds more than " + std::to_string(metainfo::kMaxEntries) +
                                       " files and folders, the limit of one content; publish its parts"};
    ManifestEntry entry;
    entry.path = path;
    entry.kind = S_ISDIR(info.st_mode) ? EntryKind::kFolder : EntryKind::kFile;
    entry.mode = info.st_mode & 0777;
    entry.mtime_ns = to_ns(info.st_mtim);
    if (entry.kind == EntryKind::kFolder) {
      folders_.push_back(path);
    } else {
      entry.size = static_cast<std::uint64_t>(info.st_size);
      if (::faccessat(folder, name.c_str(), R_OK, AT_EACCESS) != 0)
        return errno_error(errno, shown(path), "cannot be read");
      ++tree_.figures.files;
      tree_.figures.bytes += entry.size;
    }
    tree_.manifest.entries.push_back(std::move(entry));
    tree_.identities.push_back(FileIdentity::of(info));
    return {};
  }

  Status skip(const std::string& path, std::string_view what) {
    if (strict_)
      return Error{Code::kInvalid, quoted(shown(path)) + " is " + std::string(what) +
                                       " and cannot be published; remove it, or publish without --strict to skip it"};
    ++tree_.figures.skipped;
    if (tree_.warnings.size() < kMaxWarnings)
      tree_.warnings.push_back("skipped " + quoted(shown(path)) + ": " + std::string(what));
    return {};
  }

  Error other_filesystem(const std::string& path) const {
    return {Code::kInvalid, quoted(shown(path)) + " lies on another filesystem; publish it by itself"};
  }

  Status sort() {
    auto& entries = tree_.manifest.entries;
    std::vector<std::size_t> order(entries.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t left, std::size_t right) { return entries[left].path < entries[right].path; });
    std::vector<ManifestEntry> sorted_entries;
    std::vector<FileIdentity> sorted_identities;
    sorted_entries.reserve(order.size());
    sorted_identities.reserve(order.size());
    for (const std::size_t i : order) {
      sorted_entries.push_back(std::move(entries[i]));
      sorted_identities.push_back(tree_.identities[i]);
    }
    entries = std::move(sorted_entries);
    tree_.identities = std::move(sorted_identities);
    return metainfo::validate(tree_.manifest);
  }

  WalkedTree& tree_;
  const bool strict_;
  const ScanFn& counting_;
  const std::stop_token stop_;
  std::chrono::steady_clock::time_point next_word_;
  dev_t device_ = 0;
  std::vector<std::string> folders_;
};

/// Without trailing slashes, and with a last component that is a name.
Result<std::string> top_of(const std::string& path) {
  std::string top = path;
  while (top.size() > 1 && top.ends_with('/')) top.pop_back();
  if (!top.starts_with('/')) return Error{Code::kInvalid, quoted(path) + " is no absolute path"};
  const std::string name = split_path(top).name;
  if (name == "." || name == "..") {
    const std::unique_ptr<char, void (*)(void*)> real(::realpath(top.c_str(), nullptr), ::free);
    if (!real) return errno_error(errno, path, "cannot be examined");
    top = real.get();
  }
  if (top == "/") return Error{Code::kInvalid, "'/' has no name of its own; publish a folder in it"};
  return top;
}

}  // namespace

Result<WalkedTree> walk(const Place& place, bool strict, const ScanFn& counting, std::stop_token stop) {
  GT_ASSIGN(const std::string top, top_of(place.path));
  WalkedTree tree;
  SplitPath split = split_path(top);
  tree.parent = split.folder.empty() ? "/" : split.folder;
  tree.manifest.base_name = split.name;
  GT_TRY(metainfo::validate_component(tree.manifest.base_name));
  const Place parent{tree.parent, folder_of({top, place.root}).root};
  tree.parent_fd = open_place(parent, O_PATH | O_DIRECTORY);
  if (!tree.parent_fd) {
    if (errno == ENOENT) return Error{Code::kNotFound, quoted(top) + " does not exist"};
    return place_error(errno, parent, "cannot be opened");
  }
  GT_TRY(Walk(tree, strict, counting, std::move(stop)).start());
  return tree;
}

}  // namespace gridtorrent::client::files
