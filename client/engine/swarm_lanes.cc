// The life of a lane: opened, let in or not, greeted, closed.
#include <algorithm>
#include <libtorrent/error_code.hpp>

#include "client/engine/internals.h"
#include "client/engine/swarm.h"
#include "client/engine/tcp_info.h"
#include "common/rng.h"

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
/// Lanes of others who proved nothing, in all: half of what the session takes (settings.cc).
constexpr int kMaxUnproven = 2000;
/// Who proved nothing and owes blocks gives way to others after this long without a byte of them.
constexpr auto kOwesFor = std::chrono::seconds(10);

MonoTime now_mono() {
  return std::chrono::steady_clock::now();
}

/// Blocks that a stranger was asked for and does not send are missing until somebody else is asked.
bool owes_too_long(const Lane& lane, MonoTime now) {
  if (lane.outgoing || lane.proven || lane.outstanding_blocks == 0 || lane.state != LaneState::kOpen) return false;
  return now - std::max(lane.since, lane.carried) > kOwesFor;
}

/// Of a connection that came to nothing.
bool is_unanswered(const lt::error_code& reason) {
  namespace errc = boost::system::errc;
  return reason == errc::timed_out || reason == errc::host_unreachable || reason == errc::network_unreachable ||
         reason == lt::error_code(lt::errors::timed_out);
}

Nonce fresh_nonce() {
  SystemRng rng;
  Nonce nonce{};
  rng.fill(nonce);
  return nonce;
}

WallTime wall_now() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count()};
}

}  // namespace

std::shared_ptr<Lane> Swarm::lane_opened(const lt::peer_connection_handle& peer) {
  const std::lock_guard lock(mutex_);
  auto lane = std::make_shared<Lane>(peer, socket_below(peer));
  lane->outgoing = peer.is_outgoing();
  lane->remote = peer.remote();
  lane->since = lane->opened = now_mono();
  if (!tls_) lane->nonce = fresh_nonce();
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
  lane.proven = true;
  return true;
}

void Swarm::refuse(Lane& lane, const std::string& reason, MonoTime now) {
  lane.state = LaneState::kClosing;
  ++refused_lanes_;
  if (auto [link, target] = target_of(lane); target != nullptr) link->dial_failed(*target, reason, now);
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
  lane.socket->set_no_delay(true);
  lane.read_tcp(rates_->load.load());
  if (const auto bytes = receive_buffer_for(expected_lanes(), receive_limits())) {
    lane.receive_buffer = *bytes;
    lane.socket->set_receive_buffer(*bytes);
  }
}

int Swarm::expected_lanes() const {
  auto lanes = static_cast<int>(std::ranges::count_if(
      lanes_, [](const auto& lane) { return !lane->drains && lane->state != LaneState::kClosing; }));
  for (const auto& [key, link] : links_) lanes = std::max(lanes, link.plan ? link.plan->lanes : 0);
  return lanes;
}

void Swarm::grow_receive_buffers() {
  const int bytes = largest_receive_buffer_for(expected_lanes(), receive_limits());
  for (const auto& lane : lanes_) {
    if (lane->receive_buffer == 0 || bytes <= lane->receive_buffer || lane->drains) continue;
    lane->receive_buffer = bytes;
    lane->socket->set_receive_buffer(bytes);
  }
}

bool Swarm::lane_greeted(Lane& lane, const std::optional<Hello>& hello) {
  bool news = false;
  {
    const std::lock_guard lock(mutex_);
    if (lane.state == LaneState::kClosing) return false;
    if (lane.greeted || lane.foreign) return true;  // only the first greeting counts
    const MonoTime now = now_mono();
    const bool welcome = hello ? welcome_node(lane, *hello, now) : welcome_stranger(lane);
    lane.state = welcome ? LaneState::kOpen : LaneState::kClosing;
    lane.since = now;
    if (lane.proven && !lane.outgoing) share_places(lane.node, now);
    if (lane.state != LaneState::kOpen) return false;
    news = is_first_to_tell(lane, &Lane::own);
    if (news) publish(now);
  }
  if (news) listener_.torrent_changed(id_);
  return true;
}

