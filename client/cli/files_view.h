#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/api/server/values.h"
#include "common/result.h"

/// The files of a content as a list or a tree, a page at a time. Pure functions.
namespace gridtorrent::client::cli {

struct FilesWish {
  std::string path = {};  ///< what is below it, or itself; as it is or as it is shown, with BASE or without. Empty: all
  bool tree = false;      ///< folders, too, each with the sum of what is below it
  std::size_t first = 0;  ///< lines before it are left out
  std::size_t limit = 1000;  ///< so many lines
};

struct FileLine {
  std::string path;  ///< bytes, below BASE; BASE itself in a tree, and where that is the only file
  std::size_t depth = 0;
  bool folder = false;
  std::uint64_t bytes = 0;
  api::FileEntry entry{};
};

struct FilesPage {
  std::vector<FileLine> lines;
  std::size_t all_lines = 0;
  std::uint64_t files = 0, bytes = 0;  ///< of all pages
  std::size_t next = 0;                ///< where the next page begins; 0: this is the last
};

/// Of a page that the server has made of the same wish.
FilesPage files_page(const api::FilePage& page, const FilesWish& wish);
/// `entries` as the server's manifest has them. A folder comes before what is in it. kNotFound
/// where nothing has that path.
Result<FilesPage> files_page(const std::vector<api::FileEntry>& entries, const FilesWish& wish);

/// "  20.0 MB  raw/a.nc", a line each; paths as `get --file` takes them.
std::string files_text(const FilesPage& page, bool tree);

}  // namespace gridtorrent::client::cli
