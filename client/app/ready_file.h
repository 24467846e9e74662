#pragma once

#include <string>
#include <vector>

#include "client/core/plan.h"
#include "common/ids.h"
#include "common/result.h"

namespace gridtorrent::client::app {

struct ReadyInfo {
  NodeId node;
  std::string node_name, owner, server, control_socket, metrics_address;
  std::vector<LaneEndpoint> lane_endpoints;
};

/// Wildcard listeners become the addresses that people can use: the declared ones, else those of the machine's
/// interfaces.
std::vector<LaneEndpoint> real_endpoints(const std::vector<LaneEndpoint>& listening,
                                         const std::vector<std::string>& declared);

std::string ready_json(const ReadyInfo& info, int pid);
/// Beside, then renamed: whoever sees the file sees all of it. kDisk.
Status write_ready_file(const std::string& path, const std::string& json);
/// READY=1 (or another state) to systemd, where it started us.
void notify_systemd(const std::string& state);

}  // namespace gridtorrent::client::app
