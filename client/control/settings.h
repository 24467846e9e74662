#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/result.h"

namespace gridtorrent::client::control {

/// An option that the node runs with. Values are bytes, written as on a command line.
struct Setting {
  std::string name;
  std::vector<std::string> values;      ///< none: there is no value
  std::vector<std::string> configured;  ///< what they would be, had nobody set them here
  std::string source;                   ///< "default", "system file", …, "set": here
  bool changeable = false;              ///< here, while the node runs
  bool repeatable = false;
  std::string placeholder, help;
  std::vector<std::string> choices;
};

struct SettingChange {
  std::string name;
  std::vector<std::string> values;  ///< none: the list is empty
  bool reset = false;               ///< to what the configuration says
};

/// The node's options, for the control API. Both are called on gRPC's threads, maybe at the same time.
struct SettingsPort {
  std::function<std::vector<Setting>()> list;
  /// All of them, kept and in effect when it returns, or none: kInvalid names the setting, kDisk what could not be
  /// written.
  std::function<Status(const std::vector<SettingChange>&)> change;
};

}  // namespace gridtorrent::client::control
