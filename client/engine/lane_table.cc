#include "client/engine/lane_table.h"

#include <algorithm>
#include <set>

namespace gridtorrent::client::engine {
namespace {

/// Peers of one torrent that are told apart by name; what others beyond exchanged is added up.
constexpr std::size_t kRememberedPeers = 1024;

bool is_known(const Lane& lane) {
  return !lane.node.is_nil() || lane.foreign;
}

std::string address_of(const Lane& lane) {
  return lane.remote.address().to_string();
}

}  // namespace

PeerKey key_of(const Lane& lane) {
  if (!lane.node.is_nil() && (lane.proven || lane.outgoing)) return {lane.node, ""};
  return {lane.node, address_of(lane)};
}

bool acts_for(const Lane& lane, const NodeId& node) {
  return lane.node == node && !node.is_nil() && (lane.proven || lane.outgoing);
}

const NodeLink* LaneTable::find(const NodeId& node) const {
  const auto found = links_.find({node, ""});
  return found == links_.end() ? nullptr : &found->second;
}

NodeLink* LaneTable::link_of(const Lane& lane) {
  if (!is_known(lane)) return nullptr;
  NodeLink& link = links_[key_of(lane)];
  if (link.address.empty()) link.address = address_of(lane);
  return &link;
}

std::pair<NodeLink*, DialTarget*> LaneTable::target_of(const Lane& lane) {
  NodeLink* link = lane.outgoing ? link_of(lane) : nullptr;
  return {link, link == nullptr ? nullptr : link->find(address_of(lane), lane.remote.port())};
}

void LaneTable::add(const std::shared_ptr<Lane>& lane) {
  lane->number = next_number_++ & 0xFFFF;
  lanes_.push_back(lane);
  if (!lane->outgoing) return;
  const NodeLink* dialled = nullptr;
  for (auto& [key, link] : links_) {
    DialTarget* target = link.find(address_of(*lane), lane->remote.port());
    if (target == nullptr || key.first.is_nil()) continue;
    // Nodes behind one address are told apart by who was dialled last; the greeting settles it.
    if (lane->node.is_nil() || target->dialled) {
      lane->node = key.first;
      dialled = &link;
    }
    target->dialled.reset();
  }
  if (dialled == nullptr || contact_with(lane->node) != Contact::kNone) return;
  lane->patient = dialled->address_failures(address_of(*lane)) % kPatientEach == kPatientEach - 1;
}

std::shared_ptr<Lane> LaneTable::take_out(const Lane& lane) {
  const auto found = std::ranges::find_if(lanes_, [&](const auto& other) { return other.get() == &lane; });
  if (found == lanes_.end()) return nullptr;
  std::shared_ptr<Lane> kept = *found;
  lanes_.erase(found);
  return kept;
}

NodeLink* LaneTable::settle(const Lane& lane, MonoTime now) {
  NodeLink* link = link_of(lane);
  if (link == nullptr) return nullptr;
  link->closed_received_bytes += lane.received_bytes;
  link->closed_sent_bytes += lane.sent_bytes;
  // What it showed only now may be older, as the lane is; what it showed before was noted.
  if (lane.complete) link->showed_all(lane.opened, now);
  if (open_lanes(key_of(lane)) == 0) {
    link->asked.reset();  // so that what is said anew is all that counts
    link->peer_wants.reset();
  }
  return link;
}

void LaneTable::note_shown(MonoTime now) {
  std::map<PeerKey, int> open;
  for (const auto& lane : lanes_) {
    const auto link = is_known(*lane) ? links_.find(key_of(*lane)) : links_.end();
    if (link == links_.end()) continue;
    if (lane->complete) link->second.showed_all(*lane->complete, now);
    if (lane->state != LaneState::kOpen) continue;
    link->second.lanes_peak = std::max(link->second.lanes_peak, ++open[link->first]);
  }
}

void LaneTable::forget_if_empty(const PeerKey& key) {
  const auto link = links_.find(key);
  const bool is_used = std::ranges::any_of(lanes_, [&](const auto& lane) { return key_of(*lane) == key; });
  if (link == links_.end() || is_used || link->second.bad_pieces > 0) return;
  if (link->second.closed_received_bytes + link->second.closed_sent_bytes == 0) links_.erase(link);
}

void LaneTable::forget_departed() {
  if (links_.size() <= kRememberedPeers) return;
  std::set<PeerKey> connected;
  for (const auto& lane : lanes_) connected.insert(key_of(*lane));
  std::vector<RememberedPeer> peers;
  std::vector<Links::iterator> places;
  for (auto it = links_.begin(); it != links_.end(); ++it) {
    places.push_back(it);
    peers.push_back({it->second.plan.has_value() || connected.contains(it->first),
                     it->second.closed_received_bytes + it->second.closed_sent_bytes});
  }
  for (const std::size_t i : peers_to_forget(peers, kRememberedPeers)) {
    forgotten_received_bytes_ += places[i]->second.closed_received_bytes;
    forgotten_sent_bytes_ += places[i]->second.closed_sent_bytes;
    links_.erase(places[i]);
  }
}

LaneTable::ByPeer LaneTable::by_peer() const {
  ByPeer by_peer;
  for (const auto& lane : lanes_) {
    if (is_known(*lane)) by_peer[key_of(*lane)].push_back(lane);
  }
  return by_peer;
}

int LaneTable::open_lanes(const PeerKey& key) const {
  return static_cast<int>(std::ranges::count_if(
      lanes_, [&](const auto& lane) { return key_of(*lane) == key && lane->state == LaneState::kOpen; }));
}

int LaneTable::outgoing_lanes(const NodeId& node) const {
  return static_cast<int>(std::ranges::count_if(lanes_, [&](const auto& lane) {
    return lane->node == node && lane->outgoing && lane->state != LaneState::kClosing && !lane->silent() &&
           !lane->drains && !(lane->patient && lane->state == LaneState::kConnecting);  // which keeps no other from it
  }));
}

int LaneTable::in_place_of_ours(const NodeId& node, bool we_dial_by_rule, MonoTime now) const {
  std::vector<LaneStanding> lanes;
  for (const auto& lane : lanes_) {
    if (lane->node == node) lanes.push_back(lane->standing(now));
  }
  return lanes_in_place_of_ours(lanes, we_dial_by_rule);
}

int LaneTable::expected_lanes() const {
  auto lanes = static_cast<int>(std::ranges::count_if(
      lanes_, [](const auto& lane) { return !lane->drains && lane->state != LaneState::kClosing; }));
  for (const auto& [key, link] : links_) lanes = std::max(lanes, link.plan ? link.plan->lanes : 0);
  return lanes;
}

Contact LaneTable::contact_with(const NodeId& node) const {
  Contact contact = Contact::kNone;
  for (const auto& lane : lanes_) {
    if (!acts_for(*lane, node) || lane->state != LaneState::kOpen) continue;
    if (!lane->silent()) return Contact::kAnswers;
    contact = Contact::kSilent;
  }
  return contact;
}

std::chrono::milliseconds LaneTable::quiet_for(const NodeId& node) const {
  std::chrono::milliseconds least = std::chrono::hours(24);
  for (const auto& lane : lanes_) {
    if (acts_for(*lane, node) && lane->state == LaneState::kOpen) least = std::min(least, lane->liveness.quiet);
  }
  return least;
}

bool LaneTable::is_first_to_tell(const Lane& lane, std::optional<TcpFigures> Lane::* figures) const {
  if (!(lane.*figures) || !acts_for(lane, lane.node)) return false;
  return std::ranges::none_of(lanes_, [&](const auto& other) {
    return other.get() != &lane && acts_for(*other, lane.node) && other->state == LaneState::kOpen && (*other).*figures;
  });
}

}  // namespace gridtorrent::client::engine
