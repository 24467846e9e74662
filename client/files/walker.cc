#include "client/files/walker.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <numeric>
#include <set>

#include "client/files/choice.h"
#include "client/files/symbolic_link.h"
#include "common/text.h"

namespace gridtorrent::client::files {

namespace {

using metainfo::EntryKind;
using metainfo::ManifestEntry;

constexpr std::size_t kMaxWarnings = 100;
constexpr std::chrono::milliseconds kTellPause{100};
constexpr std::string_view kStagingPrefix = ".gridtorrent-x_";

using FolderId = std::pair<dev_t, ino_t>;

FolderId id_of(const struct stat& info) {
  return {info.st_dev, info.st_ino};
}

std::string_view kind_name(mode_t mode) {
  if (S_ISLNK(mode)) return "a symbolic link";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISBLK(mode) || S_ISCHR(mode)) return "a device";
  return "neither file nor folder";
}

/// The ignore file of a folder that is published; an empty one where there is none.
Result<IgnoreFile> load_ignore_file(const WalkedTree& tree) {
  const std::string path = tree.manifest.base_name + "/" + kIgnoreFile;
  const std::string shown = tree.parent + "/" + path;
  const UniqueFd file = open_below(tree.parent_fd.get(), path, O_RDONLY | O_NONBLOCK | O_NOCTTY, tree.look_up);
  if (!file && errno == ENOENT) return IgnoreFile();
  if (!file && errno == ELOOP)
    return Error{Code::kInvalid, quoted(shown) + " is a symbolic link; put the file itself there"};
  if (!file) return errno_error(errno, shown, "cannot be read");
  std::string text(kMaxIgnoreFileBytes + 1, '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error(errno, shown, "cannot be read");
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  if (filled > kMaxIgnoreFileBytes)
    return Error{Code::kInvalid,
                 quoted(shown) + " is larger than " + std::to_string(kMaxIgnoreFileBytes) + " bytes; shorten it"};
  return IgnoreFile::parse(std::string_view(text).substr(0, filled));
}

class Walk {
 public:
  Walk(WalkedTree& tree, const WalkWish& wish, std::stop_token stop)
      : tree_(tree), wish_(wish), choice_(wish.rules, {}), stop_(std::move(stop)) {}

  Status start() {
    const std::string& base = tree_.manifest.base_name;
    struct stat info{};
    if (!stat_below(tree_.parent_fd.get(), base, info, tree_.look_up)) {
      if (errno == ENOENT) return Error{Code::kNotFound, quoted(shown("")) + " does not exist"};
      return errno_error(errno, shown(""), "cannot be examined");
    }
    if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
      return Error{Code::kInvalid, quoted(shown("")) + " is " + std::string(kind_name(info.st_mode)) +
                                       "; name the file or folder itself"};
    if (S_ISDIR(info.st_mode)) {
      GT_TRY(check_filesystem());
      GT_ASSIGN(IgnoreFile ignored, load_ignore_file(tree_));
      choice_ = Choice(wish_.rules, std::move(ignored));
    }
    GT_TRY(add(tree_.parent_fd.get(), base, "", info, info.st_dev));
    while (!folders_.empty()) {
      const Folder folder = std::move(folders_.back());
      folders_.pop_back();
      GT_TRY(list(folder));
    }
    sort();
    if (!tree_.manifest.is_single_file() && tree_.manifest.entries.size() == 1)
      return Error{Code::kInvalid,
                   "folder " + quoted(shown("")) + " has no entries" +
                       (tree_.figures.skipped + tree_.figures.excluded > 0 ? " that can be published" : "") +
                       "; there is nothing to publish"};
    const Status valid = metainfo::validate(tree_.manifest);
    if (valid || tree_.manifest.targets.empty()) return valid;
    return Error{valid.error().code,
                 valid.error().message + "; leave it out with --exclude, or all links with --links skip"};
  }

 private:
  struct Folder {
    std::string path;  ///< below BASE
    dev_t device = 0;  ///< of what lies in it, but behind a link
  };

  std::string shown(const std::string& path) const {
    const std::string top = (tree_.parent == "/" ? "" : tree_.parent) + "/" + tree_.manifest.base_name;
    return path.empty() ? top : top + "/" + path;
  }

  Status check_filesystem() const {
    const UniqueFd top =
        open_below(tree_.parent_fd.get(), tree_.manifest.base_name, O_PATH | O_DIRECTORY, tree_.look_up);
    return top || errno != EXDEV ? Status() : Status(other_filesystem(""));
  }

  Status list(const Folder& listed_folder) {
    const std::string& folder = listed_folder.path;
    if (stop_.stop_requested()) return Error{Code::kCancelled, "stopped on request"};
    const std::string below_parent =
        folder.empty() ? tree_.manifest.base_name : tree_.manifest.base_name + "/" + folder;
    const UniqueFd fd = open_below(tree_.parent_fd.get(), below_parent, O_RDONLY | O_DIRECTORY, tree_.look_up);
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
      const bool follow = S_ISLNK(info.st_mode) && tree_.look_up.follow_links;
      GT_TRY(follow ? add_followed(fd.get(), listed.name, path)
                    : add(fd.get(), listed.name, path, info, listed_folder.device));
      tell();
      if (stop_.stop_requested()) return Error{Code::kCancelled, "stopped on request"};
    }
    return {};
  }

  void tell() {
    if (!wish_.counting) return;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_word_) return;
    next_word_ = now + kTellPause;
    wish_.counting(tree_.figures);
  }

