#include "client/engine/swarm.h"

#include <algorithm>
#include <libtorrent/error_code.hpp>
#include <libtorrent/operations.hpp>
#include <libtorrent/peer_info.hpp>

#include "client/engine/internals.h"
#include "client/engine/tcp_info.h"
#include "common/text.h"

namespace gridtorrent::client::engine {
namespace {

/// A stranger that has not shown our key by then is a foreign client.
constexpr auto kForeignAfter = std::chrono::seconds(2);
/// libtorrent makes the connection within its one-second round; past this a dial is forgotten.
constexpr auto kDialForgotten = std::chrono::seconds(3);
/// A lane that the peer ended sooner counts as a failed dial, so that refusals are not redialled hot.
constexpr auto kShortLife = std::chrono::seconds(5);
/// So long after a bad peer's last pause a piece may still hold blocks of his.
constexpr auto kBadBlocksLinger = std::chrono::minutes(1);
/// Sixteen nodes on one host with sixteen lanes each are welcome.
constexpr int kMaxInboundPerAddress = 256;
constexpr std::size_t kManyPieces = 50'000;
/// Peers of one torrent that are told apart by name; what others beyond exchanged is added up.
constexpr std::size_t kRememberedPeers = 1024;

MonoTime now_mono() {
  return std::chrono::steady_clock::now();
}

WallTime wall_now() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count()};
}

std::string show(const lt::tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  return (endpoint.address().is_v6() ? "[" + address + "]" : address) + ":" + std::to_string(endpoint.port());
}

std::vector<char> frame(int message_id, const std::string& body) {
  const std::uint32_t length = static_cast<std::uint32_t>(body.size()) + 2;
  std::vector<char> bytes;
  for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<char>((length >> shift) & 0xFF));
  bytes.push_back(20);  // BEP 10: an extended message
  bytes.push_back(static_cast<char>(message_id));
  bytes.insert(bytes.end(), body.begin(), body.end());
  return bytes;
}

lt::download_priority_t priority_of(int turn) {
  static_assert(static_cast<std::uint8_t>(lt::top_priority) - Turns::kAnybodys ==
                static_cast<std::uint8_t>(lt::default_priority));
  return lt::download_priority_t(static_cast<std::uint8_t>(static_cast<std::uint8_t>(lt::top_priority) - turn));
}

void note_round_trips(Lane& lane) {
  if (!lane.own) return;
  lane.round_trip_us = lane.own->srtt_us;
  lane.least_round_trip_us = lane.own->min_rtt_us;
}

std::uint64_t bits_per_s(std::uint64_t before, std::uint64_t after, double seconds) {
  return seconds > 0 && after > before ? static_cast<std::uint64_t>(static_cast<double>(after - before) * 8 / seconds)
                                       : 0;
}

}  // namespace

void Swarm::attach(const lt::torrent_handle& torrent) {
  const std::lock_guard lock(mutex_);
  torrent_ = torrent;
  turns_ = {};  // libtorrent's priorities are all the same again
}

void Swarm::set_active(bool active) {
  Orders orders;
  {
    const std::lock_guard lock(mutex_);
    if (active == active_) return;
    active_ = active;
    for (auto& [key, link] : links_) {
      link.without_lane_since.reset();
      if (active && !key.first.is_nil()) move_towards_plan(key.first, link, orders, now_mono());
    }
    if (lanes_.empty()) divide_among_fetching(orders);
  }
  orders.close.clear();  // only the network thread may close: the next tick does that
  carry_out(orders);
}

void Swarm::set_complete(bool complete) {
  const std::lock_guard lock(mutex_);
  complete_ = complete;
}

