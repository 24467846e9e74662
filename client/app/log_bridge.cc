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

}  // namespace gridtorrent::client::app
