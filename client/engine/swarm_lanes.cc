// The life of a lane: opened, let in or not, greeted, closed.
#include <algorithm>
#include <libtorrent/error_code.hpp>

#include "client/engine/internals.h"
#include "client/engine/swarm.h"
#include "client/engine/tcp_info.h"

namespace gridtorrent::client::engine {
namespace {

/// A stranger that has not shown our key by then is a foreign client.
constexpr auto kForeignAfter = std::chrono::seconds(2);
/// A lane that the peer ended sooner counts as a failed dial, so that refusals are not redialled hot.
constexpr auto kShortLife = std::chrono::seconds(5);
/// So long after a bad peer's last pause a piece may still hold blocks of his.
constexpr auto kBadBlocksLinger = std::chrono::minutes(1);
/// Sixteen nodes on one host with sixteen lanes each are welcome.
constexpr int kMaxInboundPerAddress = 256;

MonoTime now_mono() {
  return std::chrono::steady_clock::now();
}

WallTime wall_now() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count()};
}

}  // namespace

std::shared_ptr<Lane> Swarm::lane_opened(const lt::peer_connection_handle& peer) {
  const std::lock_guard lock(mutex_);
  auto lane = std::make_shared<Lane>(peer);
  lane->outgoing = peer.is_outgoing();
  lane->remote = peer.remote();
  lane->since = now_mono();
  lane->number = next_number_++ & 0xFFFF;
  lane->state = lane->outgoing ? LaneState::kConnecting : LaneState::kHandshake;
  if (lane->outgoing) {
    for (auto& [key, link] : links_) {
      DialTarget* target = link.find(lane->remote.address().to_string(), lane->remote.port());
      if (target == nullptr || key.first.is_nil()) continue;
      // Nodes behind one address are told apart by who was dialled last; the greeting settles it.
      if (lane->node.is_nil() || target->dialled) lane->node = key.first;
      target->dialled.reset();
    }
  }
  lanes_.push_back(lane);
  return lane;
}

void Swarm::lane_connected(Lane& lane) {
  const std::lock_guard lock(mutex_);
  lane.state = LaneState::kHandshake;
  lane.since = now_mono();
}

bool Swarm::lane_admitted(Lane& lane) {
  if (!tls_) return true;
  const std::lock_guard lock(mutex_);
  const MonoTime now = now_mono();
  const auto proof = tls_proof_of(lane.peer);
  const Admission admission = admit(proof, audience_.get(), wall_now());
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
  return true;
}

void Swarm::refuse(Lane& lane, const std::string& reason, MonoTime now) {
  lane.state = LaneState::kClosing;
  ++refused_lanes_;
  NodeLink* link = lane.outgoing ? link_of(lane) : nullptr;
  DialTarget* target = link == nullptr ? nullptr : link->find(lane.remote.address().to_string(), lane.remote.port());
  if (target != nullptr) link->dial_failed(*target, reason, now);
}

/// Rights end while lanes stand.
void Swarm::check_rights(Orders& orders, MonoTime now) {
  for (const auto& lane : lanes_) {
    if (!lane->proof || lane->state == LaneState::kClosing) continue;
    const Admission admission = admit(lane->proof, audience_.get(), lane->proof->not_before);
    if (admission.node == lane->node) continue;
    refuse(*lane, admission.reason, now);
    orders.close.push_back(lane);
  }
}

void Swarm::lane_established(Lane& lane) {
  const std::lock_guard lock(mutex_);
  lane.established = true;
  lane.since = now_mono();
  lane.local = show(lane.peer.local_endpoint());
  const int fd = socket_of(lane.peer);
  set_no_delay(fd, true);
  lane.read_tcp();
  int lanes = static_cast<int>(lanes_.size());
  for (const auto& [key, link] : links_) lanes = std::max(lanes, link.plan ? link.plan->lanes : 0);
  if (const auto bytes = receive_buffer_for(lanes, receive_limits())) set_receive_buffer(fd, *bytes);
}

