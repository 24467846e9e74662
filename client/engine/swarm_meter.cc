#include "client/engine/swarm_meter.h"

#include <algorithm>
#include <libtorrent/peer_info.hpp>

#include "client/engine/internals.h"
#include "common/text.h"

namespace gridtorrent::client::engine {
namespace {

/// A lane's first seconds tell most about its path: for so long its receiver hears of the sender's TCP at each look,
/// and in each round afterwards.
constexpr auto kStatsOften = std::chrono::seconds(5);

std::uint64_t bits_per_s(std::uint64_t before, std::uint64_t after, double seconds) {
  return seconds > 0 && after > before ? static_cast<std::uint64_t>(static_cast<double>(after - before) * 8 / seconds)
                                       : 0;
}

void read_libtorrent(Lane& lane) {
  lt::peer_info info;
  lane.peer.get_peer_info(info);
  lane.outstanding_blocks = info.download_queue_length;
  lane.unread_bytes = info.used_send_buffer;
  lane.has_to_send = info.upload_queue_length > 0 || info.used_send_buffer > 0 || lane.socket->unsent_bytes() > 0;
  lane.client = escape_for_display(info.client);
}

LaneSnapshot snapshot_of(const Lane& lane, MonoTime now) {
  LaneSnapshot snapshot;
  snapshot.state = lane.state;
  snapshot.number = lane.number;
  snapshot.outgoing = lane.outgoing;
  snapshot.proven = lane.proven;
  snapshot.silent = lane.silent();
  snapshot.carries = lane.carries(now);
  snapshot.rests = lane.rests;
  snapshot.grants = lane.peer_congestion_controls;
  snapshot.local = lane.local;
  snapshot.remote = show(lane.remote);
  snapshot.received_bytes = lane.received_bytes;
  snapshot.sent_bytes = lane.sent_bytes;
  snapshot.receive_bits_per_s = lane.receive_bits_per_s;
  snapshot.send_bits_per_s = lane.send_bits_per_s;
  snapshot.outstanding_blocks = lane.outstanding_blocks;
  snapshot.sampled = lane.meter.at;
  snapshot.sampled_bytes = lane.meter.received_bytes;
  snapshot.sampled_bits_per_s = lane.meter.receive_bits_per_s;
  snapshot.own = lane.own;
  snapshot.theirs = lane.theirs;
  return snapshot;
}

PeerSnapshot snapshot_of(const PeerKey& key, const NodeLink& link, const std::vector<std::shared_ptr<Lane>>& lanes,
                         MonoTime now) {
  PeerSnapshot peer;
  peer.node = key.first;
  peer.address = lanes.empty() ? link.address : lanes.front()->remote.address().to_string();
  peer.client = link.client;
  peer.complete = link.seen_complete.has_value();
  peer.received_bytes = link.closed_received_bytes;
  peer.sent_bytes = link.closed_sent_bytes;
  peer.bad_pieces = link.bad_pieces;
  peer.lanes_peak = link.lanes_peak;
  for (const auto& lane : lanes) {
    peer.received_bytes += lane->received_bytes;
    peer.sent_bytes += lane->sent_bytes;
    peer.receive_bits_per_s += lane->receive_bits_per_s;
    peer.send_bits_per_s += lane->send_bits_per_s;
    peer.lanes.push_back(snapshot_of(*lane, now));
  }
  return peer;
}

bool is_worth_telling(const PeerSnapshot& peer) {
  return !peer.lanes.empty() || peer.lanes_peak > 0 || peer.bad_pieces > 0 || peer.received_bytes + peer.sent_bytes > 0;
}

}  // namespace

void SwarmMeter::round(MonoTime now) {
  const double seconds = last_round_ == MonoTime{} ? 0 : std::chrono::duration<double>(now - last_round_).count();
  last_round_ = now;
  for (const auto& lane : table_.lanes()) count(*lane, seconds, now);
}

void SwarmMeter::refresh(MonoTime now) {
  for (const auto& lane : table_.lanes()) refresh(*lane, now);
}

void SwarmMeter::refresh(Lane& lane, MonoTime now) {
  count(lane, 0, now);
}

/// `seconds`: since the last round; 0: this is none.
void SwarmMeter::count(Lane& lane, double seconds, MonoTime now) {
  lane.unanswered = lane.state == LaneState::kConnecting && lane.socket->connecting();
  if (lane.state == LaneState::kConnecting) return;
  const PayloadCounters payload = payload_of(lane.peer);
  const auto received = static_cast<std::uint64_t>(payload.received), sent = static_cast<std::uint64_t>(payload.sent);
  if (received + sent > lane.received_bytes + lane.sent_bytes) lane.carried = now;
  if (seconds > 0) {
    lane.receive_bits_per_s = bits_per_s(lane.received_bytes, received, seconds);
    lane.send_bits_per_s = bits_per_s(lane.sent_bytes, sent, seconds);
    lane.usual_bits_per_s = (3 * lane.usual_bits_per_s + lane.receive_bits_per_s + lane.send_bits_per_s) / 4;
  }
  lane.received_bytes = received;
  lane.sent_bytes = sent;
  if (!lane.established) return;
  if (!lane.peer.is_seed()) {
    lane.complete.reset();
  } else if (!lane.complete) {
    lane.complete = now;
  }
  if (seconds <= 0) return;
  read_tcp(lane, now);
  read_libtorrent(lane);
}

bool SwarmMeter::sample(MonoTime now, Orders& orders) {
  bool flows = false;
  for (const auto& lane : table_.lanes()) {
    if (lane->state != LaneState::kOpen) continue;
    const PayloadCounters payload = payload_of(lane->peer);
    const auto sent = static_cast<std::uint64_t>(payload.sent);
    const bool sends = sent > lane->meter.sent_bytes;
    if (!lane->meter.look(now, static_cast<std::uint64_t>(payload.received), sent)) continue;
    flows = true;
    read_tcp(*lane, now);
    const bool young = now - lane->since < kStatsOften;
    if (sends && young) tell(lane, orders);
  }
  return flows;
}

void SwarmMeter::tell(Orders& orders) const {
  for (const auto& lane : table_.lanes()) {
    if (lane->send_bits_per_s > 0) tell(lane, orders);
  }
}

void SwarmMeter::tell(const std::shared_ptr<Lane>& lane, Orders& orders) {
  if (lane->state != LaneState::kOpen || lane->stats_id == 0 || !lane->own) return;
  orders.send.emplace_back(lane, frame(lane->stats_id, encode_stats(*lane->own)));
}

SwarmReport SwarmMeter::report(bool active, MonoTime now) const {
  SwarmReport report;
  report.received_bytes = table_.forgotten_received_bytes();
  report.sent_bytes = table_.forgotten_sent_bytes();
  LaneTable::ByPeer lanes = table_.by_peer();
  for (const auto& [key, link] : table_.links()) {
    PeerSnapshot peer = snapshot_of(key, link, lanes[key], now);
    report.received_bytes += peer.received_bytes;
    report.sent_bytes += peer.sent_bytes;
    report.receive_bits_per_s += peer.receive_bits_per_s;
    report.send_bits_per_s += peer.send_bits_per_s;
    if (is_worth_telling(peer)) report.peers.push_back(std::move(peer));
    if (!active || key.first.is_nil() || !key.second.empty()) continue;
    if (auto problem = path_problem(key.first, link, now)) report.problems.push_back({key.first, std::move(*problem)});
  }
  return report;
}

}  // namespace gridtorrent::client::engine
