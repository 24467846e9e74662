#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "client/core/plan.h"
#include "client/core/server_link.h"
#include "client/plan/controller.h"

/// Who dials whom, and where to: pure functions of values. Every tuner keeps this rule; it only says how many lanes.
namespace gridtorrent::client {

/// After this long without a lane the side that should wait may dial too.
inline constexpr std::chrono::milliseconds kFallbackAfter{2000};

/// A peer of a swarm as the dialling rule sees it.
struct DialPeer {
  PeerInfo info;
  bool incoming = false, outgoing = false;  ///< lanes that stand and answer: dialled by the node itself, by us
  bool incoming_carries = false;            ///< payload goes over one of the former
  /// Somebody dialled us and calls itself that node, without a proof: an older version, or a stranger.
  bool incoming_unproven = false;
  std::chrono::milliseconds nothing_for{0};      ///< no lane has stood for so long
  std::chrono::milliseconds no_outgoing_for{0};  ///< none that we dialled has stood for so long
};

/// What is known of one transfer's swarm.
struct DialFacts {
  NodeId self;
  Reachability self_reachability = Reachability::kUnknown;
  bool wants_data = false;
  bool tls = false;  ///< the edition: which endpoints count
  std::vector<DialPeer> peers;
};

/// What the rule looks at in one pair.
struct PairFacts {
  NodeId self, peer;
  bool self_wants = false, peer_wants = false;
  Reachability self_reachability = Reachability::kUnknown, peer_reachability = Reachability::kUnknown;
};

enum class Dialler : std::uint8_t { kNobody, kSelf, kPeer };

/// Whoever wants data dials; where both do, the lower node id. Where only one side can be reached, the other dials.
/// Both ends of a pair come to the same answer from the same facts.
Dialler who_dials(const PairFacts& facts);

/// Neither end can be reached, by the server's dial-back.
bool without_path(const PairFacts& facts);
/// A node that cannot be dialled, as people are told of it.
struct ClosedNode {
  std::string name;                     ///< or its id
  std::vector<LaneEndpoint> endpoints;  ///< that are to be opened; empty: not known
};
/// One line: no path to the peer, and which ports to open on which of the two.
std::string no_path_message(const ClosedNode& self, const ClosedNode& peer);

/// Whether this node dials now: the rule, and the fallback after kFallbackAfter. A lane that the other side dialled
/// while ours do not come up is kept, and more are asked of it. Only what a proven node dialled takes the place of our
/// own dials, and where it is ours to dial only what also carries payload: who relays another's proof must not keep us
/// from it by idle lanes.
bool dials_now(const PairFacts& facts, const DialPeer& peer);
/// Whether to ask the peer for lanes: it dials, or it seems to have dialled and ours do not come up.
bool asks_for_lanes(bool dials, const DialPeer& peer);

/// The engine's plan. Where this node fetches: the lanes that the controller wants, within 32 to a peer and 128 in all;
/// nodes that the swarm does not name, and this one, get none. Where it only serves: one lane to each that wants data
/// and has to be dialled, over which that one asks for as many as it wants; `wish` does not count.
LanePlan make_lane_plan(const DialFacts& facts, const Plan& wish);

}  // namespace gridtorrent::client
