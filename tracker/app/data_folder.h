#pragma once

#include <string>

#include "common/result.h"
#include "common/unique_fd.h"

namespace gridtorrent::tracker::app {

/// Makes the folder (0700, parents too) where it is missing, and takes what others may do in it away. kDenied: it
/// belongs to somebody else; kDisk.
Status prepare_data_folder(const std::string& path);

/// Holds a data folder for one process: released when it goes, however that happens.
class DataFolderLock {
 public:
  /// kConflict, naming the pid, while another process holds it.
  static Result<DataFolderLock> take(const std::string& path);

 private:
  explicit DataFolderLock(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

/// Writes the file in one piece (beside, synced, renamed), readable for all. kDisk, kDenied.
Status write_public_file(const std::string& path, const std::string& content);

}  // namespace gridtorrent::tracker::app
