#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "client/core/audience.h"
#include "client/plan/sample.h"
#include "common/clock.h"
#include "common/ids.h"

namespace gridtorrent::client {

/// One listening socket of a node: a lane can be dialled to it.
struct LaneEndpoint {
  std::string address;  ///< numeric IPv4 or IPv6, without brackets
  std::uint16_t port = 0;
  bool tls = false;
  std::string path;  ///< label of the network it lies in; carried, not yet interpreted
  friend auto operator<=>(const LaneEndpoint&, const LaneEndpoint&) = default;
};

/// What the engine should hold towards one node.
struct PeerPlan {
  NodeId node;
  std::vector<LaneEndpoint> endpoints;  ///< where it listens, reachable ones first
  bool dial = true;                     ///< we dial (`dials_now`); otherwise the peer does
  bool ask = false;            ///< we ask it for lanes with gt_lanes: it is to dial, or what we dial does not come up
  bool by_rule = true;         ///< the dialling rule names us (`who_dials`): where both have dialled, our lanes stay
  int lanes = 1;               ///< 0 to 32 parallel sockets
  int outstanding_blocks = 0;  ///< request depth per lane in 16 KiB blocks; 0: sized by the engine
  std::string congestion_control;  ///< asked of the node for what it sends: "bbr", …; empty: its kernel's default
  int congestion_lanes = 0;        ///< so many of its lanes, the oldest ones; 0: all
  friend bool operator==(const PeerPlan&, const PeerPlan&) = default;
};

/// What a transfer's lanes should be: a controller's plan with the dialling rule applied. The engine moves towards it,
/// one revision after the other. Lanes that we dialled to a peer that is not named end; what such a peer dials is
/// accepted (a seeder names only those it must dial, and those that it has dialled for as long as they want data).
/// While a lane to a named peer stands, a peer that only serves and is not named is asked for nothing.
struct LanePlan {
  std::uint64_t revision = 0;
  std::string reason;  ///< why, for `transfers --json` and the log
  std::vector<PeerPlan> peers;
  /// All nodes that still fetch this, named among `peers` or not, so that they divide a seeder's pieces alike; sorted.
  std::vector<NodeId> fetching{};
  /// Of plain editions: the keys of the swarm's nodes, as the server names them. A lane acts for a node once its other
  /// end has proved the key.
  std::map<NodeId, KeyPrint> keys{};
  friend bool operator==(const LanePlan&, const LanePlan&) = default;
};

enum class LaneState : std::uint8_t { kConnecting, kHandshake, kOpen, kClosing };

/// One lane as measured by the engine.
struct LaneSnapshot {
  LaneState state = LaneState::kConnecting;
  int number = 0;                                    ///< of this torrent's lanes, open and closed; from 0 to 65535
  bool outgoing = false;                             ///< we dialled it
  bool proven = false;                               ///< its other end has proved the node's key
  bool silent = false;                               ///< the other end acknowledges nothing of late
  bool carries = false;                              ///< payload went over it of late
  bool rests = false;                                ///< the plan leaves its node out, so it is asked for nothing
  std::vector<std::string> grants{};                 ///< congestion controls that its other end lets us ask for
  std::string local, remote;                         ///< "198.18.0.1:50000"
  std::uint64_t received_bytes = 0, sent_bytes = 0;  ///< payload
  std::uint64_t receive_bits_per_s = 0, send_bits_per_s = 0;
  int outstanding_blocks = 0;               ///< requested, not yet received
  MonoTime sampled{};                       ///< when it was last looked at, each 250 ms while it carries something
  std::uint64_t sampled_bytes = 0;          ///< payload received by then
  std::uint64_t sampled_bits_per_s = 0;     ///< received since the look before
  std::optional<TcpFigures> own, theirs{};  ///< of our end; of the other one, from its last gt_stats
  bool in_use() const { return state == LaneState::kOpen && !rests; }
  /// Of the end that sends the data: of the other end while more comes than goes.
  TcpFigures of_sender() const {
    const auto& figures = theirs && receive_bits_per_s >= send_bits_per_s ? theirs : own;
    return figures.value_or(TcpFigures{});
  }
};

/// One peer of a torrent with its lanes. A nil node id is a foreign client.
struct PeerSnapshot {
  NodeId node;
  std::string address;  ///< of its first lane
  std::string client;   ///< what a foreign client calls itself
  bool complete = false;
  std::uint64_t received_bytes = 0, sent_bytes = 0;  ///< payload over the whole transfer, closed lanes included
  std::uint64_t receive_bits_per_s = 0, send_bits_per_s = 0;
  std::uint64_t bad_pieces = 0;  ///< pieces that failed their hash and had blocks from this peer alone
  int lanes_peak = 0;
  std::vector<LaneSnapshot> lanes;
  int lanes_in_use() const { return static_cast<int>(std::ranges::count_if(lanes, &LaneSnapshot::in_use)); }
};

/// Why nothing (or less than wished) flows to a planned peer, for people: "no path to n_…: …".
struct PathProblem {
  NodeId node;
  std::string message;
  friend bool operator==(const PathProblem&, const PathProblem&) = default;
};

}  // namespace gridtorrent::client
