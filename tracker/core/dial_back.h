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
#include "tracker/core/node.h"

namespace gridtorrent::tracker {

inline constexpr std::size_t kDialBacksPerMinute = 64;
inline constexpr std::chrono::milliseconds kDialBackTimeout = std::chrono::seconds(2);

struct DialBackChoice {
  bool dial = false;
  std::string reason;  ///< why not
};

/// Whether the server may try this endpoint: port ≥ 1024; neither loopback nor link-local, nor one of the server's
/// own addresses, unless the node itself is seen there (the same host); never unspecified, multicast or broadcast.
/// Addresses are numeric. So the dial-back is of no use for scanning the server's own host. (model: "Who dials")
DialBackChoice may_dial_back(const Endpoint& endpoint, std::string_view observed_address,
                             const std::vector<std::string>& server_addresses);

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