/// A lane's figures that no other lane to its node has yet: how many lanes there should be may follow from them.
bool Swarm::is_first_to_tell(const Lane& lane, std::optional<TcpFigures> Lane::* figures) const {
  if (complete_ || !(lane.*figures) || !acts_for(lane, lane.node)) return false;
  return std::ranges::none_of(lanes_, [&](const auto& other) {
    return other.get() != &lane && acts_for(*other, lane.node) && other->state == LaneState::kOpen && (*other).*figures;
  });
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
    if (auto [link, target] = target_of(lane); target != nullptr) {
      link->dial_failed(*target, hello.node == self_ ? "that is this node itself" : hello.node.str() + " answers there",
                        now);
    }
    return false;
  }
  lane.greeted = true;
  lane.node = hello.node;
  lane.peer_grant = hello.grant;
  lane.their_nonce = hello.nonce;
  lane.peer_congestion_controls = hello.congestion_controls;
  NodeLink& link = links_[key_of(lane)];
  link.peer_grant = hello.grant;
  link.address = lane.remote.address().to_string();
  return lane.outgoing || now >= link.held_until;
}

void Swarm::check_strangers(Orders& orders, MonoTime now) {
  std::map<std::string, std::vector<std::shared_ptr<Lane>>> inbound;
  std::vector<std::shared_ptr<Lane>> unproven;
  for (const auto& lane : lanes_) {
    if (lane->established && !lane->greeted && !lane->foreign && now - lane->since > kForeignAfter &&
        lane->state != LaneState::kClosing) {
      // It will not greet any more; one that sends no extended handshake at all is a foreign client, too.
      lane->state = welcome_stranger(*lane) ? LaneState::kOpen : LaneState::kClosing;
    }
    if (owes_too_long(*lane, now)) lane->state = LaneState::kClosing;
    if (!lane->outgoing) inbound[lane->remote.address().to_string()].push_back(lane);
    if (!lane->outgoing && !lane->proven) unproven.push_back(lane);
    if (NodeLink* link = lane->foreign ? link_of(*lane) : nullptr) {
      link->client = lane->client;
      link->peer_grant = 1;
    }
  }
  for (const auto& [address, lanes] : inbound) end_beyond(lanes, kMaxInboundPerAddress, now);
  end_beyond(unproven, kMaxUnproven, now);
  std::ranges::copy_if(lanes_, std::back_inserter(orders.close),
                       [](const auto& lane) { return lane->state == LaneState::kClosing; });
}

void Swarm::lane_wants(Lane& lane, int want) {
  const std::lock_guard lock(mutex_);
  lane.peer_wants = want;
  if (NodeLink* link = lane.greeted ? link_of(lane) : nullptr) link->peer_wants = want;
}

void Swarm::lane_grants(Lane& lane, int lanes) {
  const std::lock_guard lock(mutex_);
  lane.peer_grant = lanes;
  if (NodeLink* link = lane.greeted ? link_of(lane) : nullptr) link->peer_grant = lanes;
}

void Swarm::lane_stats(Lane& lane, const TcpFigures& figures) {
  bool news = false;
  {
    const std::lock_guard lock(mutex_);
    news = !lane.theirs;
    lane.theirs = figures;
    news = news && lane.state == LaneState::kOpen && is_first_to_tell(lane, &Lane::theirs);
    if (news) publish(now_mono());
  }
  if (news) listener_.torrent_changed(id_);
}

void Swarm::tell_tcp(const std::shared_ptr<Lane>& lane) {
  Orders orders;
  {
    const std::lock_guard lock(mutex_);
    if (lane->state != LaneState::kOpen || lane->stats_id == 0 || !lane->own) return;
    orders.send.emplace_back(lane, frame(lane->stats_id, encode_stats(*lane->own)));
  }
  carry_out(orders);
}

Hello Swarm::hello_for(const Lane& lane) const {
  return {self_, lane.number, kMaxLanes, tls_ ? std::nullopt : std::optional(lane.nonce), grants()};
}

