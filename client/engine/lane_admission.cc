#include "client/engine/lane_admission.h"

#include <algorithm>
#include <utility>

namespace gridtorrent::client::engine {
namespace {

/// A stranger that has not shown our key by then, and by four round trips more, is a foreign client.
constexpr auto kForeignAfter = std::chrono::seconds(2);
/// Sixteen nodes on one host with 32 lanes each are welcome.
constexpr int kMaxInboundPerAddress = 512;
/// Lanes of others who proved nothing, in all: half of what the session takes (settings.cc).
constexpr int kMaxUnproven = 2000;
/// Who proved nothing and owes blocks gives way to others after this long without a byte of them.
constexpr auto kOwesFor = std::chrono::seconds(10);

/// Blocks that a stranger was asked for and does not send are missing until somebody else is asked.
bool owes_too_long(const Lane& lane, MonoTime now) {
  if (lane.outgoing || lane.proven || lane.outstanding_blocks == 0 || lane.state != LaneState::kOpen) return false;
  return now - std::max(lane.since, lane.carried) > kOwesFor;
}

}  // namespace

bool LaneAdmission::admit(Lane& lane, const std::optional<TlsProof>& proof, MonoTime now, WallTime wall) {
  const Admission admission = engine::admit(proof, audience_.get(), wall);
  if (admission.node.is_nil()) {
    refuse(lane, admission.reason, now);
    return false;
  }
  if (lane.outgoing && !lane.node.is_nil() && lane.node != admission.node) {
    refuse(lane, admission.node.str() + " answers there", now);
    return false;
  }
  lane.node = admission.node;
  lane.proof = proof;
  lane.proven = true;
  return true;
}

void LaneAdmission::refuse(Lane& lane, const std::string& reason, MonoTime now) {
  lane.state = LaneState::kClosing;
  ++refused_lanes_;
  dial_failed(lane, reason, now);
}

void LaneAdmission::dial_failed(const Lane& lane, const std::string& reason, MonoTime now) {
  if (auto [link, target] = table_.target_of(lane); target != nullptr) link->dial_failed(*target, reason, now);
}

bool LaneAdmission::greet(Lane& lane, const std::optional<Hello>& hello, MonoTime now) {
  const bool welcome = hello ? welcome_node(lane, *hello, now) : welcome_stranger(lane);
  lane.state = welcome ? LaneState::kOpen : LaneState::kClosing;
  lane.since = now;
  if (lane.proven && !lane.outgoing) share_places(lane.node, now);
  return lane.state == LaneState::kOpen;
}

bool LaneAdmission::welcome_stranger(Lane& lane) {
  lane.foreign = true;
  return std::ranges::none_of(table_.lanes(), [&](const auto& other) {
    return other.get() != &lane && other->foreign && other->state == LaneState::kOpen &&
           other->remote.address() == lane.remote.address();
  });
}

bool LaneAdmission::welcome_node(Lane& lane, const Hello& hello, MonoTime now) {
  const bool is_self = hello.node == torrent_.self;
  const bool somebody_else = !lane.node.is_nil() && lane.node != hello.node;  // of TLS lanes: than its key says
  if (is_self || somebody_else) {
    dial_failed(lane, is_self ? "that is this node itself" : hello.node.str() + " answers there", now);
    return false;
  }
  lane.greeted = true;
  lane.node = hello.node;
  lane.peer_grant = hello.grant;
  lane.their_nonce = hello.nonce;
  lane.peer_congestion_controls = hello.congestion_controls;
  NodeLink& link = table_.links()[key_of(lane)];
  link.peer_grant = hello.grant;
  link.address = lane.remote.address().to_string();
  return lane.outgoing || now >= link.held_until;
}

void LaneAdmission::prove_if_due(const std::shared_ptr<Lane>& lane, MonoTime now, Orders& orders) {
  if (torrent_.tls || lane->proof_sent || lane->proof_id == 0 || !lane->their_nonce || lane->state != LaneState::kOpen)
    return;
  if (!lane->outgoing && !prover_->strangers().take(now)) return;  // in a later round
  lane->proof_sent = true;
  const ProofFacts facts{torrent_.info_hash, torrent_.self, lane->node, lane->nonce, *lane->their_nonce};
  if (const auto proof = prover_->prove(facts)) {
    orders.send.emplace_back(lane, frame(lane->proof_id, encode_proof(*proof)));
  }
}

bool LaneAdmission::take_proof(Lane& lane, LaneProof proof, MonoTime now) {
  if (torrent_.tls || !lane.their_nonce || lane.proven || lane.their_proof) return true;  // only the first one counts
  lane.their_proof = std::move(proof);
  return check_proof(lane, now);
}

/// False: the lane must end.
bool LaneAdmission::check_proof(Lane& lane, MonoTime now) {
  if (!lane.their_proof || lane.state != LaneState::kOpen) return true;
  const auto key = keys_.find(lane.node);
  if (key == keys_.end()) return true;  // the server may name it yet
  if (!lane.outgoing && !prover_->strangers().take(now)) return true;
  const LaneProof proof = *std::exchange(lane.their_proof, std::nullopt);
  const ProofFacts facts{torrent_.info_hash, lane.node, torrent_.self, *lane.their_nonce, lane.nonce};
  const bool holds = proof_holds(proof, key->second, facts);
  if (!holds) dial_failed(lane, "somebody without the key of " + lane.node.str() + " answers there", now);
  if (holds && take_as_proven(lane, now)) return true;
  lane.state = LaneState::kClosing;
  return false;
}

bool LaneAdmission::take_as_proven(Lane& lane, MonoTime now) {
  const PeerKey before = key_of(lane);
  const auto from = table_.links().find(before);
  if (!lane.outgoing && from != table_.links().end() && now < from->second.held_until) return false;
  lane.proven = true;
  if (!lane.outgoing) table_.forget_if_empty(before);
  NodeLink& link = table_.links()[key_of(lane)];
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

void LaneAdmission::check(MonoTime now, Orders& orders) {
  if (torrent_.tls) {
    check_rights(now, orders);
  } else {
    exchange_proofs(now, orders);
  }
  check_strangers(now, orders);
}

/// Rights end while lanes stand.
void LaneAdmission::check_rights(MonoTime now, Orders& orders) {
  for (const auto& lane : table_.lanes()) {
    if (!lane->proof || lane->state == LaneState::kClosing) continue;
    const Admission admission = engine::admit(lane->proof, audience_.get(), lane->proof->not_before);
    if (admission.node == lane->node) continue;
    refuse(*lane, admission.reason, now);
    orders.close.push_back(lane);
  }
}

void LaneAdmission::exchange_proofs(MonoTime now, Orders& orders) {
  for (const auto& lane : table_.lanes()) {
    prove_if_due(lane, now, orders);
    if (!check_proof(*lane, now)) orders.close.push_back(lane);
  }
}

void LaneAdmission::check_strangers(MonoTime now, Orders& orders) {
  std::map<std::string, std::vector<std::shared_ptr<Lane>>> inbound;
  std::vector<std::shared_ptr<Lane>> unproven;
  for (const auto& lane : table_.lanes()) {
    look_at_stranger(*lane, now);
    if (!lane->outgoing) inbound[lane->remote.address().to_string()].push_back(lane);
    if (!lane->outgoing && !lane->proven) unproven.push_back(lane);
  }
  for (const auto& [address, lanes] : inbound) end_beyond(lanes, kMaxInboundPerAddress, now);
  end_beyond(unproven, kMaxUnproven, now);
  std::ranges::copy_if(table_.lanes(), std::back_inserter(orders.close),
                       [](const auto& lane) { return lane->state == LaneState::kClosing; });
}

void LaneAdmission::look_at_stranger(Lane& lane, MonoTime now) {
  const bool waits = lane.established && !lane.greeted && !lane.foreign && lane.state != LaneState::kClosing;
  if (waits && now - lane.since > kForeignAfter + 4 * lane.liveness.round_trip) {
    // It will not greet any more; one that sends no extended handshake at all is a foreign client, too.
    lane.state = welcome_stranger(lane) ? LaneState::kOpen : LaneState::kClosing;
  }
  if (owes_too_long(lane, now)) lane.state = LaneState::kClosing;
  if (NodeLink* link = lane.foreign ? table_.link_of(lane) : nullptr) {
    link->client = lane.client;
    link->peer_grant = 1;
  }
}

void LaneAdmission::share_places(const NodeId& node, MonoTime now) {
  std::vector<std::shared_ptr<Lane>> lanes;
  for (const auto& lane : table_.lanes()) {
    if (lane->node == node && !lane->outgoing && lane->proven && lane->state == LaneState::kOpen) lanes.push_back(lane);
  }
  end_beyond(lanes, kMaxLanes, now);
}

void LaneAdmission::end_beyond(const std::vector<std::shared_ptr<Lane>>& lanes, std::size_t places, MonoTime now) {
  std::vector<LaneStanding> standings;
  for (const auto& lane : lanes) standings.push_back(lane->standing(now));
  for (const std::size_t i : lanes_beyond(standings, places))
    lanes[i]->state = LaneState::kClosing;  // by the next tick
}

}  // namespace gridtorrent::client::engine
