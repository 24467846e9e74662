#pragma once

#include <string>

#include "client/engine/lane_orders.h"
#include "client/engine/lane_table.h"
#include "common/clock.h"
#include "common/ids.h"

namespace gridtorrent::client::engine {

/// What decisions about a torrent's lanes rest on, beside the lanes and the plan.
struct SwarmFacts {
  NodeId self;
  bool active = false;    ///< else (paused, in error, not checked yet) nothing is dialled
  bool complete = false;  ///< all that is wanted is here
};

/// Moves the lanes of a torrent towards its plan: what was measured, said and planned stands in the table, what is to
/// be done comes out as orders. It calls neither libtorrent nor the kernel, and time is an argument. Made for one round
/// of decisions, with Swarm's mutex held; the table and the orders outlive it.
class LaneMover {
 public:
  LaneMover(LaneTable& table, const SwarmFacts& facts, MonoTime now, Orders& orders)
      : table_(table), facts_(facts), now_(now), orders_(orders) {}

  /// Ends dials that nobody answers, and silent lanes that a younger one replaces; makes quiet ones show that they
  /// stand.
  void look_for_silence();
  /// Of endpoints to which lanes have stood for long enough.
  void forget_failures();
  /// All that the plan says of all nodes: lanes dialled, asked for and ended, their depth, their congestion control.
  void follow_plan();
  /// The lanes that we dial to one node, or to all. Where nothing is dialled, it does nothing.
  void move_towards_plan(const NodeId& node);
  void move_towards_plan();
  /// Ends those that have drained, or that the other end keeps waiting. The others are asked for blocks, but those of
  /// nodes that only serve and that the plan leaves out, as long as a lane stands that it wants: it chose its sources.
  void drain();
  /// Before the first block is asked of a lane.
  void lane_unchoked(const std::shared_ptr<Lane>& lane);
  /// A lane was taken out of the table. `unanswered`: nobody was there, as far as one can tell.
  void lane_ended(const Lane& lane, const std::string& error, bool unanswered);

 private:
  DialState state_of(const NodeId& node, NodeLink& link) const;
  void move(const NodeId& node, NodeLink& link);
  void dial(const NodeId& node, NodeLink& link, int count);
  DialCandidate candidate_of(const NodeId& node, const DialTarget& target) const;
  /// Ends lanes that we dialled, until so many are left.
  void drop(const NodeId& node, int keep);
  int keep_draining(const NodeId& node, int most);
  bool is_planned(const Lane& lane) const;
  /// A lane stands from which the plan wants data.
  bool is_served() const;
  void let_rest(const std::shared_ptr<Lane>& lane, bool served);
  void note_contact(const NodeId& node, NodeLink& link, Contact contact) const;
  void ask_for_lanes(const PeerKey& key, NodeLink& link);
  void ask_for_congestion_control(const NodeId& node, NodeLink& link);
  void apply_request_depth(const NodeId& node, const NodeLink& link);
  void end_unanswered_dial(const std::shared_ptr<Lane>& lane);
  void end_mute(const std::shared_ptr<Lane>& lane);
  void dial_went_wrong(const Lane& lane, NodeLink& link, DialTarget& target, const std::string& error, bool unanswered);

  LaneTable& table_;
  const SwarmFacts facts_;
  const MonoTime now_;
  Orders& orders_;
};

}  // namespace gridtorrent::client::engine
