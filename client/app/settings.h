#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/options/options.h"
#include "client/app/config.h"
#include "client/app/reload.h"
#include "client/control/settings.h"

namespace gridtorrent::client::app {

/// The options that the daemon runs with: those of command line, environment and configuration files, and before them
/// those that its owner set while it ran, which are kept in DATA-DIR/settings.toml. Thread-safe.
class Settings {
 public:
  /// Lets what differs from the configuration before take effect; may fill in `now.ca_pem`. On an error all stays as it
  /// was.
  using Apply = std::function<Status(const Config& before, Config& now)>;

  /// Of the program as it was started. kInvalid names the option, or the line of settings.toml.
  static Result<std::unique_ptr<Settings>> open(options::Parsed started);

  /// What is in use. Only what takes effect while the node runs changes, and the CA; nobody but `Apply` and the start
  /// reads these.
  Config& config() { return config_; }

  /// Files and environment as they are now, settings.toml as well (SIGHUP).
  Result<ConfigChanges> read_again(const Apply& apply);
  /// All of them, or none. kInvalid names the setting; kDisk: they could not be kept.
  Status change(const std::vector<control::SettingChange>& changes, const Apply& apply);
  /// In the order of `gridtorrentd --help`, without what holds secrets.
  std::vector<control::Setting> list() const;

 private:
  Settings(options::Parsed started, std::string file)
      : started_(started), file_(std::move(file)), configured_(std::move(started)) {}
  Result<options::Overrides> read_file() const;
  Result<Config> config_of(const options::Parsed& started, const options::Overrides& set) const;
  /// The same of what the file holds, whose errors name it.
  Result<Config> config_by_file(const options::Parsed& started, const options::Overrides& set) const;
  void take(const Config& now);

  const options::Parsed started_;
  const std::string file_;
  mutable std::mutex mutex_;    ///< guards the rest
  options::Parsed configured_;  ///< without what was set; as read last
  options::Overrides set_;
  Config config_;
};

}  // namespace gridtorrent::client::app