  /// What a link leads to, in its place.
  Status add_followed(int folder, const std::string& name, const std::string& path) {
    struct stat target{};
    const int reason = ::fstatat(folder, name.c_str(), &target, 0) == 0 ? 0 : errno;
    if (reason != 0) {
      if (const std::string why = choice_.left_out(path, false); !why.empty()) return leave_out(path, why);
      if (reason == ENOENT || reason == ENOTDIR) return skip(path, "a symbolic link that leads to nothing");
      return Error{Code::kInvalid, quoted(shown(path)) + " is a symbolic link that cannot be followed (" +
                                       errno_text(reason) + "); leave it out with --exclude"};
    }
    if (S_ISDIR(target.st_mode) && choice_.left_out(path, true).empty()) GT_TRY(leads_on(path, target));
    const std::size_t before = tree_.manifest.entries.size();
    GT_TRY(add(folder, name, path, target, target.st_dev));
    if (tree_.manifest.entries.size() == before) return {};
    ++tree_.figures.links;
    if (tree_.followed.size() == kMaxWarnings) return {};
    GT_ASSIGN(const std::string leads_to, read_link(folder, name, shown(path)));
    tree_.followed.push_back(quoted(shown(path)) + " leads to " + quoted(leads_to));
    return {};
  }

  /// Refuses a link to a folder that it lies in: there would be no end.
  Status leads_on(const std::string& path, const struct stat& target) const {
    for (std::string above = path; !above.empty();) {
      const std::size_t slash = above.rfind('/');
      above.resize(slash == std::string::npos ? 0 : slash);
      if (const auto id = folder_ids_.find(above); id != folder_ids_.end() && id->second == id_of(target))
        return Error{Code::kInvalid, quoted(shown(path)) + " is a symbolic link to the folder " + quoted(shown(above)) +
                                         " that it lies in, which has no end; leave it out with --exclude"};
    }
    return {};
  }

