// What happens on a lane, as the plugin tells it: opened, let in or not, greeted, heard, closed.
#include <libtorrent/error_code.hpp>

#include "client/engine/internals.h"
#include "client/engine/swarm.h"
#include "common/rng.h"

namespace gridtorrent::client::engine {
namespace {

MonoTime now_mono() {
  return std::chrono::steady_clock::now();
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

std::uint16_t any_port() {
  SystemRng rng;
  std::array<std::uint8_t, 2> bytes{};
  rng.fill(bytes);
  return static_cast<std::uint16_t>(bytes[0] << 8 | bytes[1]);
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
  lane->state = lane->outgoing ? LaneState::kConnecting : LaneState::kHandshake;
  table_.add(lane);
  return lane;
}

void Swarm::lane_connected(Lane& lane) {
  const std::lock_guard lock(mutex_);
  lane.state = LaneState::kHandshake;
  lane.since = now_mono();
  lane.listed_port = list_apart(lane.peer, any_port());
}

void Swarm::keep_listed_apart() {
  for (const auto& lane : table_.lanes()) {
    if (lane->state != LaneState::kOpen) continue;
    const std::uint16_t port = engine::listed_port(lane->peer);
    const bool as_it_came = !lane->outgoing && port == lane->remote.port();
    if (port == 0 || as_it_came || (port == lane->listed_port)) continue;
    lane->listed_port = list_apart(lane->peer, any_port());
  }
}

bool Swarm::lane_admitted(Lane& lane) {
  if (!tls_) return true;
  const std::lock_guard lock(mutex_);
  return admission_.admit(lane, tls_proof_of(lane.peer), now_mono(), wall_now());
}

void Swarm::lane_established(Lane& lane) {
  const std::lock_guard lock(mutex_);
  lane.established = true;
  lane.since = now_mono();
  lane.local = show(lane.peer.local_endpoint());
  lane.socket->set_no_delay(true);
  lane.socket->set_pacing(0);  // bursts lose packets to a flow beside them that sends none
  meter_.read_tcp(lane, lane.since);
  lane.size_receive_buffer(table_.expected_lanes());
}

Greeting Swarm::lane_greeted(Lane& lane, const std::optional<Hello>& hello) {
  bool news = false;
  {
    const std::lock_guard lock(mutex_);
    if (lane.state == LaneState::kClosing) return Greeting::kRefused;
    // BEP 10 allows more of them; what they say of ours is not looked at, and they are not answered.
    if (lane.greeted || lane.foreign) return Greeting::kRepeated;
    const MonoTime now = now_mono();
    if (!admission_.greet(lane, hello, now)) return Greeting::kRefused;
    // How many lanes there should be may follow from them.
    news = !facts_.complete && table_.is_first_to_tell(lane, &Lane::own);
    if (news) publish(now);
  }
  if (news) listener_.torrent_changed(id_);
  return Greeting::kFirst;
}

void Swarm::tell_tcp(const std::shared_ptr<Lane>& lane) {
  Orders orders;
  {
    const std::lock_guard lock(mutex_);
    SwarmMeter::tell(lane, orders);
  }
  carry_out(orders);
}

void Swarm::lane_unchoked(const std::shared_ptr<Lane>& lane) {
  Orders orders;
  {
    const std::lock_guard lock(mutex_);
    const MonoTime now = now_mono();
    if (!lane->complete && lane->peer.is_seed()) lane->complete = now;
    LaneMover(table_, facts_, now, orders).lane_unchoked(lane);
  }
  carry_out(orders);
}

void Swarm::prove(const std::shared_ptr<Lane>& lane) {
  Orders orders;
  {
    const std::lock_guard lock(mutex_);
    admission_.prove_if_due(lane, now_mono(), orders);
  }
  carry_out(orders);
}

bool Swarm::lane_proof(Lane& lane, LaneProof proof) {
  const std::lock_guard lock(mutex_);
  return admission_.take_proof(lane, std::move(proof), now_mono());
}

void Swarm::lane_wants(Lane& lane, int want) {
  const std::lock_guard lock(mutex_);
  lane.peer_wants = want;
  if (NodeLink* link = lane.greeted ? table_.link_of(lane) : nullptr) link->peer_wants = want;
}

void Swarm::lane_grants(Lane& lane, int lanes) {
  const std::lock_guard lock(mutex_);
  lane.peer_grant = lanes;
  if (NodeLink* link = lane.greeted ? table_.link_of(lane) : nullptr) link->peer_grant = lanes;
}

void Swarm::lane_stats(Lane& lane, const TcpFigures& figures) {
  bool news = false;
  {
    const std::lock_guard lock(mutex_);
    news = !lane.theirs && lane.state == LaneState::kOpen && !facts_.complete;
    lane.theirs = figures;
    news = news && table_.is_first_to_tell(lane, &Lane::theirs);
    if (news) publish(now_mono());
  }
  if (news) listener_.torrent_changed(id_);
}

void Swarm::lane_wants_congestion(Lane& lane, std::string name) {
  const std::lock_guard lock(mutex_);
  lane.congestion_wish = std::move(name);
}

Hello Swarm::hello_for(const Lane& lane) const {
  return {facts_.self, lane.number, kMaxLanes, tls_ ? std::nullopt : std::optional(lane.nonce), grants()};
}

void Swarm::lane_sent_bad_data(Lane& lane, std::uint32_t piece) {
  const std::lock_guard lock(mutex_);
  bad_pieces_.note(lane, piece);
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
  const std::shared_ptr<Lane> kept = table_.take_out(lane);
  if (!kept) return;
  meter_.refresh(lane, now);
  Orders none;
  LaneMover(table_, facts_, now, none).lane_ended(lane, reason.message(), is_unanswered(reason));
}

}  // namespace gridtorrent::client::engine
