#pragma once

#include <libtorrent/extensions.hpp>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/place.h"
#include "common/result.h"

namespace gridtorrent::client::engine {

/// The folders of one torrent that tasks named, kept open. libtorrent opens files by path, and somebody else may
/// replace a folder of such a path by a link at any time: "/proc/self/fd/N" leads to the folder that was opened,
/// whatever its name stands for by then. Being a plugin of the torrent it lives as long as libtorrent uses the path, so
/// that N is never another folder. Thread-safe.
class HeldFolders final : public lt::torrent_plugin {
 public:
  /// The path to give to libtorrent: that of `place` itself where a person named it. `for_writing`: kConflict where
  /// others can get at what lies in the folder, which a staging folder of ours does not allow.
  Result<std::string> path_for(const Place& place, bool for_writing);

 private:
  std::mutex mutex_;
  std::vector<UniqueFd> folders_;
};

/// N of "/proc/self/fd/N"; nothing for other paths.
std::optional<int> held_descriptor(std::string_view path);

/// The folder is this user's, and nobody else may search it: no part of a path below it can be replaced by others.
bool is_out_of_reach(int folder);

}  // namespace gridtorrent::client::engine