void Swarm::set_plan(const LanePlan& plan) {
  Orders orders;
  {
    const std::lock_guard lock(mutex_);
    const MonoTime now = now_mono();
    revision_ = plan.revision;
    report_.plan_revision = plan.revision;
    fetching_ = plan.fetching;
    for (auto& [key, link] : links_) {
      if (std::ranges::none_of(plan.peers, [&](const PeerPlan& p) { return p.node == key.first; })) {
        link.plan.reset();
        link.targets.clear();
      }
    }
    for (const auto& peer : plan.peers) {
      if (peer.node.is_nil() || peer.node == self_) continue;
      NodeLink& link = links_[{peer.node, ""}];
      link.set_plan(peer, tls_);
      if (active_) move_towards_plan(peer.node, link, orders, now);
    }
    if (lanes_.empty()) divide_among_fetching(orders);
  }
  // Only the network thread may close or send: the next tick does that.
  orders.close.clear();
  carry_out(orders);
}

void Swarm::set_audience(std::shared_ptr<const Audience> audience) {
  const std::lock_guard lock(mutex_);
  audience_ = std::move(audience);
}

SwarmReport Swarm::report() const {
  const std::lock_guard lock(mutex_);
  return report_;
}

void Swarm::tick() {
  Orders orders;
  {
    const std::lock_guard lock(mutex_);
    const MonoTime now = now_mono();
    const double seconds = last_tick_ == MonoTime{} ? 0 : std::chrono::duration<double>(now - last_tick_).count();
    last_tick_ = now;
    for (const auto& lane : lanes_) measure(*lane, seconds);
    if (tls_) check_rights(orders, now);
    check_strangers(orders, now);
    check_bad_pieces(orders, now);
    for (auto& [key, link] : links_) {
      if (key.first.is_nil()) continue;
      if (active_) move_towards_plan(key.first, link, orders, now);
      apply_congestion_control(key.first, link, orders);
      apply_request_depth(key.first, link);
      ask_for_lanes(key.first, link, orders);
    }
    send_stats(orders);
    divide_among_fetching(orders);
    forget_departed();
    publish(now);
  }
  carry_out(orders);
  requests_.go_on();
}

void Swarm::add_sockets(std::set<int>& sockets) const {
  const std::lock_guard lock(mutex_);
  for (const auto& lane : lanes_) sockets.insert(socket_of(lane->peer));
}

void Swarm::add_lanes(std::map<PeerKey, std::vector<std::shared_ptr<Lane>>>& lanes) const {
  const std::lock_guard lock(mutex_);
  for (const auto& lane : lanes_) {
    if (lane->state == LaneState::kOpen && (!lane->node.is_nil() || lane->foreign))
      lanes[key_of(*lane)].push_back(lane);
  }
}

void Swarm::refresh() {
  const std::lock_guard lock(mutex_);
  for (const auto& lane : lanes_) measure(*lane, 0);
  publish(now_mono());
}

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
  lane.own = read_tcp_figures(fd);
  note_round_trips(lane);
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

void Swarm::lane_closed(Lane& lane, const lt::error_code& reason) {
  requests_.lane_closed(lane);
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
  link->complete = link->complete || lane.complete;
  if (open_lanes(lane.node, true) + open_lanes(lane.node, false) == 0) link->asked.reset();
  if (!lane.outgoing || lane.state == LaneState::kClosing) return;
  DialTarget* target = link->find(lane.remote.address().to_string(), lane.remote.port());
  if (target == nullptr) return;
  if (lane.state == LaneState::kOpen && now - lane.since >= kShortLife) {
    target->failures = 0;
  } else if (!(complete_ && lane.complete)) {
    link->dial_failed(*target, reason.message(), now);
  }
}

