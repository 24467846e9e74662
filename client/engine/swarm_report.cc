// What a torrent's lanes carry: measured, and told to others.
#include <algorithm>
#include <libtorrent/peer_info.hpp>

#include "client/engine/internals.h"
#include "client/engine/swarm.h"
#include "common/text.h"

namespace gridtorrent::client::engine {
namespace {

/// Peers of one torrent that are told apart by name; what others beyond exchanged is added up.
constexpr std::size_t kRememberedPeers = 1024;
/// A lane's first seconds tell most about its path: for so long its receiver hears of the sender's TCP at each look,
/// and in each round afterwards.
constexpr auto kStatsOften = std::chrono::seconds(5);

MonoTime now_mono() {
  return std::chrono::steady_clock::now();
}

std::uint64_t bits_per_s(std::uint64_t before, std::uint64_t after, double seconds) {
  return seconds > 0 && after > before ? static_cast<std::uint64_t>(static_cast<double>(after - before) * 8 / seconds)
                                       : 0;
}

}  // namespace

SwarmReport Swarm::report() const {
  const std::lock_guard lock(mutex_);
  return report_;
}

void Swarm::refresh() {
  const std::lock_guard lock(mutex_);
  for (const auto& lane : lanes_) measure(*lane, 0);
  publish(now_mono());
}

void Swarm::measure(Lane& lane, double seconds) {
  if (lane.state == LaneState::kConnecting) return;
  const PayloadCounters payload = payload_of(lane.peer);
  const auto received = static_cast<std::uint64_t>(payload.received), sent = static_cast<std::uint64_t>(payload.sent);
  if (seconds > 0) {
    lane.receive_bits_per_s = bits_per_s(lane.received_bytes, received, seconds);
    lane.send_bits_per_s = bits_per_s(lane.sent_bytes, sent, seconds);
  }
  if (received + sent > lane.received_bytes + lane.sent_bytes) lane.carried = now_mono();
  if (seconds > 0) {
    lane.usual_bits_per_s = (3 * lane.usual_bits_per_s + lane.receive_bits_per_s + lane.send_bits_per_s) / 4;
  }
  lane.received_bytes = received;
  lane.sent_bytes = sent;
  if (!lane.established) return;
  lane.complete = lane.peer.is_seed();
  if (seconds <= 0) return;
  lane.read_tcp(rates_->load.load());
  lt::peer_info info;
  lane.peer.get_peer_info(info);
  lane.outstanding_blocks = info.download_queue_length;
  lane.has_to_send = info.upload_queue_length > 0 || info.used_send_buffer > 0 || lane.socket->unsent_bytes() > 0;
  lane.client = escape_for_display(info.client);
}

bool Swarm::sample() {
  Orders orders;
  bool flows = false;
  {
    const std::lock_guard lock(mutex_);
    const MonoTime now = now_mono();
    for (const auto& lane : lanes_) {
      if (lane->state != LaneState::kOpen) continue;
      const PayloadCounters payload = payload_of(lane->peer);
      const auto sent = static_cast<std::uint64_t>(payload.sent);
      const bool sends = sent > lane->meter.sent_bytes;
      if (!lane->meter.look(now, static_cast<std::uint64_t>(payload.received), sent)) continue;
      flows = true;
      lane->read_tcp(rates_->load.load());
      const bool young = now - lane->since < kStatsOften;
      if (sends && young && lane->stats_id != 0 && lane->own) {
        orders.send.emplace_back(lane, frame(lane->stats_id, encode_stats(*lane->own)));
      }
    }
    if (flows && !complete_) publish(now);
  }
  carry_out(orders);
  return flows;
}

void Swarm::forget_departed() {
  if (links_.size() <= kRememberedPeers) return;
  std::set<PeerKey> connected;
  for (const auto& lane : lanes_) connected.insert(key_of(*lane));
  std::vector<RememberedPeer> peers;
  std::vector<decltype(links_)::iterator> places;
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

void Swarm::publish(MonoTime now) {
  SwarmReport report;
  report.plan_revision = revision_;
  report.refused_lanes = refused_lanes_;
  report.received_bytes = forgotten_received_bytes_;
  report.sent_bytes = forgotten_sent_bytes_;
  std::map<PeerKey, std::vector<std::shared_ptr<Lane>>> by_peer;
  for (const auto& lane : lanes_) {
    if (!lane->node.is_nil() || lane->foreign) by_peer[key_of(*lane)].push_back(lane);
  }
  for (auto& [key, link] : links_) {
    PeerSnapshot peer;
    peer.node = key.first;
    peer.address = link.address;
    peer.client = link.client;
    peer.received_bytes = link.closed_received_bytes;
    peer.sent_bytes = link.closed_sent_bytes;
    peer.bad_pieces = link.bad_pieces;
    int open = 0;
    bool address_known = false;
    for (const auto& lane : by_peer[key]) {
      LaneSnapshot snapshot;
      snapshot.state = lane->state;
      snapshot.number = lane->number;
      snapshot.outgoing = lane->outgoing;
      snapshot.proven = lane->proven;
      snapshot.silent = lane->silent;
      snapshot.carries = lane->carries(now);
      snapshot.grants = lane->peer_congestion_controls;
      snapshot.local = lane->local;
      snapshot.remote = show(lane->remote);
      snapshot.received_bytes = lane->received_bytes;
      snapshot.sent_bytes = lane->sent_bytes;
      snapshot.receive_bits_per_s = lane->receive_bits_per_s;
      snapshot.send_bits_per_s = lane->send_bits_per_s;
      snapshot.outstanding_blocks = lane->outstanding_blocks;
      snapshot.sampled = lane->meter.at;
      snapshot.sampled_bytes = lane->meter.received_bytes;
      snapshot.sampled_bits_per_s = lane->meter.receive_bits_per_s;
      snapshot.own = lane->own;
      snapshot.theirs = lane->theirs;
      if (lane->state == LaneState::kOpen) ++open;
      if (!address_known) peer.address = lane->remote.address().to_string();
      address_known = true;
      if (lane->complete) link.seen_complete = now;
      peer.received_bytes += lane->received_bytes;
      peer.sent_bytes += lane->sent_bytes;
      peer.receive_bits_per_s += lane->receive_bits_per_s;
      peer.send_bits_per_s += lane->send_bits_per_s;
      peer.lanes.push_back(std::move(snapshot));
    }
    peer.complete = link.seen_complete.has_value();
    link.lanes_peak = std::max(link.lanes_peak, open);
    peer.lanes_peak = link.lanes_peak;
    report.received_bytes += peer.received_bytes;
    report.sent_bytes += peer.sent_bytes;
    report.receive_bits_per_s += peer.receive_bits_per_s;
    report.send_bits_per_s += peer.send_bits_per_s;
    if (!peer.lanes.empty() || peer.lanes_peak > 0 || peer.bad_pieces > 0 || peer.received_bytes + peer.sent_bytes > 0)
      report.peers.push_back(std::move(peer));
    if (!key.first.is_nil() && key.second.empty() && active_) {
      if (auto problem = path_problem(key.first, link, now))
        report.problems.push_back({key.first, std::move(*problem)});
    }
  }
  report_ = std::move(report);
}

}  // namespace gridtorrent::client::engine
