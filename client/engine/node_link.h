#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/core/plan.h"
#include "client/engine/lane_rules.h"
#include "common/clock.h"

namespace gridtorrent::client::engine {

/// Where a planned node listens, and how dialling it went.
struct DialTarget {
  LaneEndpoint endpoint;
  int failures = 0;       ///< in a row
  MonoTime failed{};      ///< the last of them
  bool was_mute = false;  ///< a lane to it was acknowledged and brought nothing
  std::string last_error;
  MonoTime not_before{};            ///< the pause after a failure
  MonoTime held_until{};            ///< bad data came from there, unproven whose
  std::optional<MonoTime> dialled;  ///< asked of libtorrent, no connection object seen yet
};

/// Everything kept about one peer of one torrent beyond its lanes: what the plan says, what it said, what went wrong. A
/// node has one for the lanes that act for it (`acts_for_node`), and what others dialled under its id one per address.
/// A plain value; `Swarm` owns and guards it.
struct NodeLink {
  std::optional<PeerPlan> plan;
  std::vector<DialTarget> targets;

  std::optional<int> peer_wants;             ///< its last gt_lanes
  int peer_grant = kUsualLanes;              ///< until it says more
  std::string refused_congestion_control{};  ///< a wish of the plan that is not granted, once it was told
  std::optional<int> asked;                  ///< our last gt_lanes to it

  std::uint64_t closed_received_bytes = 0, closed_sent_bytes = 0;  ///< of lanes that are gone
  std::uint64_t bad_pieces = 0;
  int bad_in_a_row = 0;
  MonoTime held_until{};
  int lanes_peak = 0;
  std::optional<MonoTime> seen_complete;  ///< when a lane of it last showed that it had all
  std::string address;
  std::string client;
  bool has_proven = false;  ///< a lane of it proved the node's key
  std::optional<MonoTime> last_dial;
  std::optional<MonoTime> without_lane_since;     ///< that answers
  std::chrono::milliseconds lanes_silent_for{0};  ///< lanes stand and none answers; 0: otherwise
  std::optional<MonoTime> both_since;             ///< lanes of both sides stand
  bool was_planned = false;
  std::optional<MonoTime> planned_again{};  ///< when it last came back into the plan

  /// Takes over a new plan, of its endpoints those of the edition's kind; endpoints keep their history.
  /// A node that was taken out of the plan and is in it again has lost what it had, or fetches to another place.
  void set_plan(const PeerPlan& new_plan, MonoTime now, bool tls = false);
  void leave_plan();
  /// A lane of it shows that it has all, and has done so since `since`. Where that was before the node came back into
  /// the plan it counts for nothing at first: such a lane may be one of an earlier fetch, whose end is still on its
  /// way.
  void showed_all(MonoTime since, MonoTime now);
  /// Whether it has all as far as we know: files get lost, and it may fetch anew.
  bool has_all(MonoTime now) const;
  DialTarget* find(const std::string& address_text, std::uint16_t port);
  void dial_failed(DialTarget& target, const std::string& error, MonoTime now);
  /// The same where nobody answered: no pause follows, since that one can go by at any time and costs nobody anything.
  void dial_unanswered(DialTarget& target, const std::string& error, MonoTime now);
  /// Bad data came over a lane that we dialled to this address, and nobody proved to be the node. Where the node has
  /// proved itself before, that is somebody else's doing and holds nothing back.
  void hold_address(const std::string& address_text, MonoTime until);
  bool all_targets_held(MonoTime now) const;
  void bad_piece(MonoTime now);
  /// Whether our lanes are to end because the peer's have stood beside them for our pause (`give_way_after`).
  bool gives_way(int outgoing, int inbound_open, bool we_have_lower_id, MonoTime now);
  /// Failures in a row over all ports of an address, so that a dead address is tried last.
  int address_failures(const std::string& address_text) const;
  /// Of which no lane was mute yet: a node that is slow must not have its lanes ended again and again.
  bool has_another_address(const std::string& address_text) const;
  /// Each port of an address has failed, and the pause of the last to do so is not over. A peer has sixteen ports: with
  /// pauses of their own alone, one that refuses us would be dialled without any.
  bool address_rests(const std::string& address_text, MonoTime now) const;
};

/// What a person should know about a link that wants a lane and has none for two seconds; nothing while all is well.
std::optional<std::string> path_problem(const NodeId& node, const NodeLink& link, MonoTime now);

}  // namespace gridtorrent::client::engine