bool Swarm::lane_greeted(Lane& lane, const std::optional<Hello>& hello) {
  const std::lock_guard lock(mutex_);
  if (lane.state == LaneState::kClosing) return false;
  if (lane.greeted || lane.foreign) return true;  // only the first greeting counts
  const MonoTime now = now_mono();
  const bool welcome = hello ? welcome_node(lane, *hello, now) : welcome_stranger(lane);
  lane.state = welcome ? LaneState::kOpen : LaneState::kClosing;
  lane.since = now;
  return welcome;
}

bool Swarm::welcome_stranger(Lane& lane) {
  lane.foreign = true;
  return std::ranges::none_of(lanes_, [&](const auto& other) {
    return other.get() != &lane && other->foreign && other->state == LaneState::kOpen &&
           other->remote.address() == lane.remote.address();
  });
}

bool Swarm::welcome_node(Lane& lane, const Hello& hello, MonoTime now) {
  const bool somebody_else = !lane.node.is_nil() && lane.node != hello.node;  // of TLS lanes: than its key says
  if (hello.node == self_ || somebody_else) {
    NodeLink* link = link_of(lane);
    DialTarget* target = link == nullptr ? nullptr : link->find(lane.remote.address().to_string(), lane.remote.port());
    if (target != nullptr) {
      link->dial_failed(*target, hello.node == self_ ? "that is this node itself" : hello.node.str() + " answers there",
                        now);
    }
    return false;
  }
  lane.greeted = true;
  lane.node = hello.node;
  NodeLink& link = links_[{hello.node, ""}];
  link.peer_grant = hello.grant;
  link.address = lane.remote.address().to_string();
  if (lane.outgoing) return true;
  return now >= link.held_until && open_lanes(hello.node, false) < kMaxLanes;
}

void Swarm::check_strangers(Orders& orders, MonoTime now) {
  std::map<std::string, int> inbound;
  for (const auto& lane : lanes_) {  // oldest first
    const std::string address = lane->remote.address().to_string();
    if (lane->established && !lane->greeted && !lane->foreign && now - lane->since > kForeignAfter &&
        lane->state != LaneState::kClosing) {
      // It will not greet any more; one that sends no extended handshake at all is a foreign client, too.
      lane->state = welcome_stranger(*lane) ? LaneState::kOpen : LaneState::kClosing;
    }
    const bool too_many = !lane->outgoing && ++inbound[address] > kMaxInboundPerAddress;
    if (too_many || lane->state == LaneState::kClosing) orders.close.push_back(lane);
    if (NodeLink* link = lane->foreign ? link_of(*lane) : nullptr) {
      link->client = lane->client;
      link->peer_grant = 1;
    }
  }
}

void Swarm::lane_wants(Lane& lane, int want) {
  const std::lock_guard lock(mutex_);
  if (NodeLink* link = lane.greeted ? link_of(lane) : nullptr) link->peer_wants = want;
}

void Swarm::lane_grants(Lane& lane, int lanes) {
  const std::lock_guard lock(mutex_);
  if (NodeLink* link = lane.greeted ? link_of(lane) : nullptr) link->peer_grant = lanes;
}

void Swarm::lane_stats(Lane& lane, const TcpFigures& figures) {
  const std::lock_guard lock(mutex_);
  lane.theirs = figures;
}

Hello Swarm::hello_for(const Lane& lane) const {
  return {self_, lane.number, kMaxLanes};
}

void Swarm::lane_sent_bad_data(Lane& lane, std::uint32_t piece) {
  const std::lock_guard lock(mutex_);
  bad_pieces_[piece].insert(key_of(lane));
}

