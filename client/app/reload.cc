#include "client/app/reload.h"

namespace gridtorrent::client::app {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

ConfigChanges compare(const Config& before, const Config& now) {
  ConfigChanges changes;
  const auto note = [](std::vector<std::string>& names, bool same, const char* option) {
    if (!same) names.emplace_back(option);
  };
  note(changes.taken, before.log_format == now.log_format, "log-format");
  note(changes.taken, before.log_level == now.log_level, "log-level");
  note(changes.taken, before.ca_pem == now.ca_pem, "ca");
  note(changes.taken, before.share_roots == now.share_roots, "share-root");
  note(changes.taken, before.download_roots == now.download_roots, "download-root");
  note(changes.need_restart, before.list_lifetime == now.list_lifetime, "list-lifetime");
  note(changes.taken, before.max_fetching == now.max_fetching, "max-fetching");
  note(changes.taken, before.limits.send_bits_per_s == now.limits.send_bits_per_s, "upload-limit");
  note(changes.taken, before.limits.receive_bits_per_s == now.limits.receive_bits_per_s, "download-limit");
  note(changes.taken, before.limit_hours == now.limit_hours, "limits");
  note(changes.need_restart, before.lane_congestion_controls == now.lane_congestion_controls,
       "lane-congestion-control");
  note(changes.need_restart, before.tuning.tuner == now.tuning.tuner, "tuner");
  note(changes.need_restart, before.tuning.mode == now.tuning.mode, "tuning-mode");
  note(changes.need_restart, before.data_dir == now.data_dir, "data-dir");
  note(changes.need_restart, before.ready_file == now.ready_file, "ready-file");
  note(changes.need_restart, before.server == now.server, "server");
  note(changes.need_restart, before.addresses == now.addresses, "address");
  note(changes.need_restart, before.lane_ports == now.lane_ports, "lane-ports");
  note(changes.need_restart, before.tls_lane_ports == now.tls_lane_ports, "tls-lane-ports");
  note(changes.need_restart, before.socket == now.socket, "socket");
  note(changes.need_restart, before.metrics_listen == now.metrics_listen, "metrics-listen");
  return changes;
}

std::string describe(const ConfigChanges& changes) {
  std::string text = "configuration read again: ";
  text += changes.taken.empty() ? "nothing new takes effect" : joined(changes.taken) + " changed";
  if (!changes.need_restart.empty()) text += "; a restart is needed for " + joined(changes.need_restart);
  return text;
}

}  // namespace gridtorrent::client::app
