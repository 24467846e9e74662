#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gridtorrent/v1/ccm.pb.h"
#include "gridtorrent/v1/tracker.pb.h"

namespace gridtorrent::client::api {

/// A list, all pages of it, or as much as was asked for.
template <class Item>
struct Listed {
  std::vector<Item> items;
  bool cut = false;  ///< there are more than the limit
};

/// One file or folder of a content.
struct FileEntry {
  std::uint32_t index = 0;  ///< its place in the manifest, as ChooseFiles takes it
  std::string path;         ///< bytes, BASE included: "run7/a.dat"; need not be UTF-8
  bool folder = false;
  std::uint64_t bytes = 0;
  std::uint32_t mode = 0;     ///< permission bits
  std::int64_t mtime_ns = 0;  ///< since the epoch
  std::string merkle_root;    ///< 64 hex digits; empty for folders, links and empty files
  std::string link_target;    ///< bytes; of a symbolic link only
  std::string sha256;         ///< 64 hex digits of the whole file; only from manifest_with_sha256, of files
};

/// A page of a version's files.
struct FilePage {
  struct Line {
    FileEntry entry;          ///< `bytes` of a folder: of all files below it
    std::uint64_t files = 0;  ///< of a folder: so many below it
  };
  std::string path;  ///< what was asked for, BASE included
  std::vector<Line> lines;
  std::uint64_t all_lines = 0;         ///< of all pages
  std::uint64_t files = 0, bytes = 0;  ///< below the path that was asked for
};

/// Takes one state of a task; false ends the watch (which is success).
using TaskFn = std::function<bool(const v1::Task&)>;
/// Take a list as it is, the first 200 of it; false ends the watch (which is success).
using NodesFn = std::function<bool(const Listed<v1::Node>&)>;
using TasksFn = std::function<bool(const Listed<v1::Task>&)>;
using ReplicasFn = std::function<bool(const Listed<v1::Replica>&)>;
/// Takes the inbox as it is; false ends the watch (which is success).
using InboxFn = std::function<bool(const v1::Inbox&)>;

}  // namespace gridtorrent::client::api
