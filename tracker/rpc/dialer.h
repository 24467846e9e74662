#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/ids.h"
#include "tracker/core/dial_back.h"
#include "tracker/core/node.h"

namespace gridtorrent::tracker::rpc {

/// Finds out whether a node's endpoints can be reached from here: one TCP connect each, all at once, closed as soon as
/// it stands; nothing is sent or read. Only where dial_back.h allows it, and within the node's budget. Thread-safe;
/// blocks up to the timeout, so it runs on the network lane.
class Dialer {
 public:
  explicit Dialer(const Clock& clock, std::chrono::milliseconds timeout = kDialBackTimeout)
      : clock_(clock), timeout_(timeout) {}

  /// The same endpoints with a verdict each; kUnknown where it may not or cannot try now.
  std::vector<NodeEndpoint> judge(const NodeId& node, std::vector<NodeEndpoint> endpoints,
                                  const std::string& observed_address);

 private:
  const Clock& clock_;
  const std::chrono::milliseconds timeout_;
  DialBackBudget budget_;
};

/// Numeric addresses of this host's interfaces.
std::vector<std::string> own_addresses();

}  // namespace gridtorrent::tracker::rpc