void Swarm::lane_sent_bad_data(Lane& lane, std::uint32_t piece) {
  const std::lock_guard lock(mutex_);
  // Whoever relays a node's proof can spoil what the node sends: such a lane speaks for where it comes from alone.
  const bool by_address = !tls_ && !lane.node.is_nil() && !(lane.proven && lane.outgoing);
  const PeerKey key = by_address ? PeerKey{lane.node, lane.remote.address().to_string()} : key_of(lane);
  bad_pieces_[piece].insert({key, by_address && lane.outgoing, by_address && lane.proven});
}

void Swarm::check_bad_pieces(Orders& orders, MonoTime now) {
  for (const auto& [piece, suspects] : bad_pieces_) {
    if (suspects.size() != 1) continue;  // libtorrent asks each of them alone for whole pieces next, and so finds out
    const PeerKey& key = suspects.begin()->key;
    // Blocks of one whose lanes were cut for bad data are in pieces that others complete: not the others' fault.
    const bool another_is_known = std::ranges::any_of(links_, [&](const auto& entry) {
      return entry.first != key && entry.second.bad_in_a_row > 0 && now < entry.second.held_until + kBadBlocksLinger;
    });
    if (another_is_known && links_[key].bad_in_a_row == 0) continue;
    blame(*suspects.begin(), piece, orders, now);
  }
  bad_pieces_.clear();
}

void Swarm::blame(const Suspect& suspect, std::uint32_t piece, Orders& orders, MonoTime now) {
  const auto& [node, address] = suspect.key;
  NodeLink& link = links_[suspect.key];
  link.bad_piece(now);
  if (suspect.dialled) links_[{node, ""}].hold_address(address, link.held_until);
  if (suspect.proven) end_proven_from(suspect.key);
  // One line a doubling: a wholly altered file must not flood the log.
  if ((link.bad_pieces & (link.bad_pieces - 1)) != 0) return;
  const std::string who = node.is_nil()     ? "the foreign client at " + address
                          : address.empty() ? node.str()
                          : suspect.proven
                              ? node.str() + " at " + address + ", or whoever relays its lanes from there,"
                              : "somebody at " + address + " who calls itself " + node.str() + " and has not proved it";
  orders.warnings.push_back("piece " + std::to_string(piece) + " from " + who +
                            " failed its hash and was refused; its copy of the data is not what was published (" +
                            std::to_string(link.bad_pieces) + " such pieces so far); others are asked for them");
}

/// What others dialled from there; new ones are refused while the address is held.
void Swarm::end_proven_from(const PeerKey& key) {
  const auto& [node, address] = key;
  for (const auto& lane : lanes_) {
    if (lane->node == node && lane->proven && !lane->outgoing && lane->remote.address().to_string() == address)
      lane->state = LaneState::kClosing;  // by the next tick
  }
}

/// Of endpoints to which lanes have stood for long enough.
void Swarm::forget_failures(MonoTime now) {
  for (const auto& lane : lanes_) {
    if (!lane->outgoing || lane->silent || lane->state != LaneState::kOpen || now - lane->since < kShortLife) continue;
    if (auto [link, target] = target_of(*lane); target != nullptr) target->failures = 0;
  }
}

void Swarm::data_comes(const Lane& lane) {
  loop_->data_comes(lane.socket->descriptor(), lane.least_round_trip_us);
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
  loop_->socket_closes(lane.socket->descriptor());
  // libtorrent ends TLS by Asio's async_shutdown, whose close_notify stays unsent where a write is just being
  // completed, and waits for the other end, up to 3 s. That one counts the lane until then, and may refuse new ones for
  // it.
  if (tls_) lane.socket->end();
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
  if (open_lanes(key_of(lane)) == 0) {
    link->asked.reset();  // so that what is said anew is all that counts
    link->peer_wants.reset();
  }
  if (!lane.outgoing || lane.state == LaneState::kClosing) return;
  DialTarget* target = link->find(lane.remote.address().to_string(), lane.remote.port());
  if (target == nullptr) return;
  const bool lived = lane.state == LaneState::kOpen && now - lane.since >= kShortLife;
  if (lived || (complete_ && lane.complete)) return;
  const bool unanswered = lane.state == LaneState::kConnecting && is_unanswered(reason);
  dial_went_wrong(lane, *link, *target, reason.message(), unanswered, now);
}

}  // namespace gridtorrent::client::engine
