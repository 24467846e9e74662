#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/ids.h"
#include "common/rng.h"
#include "tracker/core/node.h"

namespace gridtorrent::tracker {

/// A member of a swarm as the policy sees it, and as it is handed out.
struct Peer {
  NodeId node;
  std::vector<Endpoint> endpoints;
  Reachability reachability = Reachability::kUnknown;
  bool wants_data = false;
  bool complete = false;
  std::uint64_t verified_bytes = 0;
  KeyPrint key{};  ///< what it proves on plain lanes
  UserId owner;    ///< of the node
  friend bool operator==(const Peer&, const Peer&) = default;
};

struct SelectionLimits {
  std::size_t max_peers = 50;
  std::size_t min_complete = 10;  ///< of them, where there are so many
};

/// Whom a node is told of, at most `max_peers`. Never itself. Random among equals, so that load spreads.
/// - Owners take turns, so that the many nodes of one leave room for those of others, and get the room that is left.
/// - Who wants data gets complete and incomplete members mixed, half and half, at least `min_complete` complete ones
/// where
///   there are; a node that cannot be dialled gets those that can be before the others of that turn.
/// - Who only has data gets those who want some: it must dial them where they cannot dial it.
/// - Two that both cannot be reached are still told of each other: the node says "needs a relay".
std::vector<Peer> select_peers(const Peer& requester, const std::vector<Peer>& candidates,
                               const SelectionLimits& limits, Rng& rng);

/// Whether `listener` should hear at once that `changed` joined, completed or moved: one of the two wants data.
bool concerns(const Peer& changed, const Peer& listener);

}  // namespace gridtorrent::tracker
