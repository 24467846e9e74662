#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.h"
#include "common/ids.h"
#include "tracker/core/address.h"
#include "tracker/core/node.h"

namespace gridtorrent::tracker {

inline constexpr std::size_t kDialBacksPerMinute = 64;
inline constexpr std::chrono::milliseconds kDialBackTimeout = std::chrono::seconds(2);

struct DialBackChoice {
  bool dial = false;
  std::string reason;  ///< why not
};

/// What the choice depends on besides the endpoint. Addresses are numeric.
struct DialBackFacts {
  std::string observed_address;               ///< where the server sees the node
  std::vector<std::string> server_addresses;  ///< of this host's interfaces
  std::vector<Network> allowed;               ///< further networks, by the operator (--dial-back-allow)
};

/// Whether the server may try this endpoint: port ≥ 1024; only the address at which it sees the node, the network
/// around that (/24, /56 for IPv6), and what the operator allows: no user can have the server scan another network.
/// Never unspecified, multicast or broadcast; link-local only as observed; loopback and the server's own addresses only
/// where the node is seen on the same host, and `allowed` changes nothing in that. Pure. (model: "Who dials")
DialBackChoice may_dial_back(const Endpoint& endpoint, const DialBackFacts& facts);

/// At most kDialBacksPerMinute a node in any 60 s. Thread-safe (one private mutex).
class DialBackBudget {
 public:
  /// How many of `wanted` dials the node may have now; they are counted as used.
  std::size_t take(const NodeId& node, std::size_t wanted, MonoTime now);

 private:
  std::mutex mutex_;
  std::map<NodeId, std::deque<MonoTime>> used_;
};

}  // namespace gridtorrent::tracker