  /// `device`: of the folder that it lies in, or behind the link that led to it.
  Status add(int folder, const std::string& name, const std::string& path, const struct stat& info, dev_t device) {
    if (S_ISDIR(info.st_mode) && name.starts_with(kStagingPrefix))
      return skip(path, "the staging folder of a running transfer");
    if (const std::string why = path.empty() ? "" : choice_.left_out(path, S_ISDIR(info.st_mode)); !why.empty())
      return leave_out(path, why);
    const bool link = S_ISLNK(info.st_mode) && wish_.rules.links == LinkRule::kKeep;
    if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode) && !link) return skip(path, kind_name(info.st_mode));
    if (info.st_dev != device) return other_filesystem(path);
    if (tree_.manifest.base_name.size() + 1 + path.size() > metainfo::kMaxPathBytes)
      return Error{Code::kInvalid, "path " + quoted(shown(path)) + " is longer than " +
                                       std::to_string(metainfo::kMaxPathBytes) + " bytes"};
    if (tree_.manifest.entries.size() == metainfo::kMaxEntries)
      return Error{Code::kInvalid, quoted(shown("")) + " holds more than " + std::to_string(metainfo::kMaxEntries) +
                                       " files and folders, the limit of one content; publish its parts"};
    ManifestEntry entry;
    entry.path = path;
    entry.kind = S_ISDIR(info.st_mode) ? EntryKind::kFolder : link ? EntryKind::kLink : EntryKind::kFile;
    entry.mode = link ? 0 : info.st_mode & 0777;
    entry.mtime_ns = to_ns(info.st_mtim);
    if (entry.kind == EntryKind::kFolder) {
      folders_.push_back({path, info.st_dev});
      if (tree_.look_up.follow_links) folder_ids_.emplace(path, id_of(info));
    } else if (link) {
      GT_ASSIGN(targets_[path], read_link(folder, name, shown(path)));
      ++tree_.figures.links;
    } else {
      entry.size = static_cast<std::uint64_t>(info.st_size);
      if (::faccessat(folder, name.c_str(), R_OK, AT_EACCESS) != 0)
        return errno_error(errno, shown(path), "cannot be read");
      ++tree_.figures.files;
      tree_.figures.bytes += entry.size;
    }
    tree_.manifest.entries.push_back(std::move(entry));
    tree_.identities.push_back(FileIdentity::of(info));
    if (tree_.look_up.follow_links) {
      if (tree_.elsewhere.empty()) device_ = info.st_dev;  // BASE comes first
      tree_.elsewhere.push_back(info.st_dev != device_);
    }
    return {};
  }

  Status leave_out(const std::string& path, const std::string& why) {
    ++tree_.figures.excluded;
    if (tree_.excluded.size() < kMaxWarnings) tree_.excluded.push_back(quoted(shown(path)) + ": " + why);
    return {};
  }

  Status skip(const std::string& path, std::string_view what) {
    if (wish_.strict)
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

  void sort() {
    auto& entries = tree_.manifest.entries;
    std::vector<std::size_t> order(entries.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t left, std::size_t right) { return entries[left].path < entries[right].path; });
    std::vector<ManifestEntry> sorted_entries;
    std::vector<FileIdentity> sorted_identities;
    std::vector<bool> sorted_elsewhere;
    sorted_entries.reserve(order.size());
    sorted_identities.reserve(order.size());
    const std::vector<bool> dropped = folders_to_drop(order);
    for (const std::size_t i : order) {
      if (dropped[i]) continue;
      if (entries[i].kind == EntryKind::kLink)
        tree_.manifest.targets.emplace(static_cast<std::uint32_t>(sorted_entries.size()),
                                       std::move(targets_.at(entries[i].path)));
      sorted_entries.push_back(std::move(entries[i]));
      sorted_identities.push_back(tree_.identities[i]);
      if (!tree_.elsewhere.empty()) sorted_elsewhere.push_back(tree_.elsewhere[i]);
    }
    entries = std::move(sorted_entries);
    tree_.identities = std::move(sorted_identities);
    tree_.elsewhere = std::move(sorted_elsewhere);
  }

  /// Folders that nobody asked for and that nothing is in. `order`: of the entries by path.
  std::vector<bool> folders_to_drop(const std::vector<std::size_t>& order) const {
    const auto& entries = tree_.manifest.entries;
    std::vector<bool> dropped(entries.size());
    std::set<std::string_view> needed;
    for (auto i = order.rbegin(); i != order.rend(); ++i) {
      const ManifestEntry& entry = entries[*i];
      const std::string_view path = entry.path;
      if (path.empty()) continue;
      dropped[*i] = entry.kind == EntryKind::kFolder && !needed.contains(path) && choice_.not_asked_for(path);
      const std::size_t slash = path.rfind('/');
      if (!dropped[*i] && slash != std::string_view::npos) needed.insert(path.substr(0, slash));
    }
    return dropped;
  }

  WalkedTree& tree_;
  const WalkWish& wish_;
  Choice choice_;
  const std::stop_token stop_;
  std::chrono::steady_clock::time_point next_word_;
  dev_t device_ = 0;  ///< of BASE; only where links are followed
  std::vector<Folder> folders_;
  std::map<std::string, FolderId> folder_ids_;  // by path; only where links are followed
  std::map<std::string, std::string> targets_;  // of kept links, by path
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

Result<WalkedTree> walk(const Place& place, const WalkWish& wish, std::stop_token stop) {
  GT_ASSIGN(const std::string top, top_of(place.path));
  WalkedTree tree;
  SplitPath split = split_path(top);
  const bool follow = wish.rules.links == LinkRule::kFollow;
  if (follow && !place.root.empty())
    return Error{Code::kDenied, quoted(place.path) +
                                    " lies below a named root, where no symbolic link is followed; publish it with "
                                    "--links skip or keep, or on the node's own machine"};
  tree.look_up = follow ? LookUp{.follow_links = true} : LookUp{.same_device = true};
  tree.parent = split.folder.empty() ? "/" : split.folder;
  tree.manifest.base_name = split.name;
  GT_TRY(metainfo::validate_component(tree.manifest.base_name));
  const Place parent{tree.parent, folder_of({top, place.root}).root};
  tree.parent_fd = open_place(parent, O_PATH | O_DIRECTORY);
  if (!tree.parent_fd) {
    if (errno == ENOENT) return Error{Code::kNotFound, quoted(top) + " does not exist"};
    return place_error(errno, parent, "cannot be opened");
  }
  GT_TRY(Walk(tree, wish, std::move(stop)).start());
  return tree;
}

}  // namespace gridtorrent::client::files
