#pragma once

#include <string>
#include <vector>

#include "client/app/config.h"

namespace gridtorrent::client::app {

/// What SIGHUP found: names of options whose value is another now.
struct ConfigChanges {
  std::vector<std::string> taken;         ///< take effect while the node runs
  std::vector<std::string> need_restart;  ///< do not
};
ConfigChanges compare(const Config& before, const Config& now);

/// One line for the log.
std::string describe(const ConfigChanges& changes);

}  // namespace gridtorrent::client::app
