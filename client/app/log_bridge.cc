#include "client/app/log_bridge.h"

#include "base/logging/logging.h"

namespace gridtorrent::client::app {

NodeLogFn make_log() {
  return [](NodeLogLevel level, const std::string& line) {
    switch (level) {
      case NodeLogLevel::kDebug:
        return logging::debug(line);
      case NodeLogLevel::kInfo:
        return logging::info(line);
      case NodeLogLevel::kWarning:
        return logging::warning(line);
      case NodeLogLevel::kError:
        return logging::error(line);
    }
  };
}

Status configure_logging(const std::string& format, const std::string& level) {
  GT_ASSIGN(const logging::Format parsed_format, logging::parse_format(format));
  GT_ASSIGN(const logging::Level parsed_level, logging::parse_level(level));
  logging::configure(parsed_format, parsed_level);
  return {};
}

int exit_code(Code code) {
  switch (code) {
    case Code::kInvalid:
      return 2;
    case Code::kNotFound:
      return 3;
    case Code::kUnauthenticated:
    case Code::kDenied:
      return 4;
    case Code::kUnreachable:
      return 5;
    case Code::kConflict:
      return 6;
    case Code::kCorrupt:
      return 7;
    case Code::kDisk:
      return 8;
    case Code::kTimeout:
      return 9;
    case Code::kCancelled:
      return 10;
    default:
      return 1;
  }
}

}  // namespace gridtorrent::client::app