void Swarm::lane_sent_bad_data(Lane& lane, std::uint32_t piece) {
  const std::lock_guard lock(mutex_);
  bad_pieces_[piece].insert(key_of(lane));
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

PeerKey Swarm::key_of(const Lane& lane) {
  return lane.node.is_nil() ? PeerKey{NodeId(), lane.remote.address().to_string()} : PeerKey{lane.node, ""};
}

NodeLink* Swarm::link_of(const Lane& lane) {
  if (lane.node.is_nil() && !lane.foreign) return nullptr;
  NodeLink& link = links_[key_of(lane)];
  if (link.address.empty()) link.address = lane.remote.address().to_string();
  return &link;
}

int Swarm::open_lanes(const NodeId& node, bool outgoing) const {
  return static_cast<int>(std::ranges::count_if(lanes_, [&](const auto& lane) {
    return lane->node == node && lane->outgoing == outgoing && lane->state == LaneState::kOpen;
  }));
}

int Swarm::outgoing_lanes(const NodeId& node) const {
  return static_cast<int>(std::ranges::count_if(lanes_, [&](const auto& lane) {
    return lane->node == node && lane->outgoing && lane->state != LaneState::kClosing;
  }));
}

void Swarm::measure(Lane& lane, double seconds) {
  if (lane.state == LaneState::kConnecting) return;
  const PayloadCounters payload = payload_of(lane.peer);
  const auto received = static_cast<std::uint64_t>(payload.received), sent = static_cast<std::uint64_t>(payload.sent);
  if (seconds > 0) {
    lane.receive_bits_per_s = bits_per_s(lane.received_bytes, received, seconds);
    lane.send_bits_per_s = bits_per_s(lane.sent_bytes, sent, seconds);
  }
  lane.received_bytes = received;
  lane.sent_bytes = sent;
  if (!lane.established) return;
  lane.complete = lane.peer.is_seed();
  if (seconds <= 0) return;
  lane.own = read_tcp_figures(socket_of(lane.peer));
  note_round_trips(lane);
  lt::peer_info info;
  lane.peer.get_peer_info(info);
  lane.outstanding_blocks = info.download_queue_length;
  lane.has_to_send =
      info.upload_queue_length > 0 || info.used_send_buffer > 0 || unsent_bytes(socket_of(lane.peer)) > 0;
  lane.client = escape_for_display(info.client);
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

void Swarm::move_towards_plan(const NodeId& node, NodeLink& link, Orders& orders, MonoTime now) {
  int pending = 0;
  for (auto& target : link.targets) {
    if (target.dialled && now - *target.dialled > kDialForgotten) target.dialled.reset();
    if (target.dialled) ++pending;
  }
  DialState state;
  state.planned = link.plan.has_value();
  if (link.plan) {
    state.plan_dials = link.plan->dial;
    state.plan_lanes = link.plan->lanes;
  }
  state.we_are_complete = complete_;
  state.peer_is_complete = link.complete;
  state.held_back = now < link.held_until;
  state.peer_wants = link.peer_wants;
  state.peer_grant = link.peer_grant;
  state.endpoints = link.usable_endpoints();
  state.outgoing = outgoing_lanes(node) + pending;
  state.inbound_open = open_lanes(node, false);
  state.gives_way = link.gives_way(state.outgoing, state.inbound_open, self_ < node, now);
  const int target = outgoing_target(state);
  if (target > state.outgoing) dial(node, link, target - state.outgoing, orders, now);
  if (target < state.outgoing) drop(node, state.outgoing - target, orders);

  const bool wanted = link.plan && link.plan->lanes > 0 && !(complete_ && link.complete);
  if (!wanted || open_lanes(node, true) + state.inbound_open > 0) {
    link.without_lane_since.reset();
  } else if (!link.without_lane_since) {
    link.without_lane_since = now;
  }
}

void Swarm::apply_congestion_control(const NodeId& node, const NodeLink& link, Orders& orders) {
  if (!link.plan || link.plan->congestion_control.empty()) return;
  for (const auto& lane : lanes_) {
    if (lane->node != node || !lane->established || lane->congestion_control == link.plan->congestion_control) continue;
    lane->congestion_control = link.plan->congestion_control;
    if (!set_congestion_control(socket_of(lane->peer), lane->congestion_control)) {
      orders.warnings.push_back("the kernel does not offer congestion control \"" + lane->congestion_control +
                                "\" to this node; its default is used");
    }
  }
}

void Swarm::apply_request_depth(const NodeId& node, const NodeLink& link) {
  for (const auto& lane : lanes_) {
    if (lane->node == node) lane->planned_blocks = link.plan ? link.plan->outstanding_blocks : 0;
  }
}

void Swarm::dial(const NodeId& node, NodeLink& link, int count, Orders& orders, MonoTime now) {
  std::vector<DialCandidate> candidates;
  for (const auto& target : link.targets) {
    DialCandidate candidate;
    candidate.failures = target.failures;
    candidate.address_failures = link.address_failures(target.endpoint.address);
    candidate.waiting = now < target.not_before;
    candidate.in_use = target.dialled.has_value() || std::ranges::any_of(lanes_, [&](const auto& lane) {
                         return lane->outgoing && lane->node == node && lane->remote.port() == target.endpoint.port &&
                                lane->remote.address().to_string() == target.endpoint.address;
                       });
    candidates.push_back(candidate);
  }
  for (const std::size_t i : choose_endpoints(candidates, count)) {
    DialTarget& target = link.targets[i];
    lt::error_code error;
    const lt::address address = lt::make_address(target.endpoint.address, error);
    if (error) {
      link.dial_failed(target, "no numeric address", now);
      continue;
    }
    target.dialled = now;
    orders.dial.emplace_back(address, target.endpoint.port);
  }
}

void Swarm::drop(const NodeId& node, int count, Orders& orders) {
  // Unfinished ones first, then the youngest.
  std::vector<std::shared_ptr<Lane>> candidates;
  for (const auto& lane : lanes_) {
    if (lane->node == node && lane->outgoing && lane->state != LaneState::kClosing) candidates.push_back(lane);
  }
  std::ranges::reverse(candidates);
  std::ranges::stable_partition(candidates, [](const auto& lane) { return lane->state != LaneState::kOpen; });
  for (std::size_t i = 0; i < candidates.size() && static_cast<int>(i) < count; ++i) {
    orders.close.push_back(candidates[i]);
  }
}

void Swarm::ask_for_lanes(const NodeId& node, NodeLink& link, Orders& orders) {
  const int want = lanes_to_ask(active_ && link.plan.has_value(), link.plan && link.plan->dial,
                                link.plan ? link.plan->lanes : 0, complete_);
  if (link.asked.value_or(0) == want) return;
  const auto found = std::ranges::find_if(lanes_, [&](const auto& lane) {
    return lane->node == node && lane->greeted && lane->state == LaneState::kOpen && lane->lanes_id != 0;
  });
  if (found == lanes_.end()) return;
  link.asked = want;
  orders.send.emplace_back(*found, frame((*found)->lanes_id, encode_lanes(want)));
}

void Swarm::send_stats(Orders& orders) {
  for (const auto& lane : lanes_) {
    if (lane->state != LaneState::kOpen || lane->stats_id == 0 || !lane->own || lane->send_bits_per_s == 0) continue;
    orders.send.emplace_back(lane, frame(lane->stats_id, encode_stats(*lane->own)));
  }
}

void Swarm::divide_among_fetching(Orders& orders) {
  if (!active_ || complete_) return;
  std::vector<NodeId> fetching = fetching_;
  std::erase_if(fetching, [&](const NodeId& node) {
    const auto link = links_.find({node, ""});
    return link != links_.end() && link->second.complete;
  });
  const Turns turns(self_, fetching);
  // Priorities of a million pieces take a tenth of a second.
  const int least_rounds = wanted_.size() > kManyPieces ? 30 : 2;
  if (turns == turns_ || (++turns_rounds_ < least_rounds && !lanes_.empty())) return;
  orders.turns = {turns_, turns};
  turns_ = turns;
  turns_rounds_ = 0;
}

void Swarm::ask_by_turns(const Turns& before, const Turns& now, const lt::torrent_handle& torrent) const {
  std::vector<std::pair<lt::piece_index_t, lt::download_priority_t>> priorities;
  for (std::uint32_t piece = 0; piece < wanted_.size(); ++piece) {
    const int turn = wanted_[piece] ? now.of(piece) : 0;
    if (!wanted_[piece] || turn == before.of(piece)) continue;
    priorities.emplace_back(static_cast<int>(piece), priority_of(turn));
  }
  torrent.prioritize_pieces(priorities);
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
    for (const auto& lane : lanes_) {
      if ((lane->node.is_nil() && !lane->foreign) || key_of(*lane) != key) continue;
      LaneSnapshot snapshot;
      snapshot.state = lane->state;
      snapshot.outgoing = lane->outgoing;
      snapshot.local = lane->local;
      snapshot.remote = show(lane->remote);
      snapshot.received_bytes = lane->received_bytes;
      snapshot.sent_bytes = lane->sent_bytes;
      snapshot.receive_bits_per_s = lane->receive_bits_per_s;
      snapshot.send_bits_per_s = lane->send_bits_per_s;
      snapshot.outstanding_blocks = lane->outstanding_blocks;
      const auto& figures =
          lane->theirs && lane->receive_bits_per_s >= lane->send_bits_per_s ? lane->theirs : lane->own;
      if (figures) {
        snapshot.srtt_us = figures->srtt_us;
        snapshot.min_rtt_us = figures->min_rtt_us;
        snapshot.retransmits = figures->retransmits;
        snapshot.cwnd_segments = figures->cwnd_segments;
        snapshot.congestion_control = figures->congestion_control;
      }
      if (lane->state == LaneState::kOpen) ++open;
      if (!address_known) peer.address = lane->remote.address().to_string();
      address_known = true;
      link.complete = link.complete || lane->complete;
      peer.received_bytes += lane->received_bytes;
      peer.sent_bytes += lane->sent_bytes;
      peer.receive_bits_per_s += lane->receive_bits_per_s;
      peer.send_bits_per_s += lane->send_bits_per_s;
      peer.lanes.push_back(std::move(snapshot));
    }
    peer.complete = link.complete;
    link.lanes_peak = std::max(link.lanes_peak, open);
    peer.lanes_peak = link.lanes_peak;
    report.received_bytes += peer.received_bytes;
    report.sent_bytes += peer.sent_bytes;
    report.receive_bits_per_s += peer.receive_bits_per_s;
    report.send_bits_per_s += peer.send_bits_per_s;
    if (!peer.lanes.empty() || peer.lanes_peak > 0 || peer.received_bytes + peer.sent_bytes > 0)
      report.peers.push_back(std::move(peer));
    if (!key.first.is_nil() && active_) {
      if (auto problem = path_problem(key.first, link, now))
        report.problems.push_back({key.first, std::move(*problem)});
    }
  }
  report_ = std::move(report);
}

void Swarm::carry_out(Orders& orders) {
  for (const auto& lane : orders.close) {
    {
      const std::lock_guard lock(mutex_);
      lane->state = LaneState::kClosing;
    }
    forbid_redial(lane->peer);
    lane->peer.disconnect(lt::error_code(lt::errors::no_error), lt::operation_t::bittorrent);
  }
  for (const auto& [lane, bytes] : orders.send) {
    if (!lane->peer.is_disconnecting()) lane->peer.send_buffer(bytes.data(), static_cast<int>(bytes.size()));
  }
  if (!orders.dial.empty() || orders.turns) {
    lt::torrent_handle torrent;
    {
      const std::lock_guard lock(mutex_);
      torrent = torrent_;
    }
    try {
      if (orders.turns) ask_by_turns(orders.turns->first, orders.turns->second, torrent);
      for (const auto& endpoint : orders.dial) torrent.connect_peer(endpoint, lt::peer_info::tracker, {});
    } catch (const lt::system_error&) {
      // The torrent was removed a moment ago: there is nothing to do for it.
    }
  }
  for (const auto& warning : orders.warnings) listener_.warning(id_, warning);
}

}  // namespace gridtorrent::client::engine
