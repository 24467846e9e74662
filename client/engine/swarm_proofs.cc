// Who is at the other end of a plain lane: proofs sent and checked (docs/protocol.md, "Whose lane it is").
#include <algorithm>

#include "client/engine/swarm.h"

namespace gridtorrent::client::engine {
namespace {

MonoTime now_mono() {
  return std::chrono::steady_clock::now();
}

}  // namespace

void Swarm::prove(const std::shared_ptr<Lane>& lane) {
  Orders orders;
  {
    const std::lock_guard lock(mutex_);
    prove_if_due(lane, orders, now_mono());
  }
  carry_out(orders);
}

void Swarm::prove_if_due(const std::shared_ptr<Lane>& lane, Orders& orders, MonoTime now) {
  if (tls_ || lane->proof_sent || lane->proof_id == 0 || !lane->their_nonce || lane->state != LaneState::kOpen) return;
  if (!lane->outgoing && !prover_->strangers().take(now)) return;  // in a later round
  lane->proof_sent = true;
  if (const auto proof = prover_->prove({info_hash_, self_, lane->node, lane->nonce, *lane->their_nonce})) {
    orders.send.emplace_back(lane, frame(lane->proof_id, encode_proof(*proof)));
  }
}

bool Swarm::lane_proof(Lane& lane, LaneProof proof) {
  const std::lock_guard lock(mutex_);
  if (tls_ || !lane.their_nonce || lane.proven || lane.their_proof) return true;  // only the first one counts
  lane.their_proof = std::move(proof);
  return check_proof(lane, now_mono());
}

/// False: the lane must end.
bool Swarm::check_proof(Lane& lane, MonoTime now) {
  if (!lane.their_proof || lane.state != LaneState::kOpen) return true;
  const auto key = keys_.find(lane.node);
  if (key == keys_.end()) return true;  // the server may name it yet
  if (!lane.outgoing && !prover_->strangers().take(now)) return true;
  const LaneProof proof = *std::exchange(lane.their_proof, std::nullopt);
  if (!proof_holds(proof, key->second, {info_hash_, lane.node, self_, *lane.their_nonce, lane.nonce})) {
    if (auto [link, target] = target_of(lane); target != nullptr) {
      link->dial_failed(*target, "somebody without the key of " + lane.node.str() + " answers there", now);
    }
    lane.state = LaneState::kClosing;
    return false;
  }
  const PeerKey before = key_of(lane);
  if (const auto from = links_.find(before); !lane.outgoing && from != links_.end() && now < from->second.held_until) {
    lane.state = LaneState::kClosing;
    return false;
  }
  lane.proven = true;
  if (!lane.outgoing) forget_if_empty(before);
  NodeLink& link = links_[key_of(lane)];
  link.has_proven = true;
  link.peer_grant = lane.peer_grant;
  if (lane.peer_wants) link.peer_wants = lane.peer_wants;
  for (DialTarget& target : link.targets) target.held_until = {};
  if (lane.outgoing) return true;
  link.address = lane.remote.address().to_string();
  if (now < link.held_until) lane.state = LaneState::kClosing;
  share_places(lane.node, now);
  return lane.state != LaneState::kClosing;
}

/// Of who is known by a name of its own now.
void Swarm::forget_if_empty(const PeerKey& key) {
  const auto link = links_.find(key);
  const bool is_used = std::ranges::any_of(lanes_, [&](const auto& lane) { return key_of(*lane) == key; });
  if (link == links_.end() || is_used || link->second.bad_pieces > 0) return;
  if (link->second.closed_received_bytes + link->second.closed_sent_bytes == 0) links_.erase(link);
}

void Swarm::share_places(const NodeId& node, MonoTime now) {
  std::vector<std::shared_ptr<Lane>> lanes;
  for (const auto& lane : lanes_) {
    if (lane->node == node && !lane->outgoing && lane->proven && lane->state == LaneState::kOpen) lanes.push_back(lane);
  }
  end_beyond(lanes, kMaxLanes, now);
}

void Swarm::end_beyond(const std::vector<std::shared_ptr<Lane>>& lanes, std::size_t places, MonoTime now) {
  std::vector<LaneStanding> standings;
  for (const auto& lane : lanes) standings.push_back(lane->standing(now));
  for (const std::size_t i : lanes_beyond(standings, places))
    lanes[i]->state = LaneState::kClosing;  // by the next tick
}

void Swarm::exchange_proofs(Orders& orders, MonoTime now) {
  if (tls_) return;
  for (const auto& lane : lanes_) {
    prove_if_due(lane, orders, now);
    if (!check_proof(*lane, now)) orders.close.push_back(lane);
  }
}

}  // namespace gridtorrent::client::engine
