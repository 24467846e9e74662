#pragma once

#include "base/metrics/metrics.h"
#include "client/core/node.h"

namespace gridtorrent::client::app {

/// Registers the node's figures; each is read from `node` when somebody looks. The node outlives the registry's
/// exposer.
void register_node_metrics(metrics::Registry& registry, Node& node);

}  // namespace gridtorrent::client::app
