#pragma once

#include <optional>
#include <string_view>

#include "common/result.h"

namespace gridtorrent {

/// What our programs return to the shell; docs/exit-codes.md tells the same. A contract: never renumber.
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

/// The code of a name in JSON and on the wire ("not_found"), see code_name; nothing for a name that this version does
/// not know.
std::optional<Code> parse_code(std::string_view name);

}  // namespace gridtorrent
