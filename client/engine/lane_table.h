#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "client/engine/fair_shares.h"
#include "client/engine/lane.h"
#include "client/engine/lane_standing.h"
#include "client/engine/node_link.h"
#include "common/clock.h"
#include "common/ids.h"

namespace gridtorrent::client::engine {

/// Whose link a lane belongs to: its node's where it acts for it, else what comes under that id from its address.
PeerKey key_of(const Lane& lane);
/// Whether the lane acts for that node (`acts_for_node`). A nil id is nobody's.
bool acts_for(const Lane& lane, const NodeId& node);

/// The lanes of one torrent, the oldest first, and what is kept of its peers. Looks up, adds, removes and forgets, and
/// decides nothing. A plain value without a mutex; Swarm owns and guards it.
class LaneTable {
 public:
  using Links = std::map<PeerKey, NodeLink>;
  using ByPeer = std::map<PeerKey, std::vector<std::shared_ptr<Lane>>>;

  const std::vector<std::shared_ptr<Lane>>& lanes() const { return lanes_; }
  const Links& links() const { return links_; }
  Links& links() { return links_; }
  /// Of the lanes that act for the node; made where it lacks.
  NodeLink& link_of(const NodeId& node) { return links_[{node, ""}]; }
  /// The same, null where there is none.
  const NodeLink* find(const NodeId& node) const;
  /// Made where it lacks; null while it is not known who is at the other end.
  NodeLink* link_of(const Lane& lane);
  /// Where a lane of ours was dialled to; nothing where the plan no longer names it.
  std::pair<NodeLink*, DialTarget*> target_of(const Lane& lane);

  /// Numbers it. One that we dialled gets the node that listens at its other end.
  void add(const std::shared_ptr<Lane>& lane);
  /// Null where it is not there.
  std::shared_ptr<Lane> take_out(const Lane& lane);
  /// What a lane that was taken out leaves to its link, which is returned as by `link_of`.
  NodeLink* settle(const Lane& lane, MonoTime now);
  /// What the lanes show of their nodes: that these have all, and how many lanes stand.
  void note_shown(MonoTime now);
  /// A link under which nothing was exchanged and no lane stands.
  void forget_if_empty(const PeerKey& key);
  /// Of more than 1,024 peers those beyond, which have neither a lane nor a plan. Their bytes still count.
  void forget_departed();
  /// Payload exchanged with those that were forgotten, bytes.
  std::uint64_t forgotten_received_bytes() const { return forgotten_received_bytes_; }
  std::uint64_t forgotten_sent_bytes() const { return forgotten_sent_bytes_; }

  /// Lanes of which it is known who is at their other end: a node, or a foreign client.
  ByPeer by_peer() const;
  int open_lanes(const PeerKey& key) const;
  /// That we dialled to the node: open or on the way, and neither silent nor to end.
  int outgoing_lanes(const NodeId& node) const;
  /// Of the lanes that the node dialled, those that may take the place of ours (`lanes_in_place_of_ours`).
  int in_place_of_ours(const NodeId& node, bool we_dial_by_rule, MonoTime now) const;
  /// As many as there are, or will be by the plan.
  int expected_lanes() const;
  Contact contact_with(const NodeId& node) const;
  /// The least that a lane of the node has been quiet for.
  std::chrono::milliseconds quiet_for(const NodeId& node) const;
  /// No other lane to its node has these figures yet.
  bool is_first_to_tell(const Lane& lane, std::optional<TcpFigures> Lane::* figures) const;

 private:
  std::vector<std::shared_ptr<Lane>> lanes_;
  Links links_;
  int next_number_ = 0;
  std::uint64_t forgotten_received_bytes_ = 0, forgotten_sent_bytes_ = 0;
};

}  // namespace gridtorrent::client::engine