void Swarm::check_bad_pieces(Orders& orders, MonoTime now) {
  for (const auto& [piece, peers] : bad_pieces_) {
    if (peers.size() != 1) continue;  // libtorrent asks each of them alone for whole pieces next, and so finds out
    const PeerKey& key = *peers.begin();
    NodeLink& link = links_[key];
    // Blocks of one whose lanes were cut for bad data are in pieces that others complete: not the others' fault.
    const bool another_is_known = std::ranges::any_of(links_, [&](const auto& entry) {
      return entry.first != key && entry.second.bad_in_a_row > 0 && now < entry.second.held_until + kBadBlocksLinger;
    });
    if (another_is_known && link.bad_in_a_row == 0) continue;
    link.bad_piece(now);
    const std::string who = key.first.is_nil() ? "the foreign client at " + key.second : key.first.str();
    // One line a doubling: a wholly altered file must not flood the log.
    if ((link.bad_pieces & (link.bad_pieces - 1)) == 0) {
      orders.warnings.push_back("piece " + std::to_string(piece) + " from " + who +
                                " failed its hash and was refused; its copy of the data is not what was published (" +
                                std::to_string(link.bad_pieces) + " such pieces so far); others are asked for them");
    }
  }
  bad_pieces_.clear();
}

/// Of endpoints to which lanes have stood for long enough.
void Swarm::forget_failures(MonoTime now) {
  for (const auto& lane : lanes_) {
    if (!lane->outgoing || lane->state != LaneState::kOpen || now - lane->since < kShortLife) continue;
    NodeLink* link = link_of(*lane);
    DialTarget* target =
        link == nullptr ? nullptr : link->find(lane->remote.address().to_string(), lane->remote.port());
    if (target != nullptr) target->failures = 0;
  }
}

void Swarm::data_comes(const Lane& lane) {
  loop_->data_comes(socket_of(lane.peer), lane.least_round_trip_us);
}

void Swarm::asked_of_us(const Lane& lane, HeldReads::TorrentKey torrent, const Block& block) {
  if (!rates_->sending.limits()) return;
  PeerKey node;
  {
    const std::lock_guard lock(mutex_);
    node = key_of(lane);
  }
  rates_->sending.asked(&lane, node, torrent, block);
}

void Swarm::refused_by_us(const Lane& lane, HeldReads::TorrentKey torrent, const Block& block) {
  rates_->sending.refused(&lane, torrent, block);
}

void Swarm::lane_closed(Lane& lane, const lt::error_code& reason) {
  requests_.lane_closed(lane);
  rates_->sending.lane_closed(&lane);
  loop_->socket_closes(socket_of(lane.peer));
  // libtorrent ends TLS by Asio's async_shutdown, whose close_notify stays unsent where a write is just being
  // completed, and waits for the other end, up to 3 s. That one counts the lane until then, and may refuse new ones for
  // it.
  if (tls_) end_connection(socket_of(lane.peer));
  const std::lock_guard lock(mutex_);
  const MonoTime now = now_mono();
  const auto found = std::ranges::find_if(lanes_, [&](const auto& other) { return other.get() == &lane; });
  if (found == lanes_.end()) return;
  const std::shared_ptr<Lane> keep = *found;
  lanes_.erase(found);
  measure(lane, 0);
  NodeLink* link = link_of(lane);
  if (link == nullptr) return;
  link->closed_received_bytes += lane.received_bytes;
  link->closed_sent_bytes += lane.sent_bytes;
  if (lane.complete) link->seen_complete = now;
  if (open_lanes(lane.node, true) + open_lanes(lane.node, false) == 0) {
    link->asked.reset();  // so that what is said anew is all that counts
    link->peer_wants.reset();
  }
  if (!lane.outgoing || lane.state == LaneState::kClosing) return;
  DialTarget* target = link->find(lane.remote.address().to_string(), lane.remote.port());
  if (target == nullptr) return;
  const bool lived = lane.state == LaneState::kOpen && now - lane.since >= kShortLife;
  if (!lived && !(complete_ && lane.complete)) link->dial_failed(*target, reason.message(), now);
}

}  // namespace gridtorrent::client::engine
