#pragma once

#include <string>
#include <vector>

#include "client/core/transfer_controller.h"

namespace gridtorrent::client {

/// Lanes to a peer where nobody asked for a number, in all over a transfer, and at most to one peer.
inline constexpr int kAutoLanesPerPeer = 4;
inline constexpr int kAutoLanesInAll = 32;
inline constexpr int kMaxLanesPerPeer = 16;
inline constexpr int kMaxLanesInAll = 128;
/// After this long without a lane the side that should wait may dial too.
inline constexpr std::chrono::milliseconds kFallbackAfter{2000};

/// What the dialling rule looks at.
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
std::string relay_message(const NodeId& peer);

/// Whether this node dials now: the rule, and the fallback after kFallbackAfter. A lane that the other side dialled
/// while ours do not come up is kept, and more are asked of it. Only what a proven node dialled takes the place of our
/// own dials, and where it is ours to dial only what also carries payload: who relays another's proof must not keep us
/// from it by idle lanes.
bool dials_now(const PairFacts& facts, const ControllerPeer& peer);
/// Whether to ask the peer for lanes: it dials, or it seems to have dialled and ours do not come up.
bool asks_for_lanes(bool dials, const ControllerPeer& peer);

/// A plan that measures nothing: at most 32 lanes over as many peers as have data, at most 4 to each, or what a person
/// asked for. Peers that deliver, then complete ones, come first; ties fall differently for each node, so that a swarm
/// spreads.
class FixedController final : public TransferController {
 public:
  LanePlan plan(const ControllerInput& input) override;
};

}  // namespace gridtorrent::client
