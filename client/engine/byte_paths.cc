#include "client/engine/byte_paths.h"

#include <cstdlib>
#include <libtorrent/create_torrent.hpp>
#include <libtorrent/file_storage.hpp>
#include <optional>
#include <string>

namespace gridtorrent::client::engine {
namespace {

/// Runs as a static initialiser: later, another thread might read the environment.
bool settle() {
  const char* value = std::getenv("LANG");
  const std::optional<std::string> before = value == nullptr ? std::nullopt : std::optional<std::string>(value);
  if (::setenv("LANG", "C.UTF-8", 1) != 0) return false;
  // Any path libtorrent handles makes it look at LANG, once and for all; this one does not exist.
  lt::file_storage files;
  lt::add_files(files, "/proc/self/gridtorrent-no-such-file");
  if (before) {
    ::setenv("LANG", before->c_str(), 1);
  } else {
    ::unsetenv("LANG");
  }
  return true;
}

const bool g_settled = settle();

}  // namespace

bool paths_are_bytes() {
  return g_settled;
}

}  // namespace gridtorrent::client::engine
