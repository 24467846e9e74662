#include "client/engine/held_folders.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>

#include "common/text.h"

namespace gridtorrent::client::engine {
namespace {

constexpr std::string_view kDescriptors = "/proc/self/fd/";

Error cannot_open(const Place& place, int reason) {
  const std::string shown = escape_for_display(place.path);
  if (reason == ELOOP || reason == EXDEV) {
    return {Code::kDenied, "the folder " + shown + " is refused: a symbolic link stands in the way below the root " +
                               escape_for_display(place.root) + "; name the real folder as a root of its own"};
  }
  return {reason == ENOENT ? Code::kNotFound : Code::kDisk,
          "the folder " + shown + " cannot be opened: " + errno_text(reason)};
}

}  // namespace

Result<std::string> HeldFolders::path_for(const Place& place, bool for_writing) {
  if (place.root.empty()) return place.path;
  UniqueFd folder = open_place(place, O_PATH | O_DIRECTORY);
  if (!folder) return cannot_open(place, errno);
  if (for_writing && !is_out_of_reach(folder.get())) {
    return Error{Code::kConflict,
                 "others can get at the staging folder " + escape_for_display(place.path) + "; remove it"};
  }
  const std::string path = std::string(kDescriptors) + std::to_string(folder.get());
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) {
    return Error{Code::kDisk, path + " cannot be used: " + errno_text(errno) + "; tasks need /proc to be mounted"};
  }
  const std::lock_guard lock(mutex_);
  folders_.push_back(std::move(folder));
  return path;
}

std::optional<int> held_descriptor(std::string_view path) {
  if (!path.starts_with(kDescriptors)) return std::nullopt;
  path.remove_prefix(kDescriptors.size());
  int descriptor = -1;
  const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), descriptor);
  if (error != std::errc() || end != path.data() + path.size()) return std::nullopt;
  return descriptor;
}

bool is_out_of_reach(int folder) {
  struct stat info{};
  return ::fstat(folder, &info) == 0 && info.st_uid == ::geteuid() && (info.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

}  // namespace gridtorrent::client::engine
