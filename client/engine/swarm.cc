#include "client/engine/swarm.h"

#include <algorithm>
#include <libtorrent/error_code.hpp>
#include <libtorrent/operations.hpp>
#include <libtorrent/peer_info.hpp>

#include "client/engine/internals.h"

namespace gridtorrent::client::engine {
namespace {

/// libtorrent makes the connection within its one-second round; past this a dial is forgotten.
constexpr auto kDialForgotten = std::chrono::seconds(3);
constexpr std::size_t kManyPieces = 50'000;
/// What a lane was asked for comes within two round trips and 50 ms (RequestDepth) where nothing holds it up. So long a
/// lane that is no longer wanted is kept for it; a change of the plan shows within 3 s.
constexpr auto kDrainFor = std::chrono::seconds(1);

MonoTime now_mono() {
  return std::chrono::steady_clock::now();
}

lt::download_priority_t priority_of(int turn) {
  static_assert(static_cast<std::uint8_t>(lt::top_priority) - Turns::kAnybodys ==
                static_cast<std::uint8_t>(lt::default_priority));
  return lt::download_priority_t(static_cast<std::uint8_t>(static_cast<std::uint8_t>(lt::top_priority) - turn));
}

}  // namespace

Swarm::Swarm(const TransferId& id, const NodeId& self, const lt::sha1_hash& info_hash, bool tls,
             EngineListener& listener, const NodeParts& parts)
    : id_(id),
      self_(self),
      tls_(tls),
      listener_(listener),
      loop_(parts.loop),
      rates_(parts.rates),
      prover_(parts.prover),
      congestion_controls_(parts.congestion_controls),
      requests_(loop_, rates_) {
  std::ranges::copy(info_hash, info_hash_.begin());
}

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
      link.last_dial.reset();
      if (active && !key.first.is_nil() && key.second.empty()) move_towards_plan(key.first, link, orders, now_mono());
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

void Swarm::tell_of_completion() {
  Orders orders;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& lane : lanes_) {
      if (lane->greeted) orders.send.emplace_back(lane, std::vector<char>(kHaveAll.begin(), kHaveAll.end()));
    }
  }
  carry_out(orders);
}

