#pragma once

#include <sys/stat.h>

#include <string>
#include <utility>

#include "common/unique_fd.h"

namespace gridtorrent {

/// A file or folder on this machine, and who named it. With an empty `root` a person named `path`: links in it are
/// followed, as everywhere. Otherwise a task named it below a root that the node's owner allowed, and others may write
/// there: every use opens `root` and goes on from that descriptor, never through a symbolic link and never upwards
/// (open_place). The text alone is for people, for comparing and for the database.
struct Place {
  Place() = default;
  Place(std::string named, std::string below = {}, bool follow = false)
      : path(std::move(named)), root(std::move(below)), follow_links(follow) {}
  Place(const char* named) : path(named) {}

  std::string path;  ///< absolute, bytes, no slash at its end
  std::string root;  ///< empty, or `path` itself, or a folder above it
  /// Symbolic links below `path` are followed: data that was published through links. Never with a root.
  bool follow_links = false;

  friend bool operator==(const Place&, const Place&) = default;
};

/// `name` (which may have several components) in a folder. The root stays, and what becomes of links.
Place below(const Place& folder, const std::string& name);
/// The folder that holds it. That of a root itself lies outside of the root, and is its owner's to name.
Place folder_of(const Place& place);

/// Opens with `flags` (of open(2); O_CLOEXEC is added). Empty and errno set on failure: ELOOP (or ENOTDIR, where
/// openat2 is missing) for a link below the root.
UniqueFd open_place(const Place& place, int flags);

/// Opens a path relative to a folder, never leaving it and never through a symbolic link: openat2(2); where the kernel
/// (before 5.6) or a sandbox refuses that, component by component with O_NOFOLLOW, which gives the same promise. Empty
/// and errno set on failure. `same_device`: EXDEV on a mount point (with openat2 only). "" and "." are the folder
/// itself.
UniqueFd open_beneath(int folder, const std::string& path, int flags, bool same_device = false);

/// How paths below a folder are looked up.
struct LookUp {
  bool same_device = false;   ///< as of open_beneath; without a meaning where links are followed
  bool follow_links = false;  ///< symbolic links are followed wherever they lead
};
/// open_beneath, or openat(2) where links are followed.
UniqueFd open_below(int folder, const std::string& path, int flags, const LookUp& by);
/// fstatat(2), of what a link leads to where links are followed. False and errno set on failure.
bool stat_below(int folder, const std::string& name, struct stat& info, const LookUp& by);

}  // namespace gridtorrent
