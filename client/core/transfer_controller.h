#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "client/core/engine.h"
#include "client/core/plan.h"
#include "client/core/server_link.h"

namespace gridtorrent::client {

/// A peer of a swarm as a controller sees it.
struct ControllerPeer {
  PeerInfo info;
  bool incoming = false, outgoing = false;  ///< lanes that stand and answer: dialled by the node itself, by us
  bool incoming_carries = false;            ///< payload goes over one of the former
  /// Somebody dialled us and calls itself that node, without a proof: an older version, or a stranger.
  bool incoming_unproven = false;
  std::chrono::milliseconds nothing_for{0};      ///< no lane has stood for so long
  std::chrono::milliseconds no_outgoing_for{0};  ///< none that we dialled has stood for so long
  std::uint64_t receive_bits_per_s = 0;
};

/// Everything a controller may look at.
struct ControllerInput {
  NodeId self;
  Reachability self_reachability = Reachability::kUnknown;
  bool wants_data = false;
  bool tls = false;                      ///< the edition: which endpoints count
  int lanes_wish = 0, seeders_wish = 0;  ///< a person's; 0: auto
  std::vector<ControllerPeer> peers;
  std::optional<TorrentSnapshot> snapshot;
};

/// Decides how many lanes to which peers. One object a node, called on its "transfers" thread about once a second for
/// each transfer and on events; it returns the whole wish, and the caller sets the revision.
class TransferController {
 public:
  virtual ~TransferController() = default;
  virtual LanePlan plan(const ControllerInput& input) = 0;
};

}  // namespace gridtorrent::client