void Swarm::set_plan(const LanePlan& plan) {
  Orders orders;
  {
    const std::lock_guard lock(mutex_);
    const MonoTime now = now_mono();
    revision_ = plan.revision;
    report_.plan_revision = plan.revision;
    fetching_ = plan.fetching;
    keys_ = plan.keys;
    for (auto& [key, link] : links_) {
      if (std::ranges::none_of(plan.peers, [&](const PeerPlan& p) { return p.node == key.first; })) {
        link.leave_plan();
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

void Swarm::tick() {
  Orders orders;
  {
    const std::lock_guard lock(mutex_);
    const MonoTime now = now_mono();
    const double seconds = last_tick_ == MonoTime{} ? 0 : std::chrono::duration<double>(now - last_tick_).count();
    last_tick_ = now;
    for (const auto& lane : lanes_) measure(*lane, seconds);
    if (tls_) check_rights(orders, now);
    exchange_proofs(orders, now);
    check_strangers(orders, now);
    look_for_silence(orders, now);
    check_bad_pieces(orders, now);
    forget_failures(now);
    for (auto& [key, link] : links_) {
      if (key.first.is_nil()) continue;
      ask_for_lanes(key, link, orders);
      if (!key.second.empty()) continue;
      if (active_) move_towards_plan(key.first, link, orders, now);
      ask_for_congestion_control(key.first, link, orders);
      apply_request_depth(key.first, link);
    }
    drain(orders, now);
    grant_congestion_controls(orders);
    grow_receive_buffers();
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
  for (const auto& lane : lanes_) sockets.insert(lane->socket->descriptor());
}

void Swarm::add_lanes(std::map<PeerKey, std::vector<std::shared_ptr<Lane>>>& lanes) const {
  const std::lock_guard lock(mutex_);
  for (const auto& lane : lanes_) {
    if (lane->state == LaneState::kOpen && (!lane->node.is_nil() || lane->foreign))
      lanes[key_of(*lane)].push_back(lane);
  }
}

PeerKey Swarm::key_of(const Lane& lane) {
  if (!lane.node.is_nil() && (lane.proven || lane.outgoing)) return {lane.node, ""};
  return {lane.node, lane.remote.address().to_string()};
}

bool Swarm::acts_for(const Lane& lane, const NodeId& node) {
  return lane.node == node && !node.is_nil() && (lane.proven || lane.outgoing);
}

NodeLink* Swarm::link_of(const Lane& lane) {
  if (lane.node.is_nil() && !lane.foreign) return nullptr;
  NodeLink& link = links_[key_of(lane)];
  if (link.address.empty()) link.address = lane.remote.address().to_string();
  return &link;
}

std::pair<NodeLink*, DialTarget*> Swarm::target_of(const Lane& lane) {
  NodeLink* link = lane.outgoing ? link_of(lane) : nullptr;
  return {link, link == nullptr ? nullptr : link->find(lane.remote.address().to_string(), lane.remote.port())};
}

int Swarm::open_lanes(const PeerKey& key) const {
  return static_cast<int>(std::ranges::count_if(
      lanes_, [&](const auto& lane) { return key_of(*lane) == key && lane->state == LaneState::kOpen; }));
}

int Swarm::outgoing_lanes(const NodeId& node) const {
  return static_cast<int>(std::ranges::count_if(lanes_, [&](const auto& lane) {
    return lane->node == node && lane->outgoing && lane->state != LaneState::kClosing && !lane->silent && !lane->drains;
  }));
}

int Swarm::in_place_of_ours(const NodeId& node, const NodeLink& link, MonoTime now) const {
  std::vector<LaneStanding> lanes;
  for (const auto& lane : lanes_) {
    if (lane->node == node) lanes.push_back(lane->standing(now));
  }
  const bool by_rule = link.plan && link.plan->dial && link.plan->by_rule && !complete_;
  return lanes_in_place_of_ours(lanes, by_rule);
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
  state.peer_is_complete = link.has_all(now);
  state.held_back = now < link.held_until;
  state.peer_wants = link.peer_wants;
  state.peer_grant = link.peer_grant;
  state.endpoints = link.usable_endpoints();
  state.outgoing = outgoing_lanes(node) + pending;
  state.inbound_open = in_place_of_ours(node, link, now);
  state.gives_way = link.gives_way(state.outgoing, state.inbound_open, self_ < node, now);
  const int target = outgoing_target(state);
  const Contact contact = contact_with(node);
  if (target > state.outgoing) state.outgoing += keep_draining(node, target - state.outgoing);
  const int due = dials_due(target - state.outgoing, contact, link.last_dial, now);
  if (due > 0 && dial(node, link, due, orders, now) == 0 && contact == Contact::kSilent) free_an_endpoint(node, orders);
  if (target < state.outgoing) drop(node, target, orders, now);

  const bool wanted = link.plan && link.plan->lanes > 0 && !(complete_ && link.has_all(now));
  const bool silent = wanted && contact == Contact::kSilent;
  link.lanes_silent_for = silent ? lanes_quiet_for(node) : std::chrono::milliseconds(0);
  if (!wanted || contact == Contact::kAnswers) {
    link.without_lane_since.reset();
  } else if (!link.without_lane_since) {
    link.without_lane_since = now;
  }
}

void Swarm::apply_request_depth(const NodeId& node, const NodeLink& link) {
  for (const auto& lane : lanes_) {
    if (lane->node == node) lane->planned_blocks = link.plan ? link.plan->outstanding_blocks : 0;
  }
}

int Swarm::dial(const NodeId& node, NodeLink& link, int count, Orders& orders, MonoTime now) {
  int dialled = 0;
  std::vector<DialCandidate> candidates;
  for (const auto& target : link.targets) {
    DialCandidate candidate;
    candidate.failures = target.failures;
    candidate.address_failures = link.address_failures(target.endpoint.address);
    candidate.waiting =
        now < target.not_before || now < target.held_until || link.address_rests(target.endpoint.address, now);
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
    target.dialled = link.last_dial = now;
    orders.dial.emplace_back(address, target.endpoint.port);
    ++dialled;
  }
  return dialled;
}

/// Lanes that carry something drain; the others end.
void Swarm::drop(const NodeId& node, int keep, Orders& orders, MonoTime now) {
  // Unfinished ones first, then silent ones, then the youngest.
  std::vector<std::shared_ptr<Lane>> candidates;
  for (const auto& lane : lanes_) {
    if (lane->node == node && lane->outgoing && lane->state != LaneState::kClosing && !lane->drains)
      candidates.push_back(lane);
  }
  std::ranges::reverse(candidates);
  std::ranges::stable_partition(candidates, [](const auto& lane) { return lane->silent; });
  std::ranges::stable_partition(candidates, [](const auto& lane) { return lane->state != LaneState::kOpen; });
  const int count = static_cast<int>(candidates.size()) - keep;
  for (int i = 0; i < count; ++i) {
    const auto& lane = candidates[static_cast<std::size_t>(i)];
    if (lane->state != LaneState::kOpen || lane->silent) {
      orders.close.push_back(lane);
    } else {
      lane->drains = true;
      lane->drains_since = now;
    }
  }
}

/// The plan wants more lanes again: those that were to end stay. Returns how many.
int Swarm::keep_draining(const NodeId& node, int most) {
  int kept = 0;
  for (const auto& lane : lanes_) {
    if (kept >= most) break;
    if (lane->node != node || !lane->drains || lane->silent || lane->state != LaneState::kOpen) continue;
    lane->drains = false;
    ++kept;
  }
  return kept;
}

/// Network thread. Ends those that have drained, or that the other end keeps waiting.
void Swarm::drain(Orders& orders, MonoTime now) {
  for (const auto& lane : lanes_) {
    if (lane->state != LaneState::kOpen) continue;
    set_asks(lane->peer, !lane->drains);
    if (!lane->drains) continue;
    if (lane->outstanding_blocks == 0 || lane->silent || now - lane->drains_since >= kDrainFor)
      orders.close.push_back(lane);
  }
}

void Swarm::ask_for_lanes(const PeerKey& key, NodeLink& link, Orders& orders) {
  const auto node = links_.find({key.first, ""});
  const PeerPlan* const plan = node != links_.end() && node->second.plan ? &*node->second.plan : nullptr;
  const int want = lanes_to_ask(active_ && plan != nullptr, plan != nullptr && plan->ask,
                                plan == nullptr ? 0 : plan->lanes, complete_);
  if (link.asked.value_or(0) == want) return;
  const auto found = std::ranges::find_if(lanes_, [&](const auto& lane) {
    return lane->greeted && key_of(*lane) == key && lane->state == LaneState::kOpen && !lane->silent &&
           lane->lanes_id != 0;
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
    return link != links_.end() && link->second.seen_complete;
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
