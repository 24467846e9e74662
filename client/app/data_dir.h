#pragma once

#include <string>

#include "common/result.h"
#include "common/unique_fd.h"

namespace gridtorrent::client::app {

/// The data folder, made with mode 0700 where it is missing, and locked for this process as long as the object lives.
/// Another daemon in it is kConflict, naming its host and pid; a network file system kUnsupported.
class DataDir {
 public:
  static Result<DataDir> open(const std::string& path);
  const std::string& path() const { return path_; }

 private:
  DataDir(std::string path, UniqueFd lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  std::string path_;
  UniqueFd lock_;
};

}  // namespace gridtorrent::client::app
