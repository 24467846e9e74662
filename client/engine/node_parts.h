#pragma once

#include <memory>
#include <string>
#include <vector>

#include "client/engine/lane_proof.h"
#include "client/engine/network_loop.h"
#include "client/engine/node_rates.h"

namespace gridtorrent::client::engine {

/// What all torrents of a node share.
struct NodeParts {
  std::shared_ptr<NetworkLoop> loop;
  std::shared_ptr<LaneProver> prover;
  std::shared_ptr<NodeRates> rates;
  std::vector<std::string> congestion_controls{};  ///< that the owner lets fetching nodes ask for
};

}  // namespace gridtorrent::client::engine
