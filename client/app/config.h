#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/options/options.h"
#include "client/core/limit_hours.h"
#include "client/core/node.h"

namespace gridtorrent::client::app {

/// The one table of gridtorrentd's options.
const options::Program& program();

/// The options as the daemon uses them.
struct Config {
  std::string data_dir, ready_file;
  std::string server, ca_file;  ///< empty: as at enrolment
  std::string ca_pem;           ///< what is in the CA file in use; filled in by the daemon
  bool has_enroll_token = false;
  std::string node_name;
  std::vector<std::string> addresses;
  std::pair<std::uint16_t, std::uint16_t> lane_ports, tls_lane_ports;
  bool usual_ports = false;  ///< nobody chose either: free ones do where these are taken
  std::vector<NamedRoot> share_roots, download_roots;
  std::string socket;
  std::string metrics_listen;
  std::size_t max_fetching = 4;
  NodeLimits limits;
  std::vector<LimitHours> limit_hours;
  std::vector<std::string> lane_congestion_controls;  ///< that fetching nodes may ask for
  TuningDefaults tuning;                              ///< its tuner is one that the registry knows
  std::chrono::milliseconds list_lifetime{0};
  std::string log_format, log_level;
};

/// kInvalid names the option. Paths become absolute.
Result<Config> read_config(const options::Parsed& parsed);

/// $XDG_RUNTIME_DIR/gridtorrent/control.sock, else control.sock in the data dir.
std::string default_socket(const std::string& data_dir);

}  // namespace gridtorrent::client::app
