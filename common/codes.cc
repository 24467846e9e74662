#include "common/codes.h"

namespace gridtorrent {

Exit exit_code(Code code) {
  switch (code) {
    case Code::kInvalid:
      return Exit::kUsage;
    case Code::kNotFound:
      return Exit::kNotFound;
    case Code::kUnauthenticated:
      return Exit::kNotAllowed;
    case Code::kDenied:
      return Exit::kNotAllowed;
    case Code::kUnreachable:
      return Exit::kUnreachable;
    case Code::kConflict:
      return Exit::kConflict;
    case Code::kCorrupt:
      return Exit::kCorrupt;
    case Code::kDisk:
      return Exit::kDisk;
    case Code::kTimeout:
      return Exit::kTimedOut;
    case Code::kCancelled:
      return Exit::kCancelled;
    case Code::kBusy:
      return Exit::kOther;
    case Code::kExhausted:
      return Exit::kOther;
    case Code::kUnsupported:
      return Exit::kOther;
    case Code::kInternal:
      return Exit::kOther;
  }
  return Exit::kOther;
}

std::optional<Code> parse_code(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(Code::kInternal); ++i) {
    const Code code = static_cast<Code>(i);
    if (code_name(code) == name) return code;
  }
  return std::nullopt;
}

}  // namespace gridtorrent
