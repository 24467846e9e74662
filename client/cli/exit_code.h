#pragma once

#include <optional>
#include <string_view>

#include "common/result.h"

namespace gridtorrent::client::cli {

/// What the program returns to the shell; docs/exit-codes.md tells the same. A contract: never renumber.
enum class Exit : int {
  kDone = 0,
  kOther = 1,
  kUsage = 2,
  kNotFound = 3,
  kNotAllowed = 4,
  kUnreachable = 5,
  kConflict = 6,
  kCorrupt = 7,
  kDisk = 8,
  kTimedOut = 9,
  kCancelled = 10,
};

/// The one map from error codes to exit codes.
Exit exit_code(Code code);

/// The other way from the names in JSON and on the wire ("not_found"); kInternal for a name that this version does not
/// know.
Code code_from_name(std::string_view name);

}  // namespace gridtorrent::client::cli
