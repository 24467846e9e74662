#include "client/engine/swarm.h"

#include <algorithm>
#include <libtorrent/error_code.hpp>
#include <libtorrent/operations.hpp>
#include <libtorrent/peer_info.hpp>

#include "client/engine/congestion_grants.h"
#include "client/engine/internals.h"
#include "client/engine/tcp_info.h"

namespace gridtorrent::client::engine {
namespace {

MonoTime now_mono() {
  return std::chrono::steady_clock::now();
}

std::array<std::uint8_t, 20> bytes_of(const lt::sha1_hash& info_hash) {
  std::array<std::uint8_t, 20> bytes{};
  std::ranges::copy(info_hash, bytes.begin());
  return bytes;
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
      tls_(tls),
      listener_(listener),
      loop_(parts.loop),
      rates_(parts.rates),
      congestion_controls_(parts.congestion_controls),
      requests_(loop_, rates_),
      facts_{self},
      admission_(table_, {self, bytes_of(info_hash), tls}, parts.prover),
      bad_pieces_(table_, tls),
      meter_(table_, rates_) {}

void Swarm::attach(const lt::torrent_handle& torrent) {
  const std::lock_guard lock(mutex_);
  torrent_ = torrent;
  turns_ = {};  // libtorrent's priorities are all the same again
}

void Swarm::set_active(bool active) {
  Orders orders;
  {
    const std::lock_guard lock(mutex_);
    if (active == facts_.active) return;
    facts_.active = active;
    for (auto& [key, link] : table_.links()) {
      link.without_lane_since.reset();
      link.last_dial.reset();
    }
    LaneMover(table_, facts_, now_mono(), orders).move_towards_plan();
    if (table_.lanes().empty()) divide_among_fetching(orders);
  }
  carry_out_dials(orders);
}

void Swarm::set_complete(bool complete) {
  const std::lock_guard lock(mutex_);
  facts_.complete = complete;
}

void Swarm::tell_of_completion() {
  Orders orders;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& lane : table_.lanes()) {
      if (lane->greeted) orders.send.emplace_back(lane, std::vector<char>(kHaveAll.begin(), kHaveAll.end()));
    }
  }
  carry_out(orders);
}

void Swarm::set_plan(const LanePlan& plan) {
  Orders orders;
  {
    const std::lock_guard lock(mutex_);
    revision_ = plan.revision;
    report_.plan_revision = plan.revision;
    fetching_ = plan.fetching;
    admission_.set_keys(plan.keys);
    for (auto& [key, link] : table_.links()) {
      if (std::ranges::none_of(plan.peers, [&](const PeerPlan& p) { return p.node == key.first; })) link.leave_plan();
    }
    const MonoTime now = now_mono();
    LaneMover mover(table_, facts_, now, orders);
    for (const auto& peer : plan.peers) {
      if (peer.node.is_nil() || peer.node == facts_.self) continue;
      table_.link_of(peer.node).set_plan(peer, now, tls_);
      mover.move_towards_plan(peer.node);
    }
    if (table_.lanes().empty()) divide_among_fetching(orders);
  }
  carry_out_dials(orders);
}

void Swarm::set_audience(std::shared_ptr<const Audience> audience) {
  const std::lock_guard lock(mutex_);
  admission_.set_audience(std::move(audience));
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
    LaneMover mover(table_, facts_, now, orders);
    meter_.round(now);
    admission_.check(now, orders);
    mover.look_for_silence();
    keep_listed_apart();
    bad_pieces_.judge(now, orders);
    mover.forget_failures();
    mover.follow_plan();
    mover.drain();
    grant_congestion_controls(orders);
    grow_receive_buffers();
    meter_.tell(orders);
    divide_among_fetching(orders);
    table_.forget_departed();
    publish(now);
  }
  carry_out(orders);
  requests_.go_on();
}

bool Swarm::sample() {
  Orders orders;
  bool flows = false;
  {
    const std::lock_guard lock(mutex_);
    const MonoTime now = now_mono();
    flows = meter_.sample(now, orders);
    if (flows && !facts_.complete) publish(now);
  }
  carry_out(orders);
  return flows;
}

void Swarm::refresh() {
  const std::lock_guard lock(mutex_);
  const MonoTime now = now_mono();
  meter_.refresh(now);
  publish(now);
}

void Swarm::publish(MonoTime now) {
  table_.note_shown(now);
  report_ = meter_.report(facts_.active, now);
  report_.plan_revision = revision_;
  report_.refused_lanes = admission_.refused_lanes();
}

void Swarm::add_sockets(std::set<int>& sockets) const {
  const std::lock_guard lock(mutex_);
  for (const auto& lane : table_.lanes()) sockets.insert(lane->socket->descriptor());
}

void Swarm::add_lanes(LaneTable::ByPeer& lanes) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [key, own] : table_.by_peer()) {
    for (const auto& lane : own) {
      if (lane->state == LaneState::kOpen) lanes[key].push_back(lane);
    }
  }
}

std::vector<std::string> Swarm::grants() const {
  if (congestion_controls_.empty()) return {};
  return granted_congestion_controls(congestion_controls_, allowed_congestion_controls());
}

void Swarm::grant_congestion_controls(Orders& orders) {
  const bool concerned = std::ranges::any_of(table_.lanes(), [](const auto& lane) {
    return !lane->congestion_wish.empty() || !lane->congestion_control.empty();
  });
  if (!concerned) return;
  const auto granted = grants();
  for (const auto& lane : table_.lanes()) {
    if (lane->state == LaneState::kOpen && lane->grant_congestion_control(granted)) SwarmMeter::tell(lane, orders);
  }
}

void Swarm::grow_receive_buffers() {
  const int lanes = table_.expected_lanes();
  for (const auto& lane : table_.lanes()) lane->grow_receive_buffer(lanes);
}

void Swarm::divide_among_fetching(Orders& orders) {
  if (!facts_.active || facts_.complete) return;
  std::vector<NodeId> fetching = fetching_;
  std::erase_if(fetching, [&](const NodeId& node) {
    const NodeLink* const link = table_.find(node);
    return link != nullptr && link->seen_complete;
  });
  orders.turns = turns_.change(Turns(facts_.self, fetching), wanted_.size(), table_.lanes().empty());
}

void Swarm::prioritize(const Turns& before, const Turns& now, const lt::torrent_handle& torrent) const {
  std::vector<std::pair<lt::piece_index_t, lt::download_priority_t>> priorities;
  for (std::uint32_t piece = 0; piece < wanted_.size(); ++piece) {
    const int turn = wanted_[piece] ? now.of(piece) : 0;
    if (!wanted_[piece] || turn == before.of(piece)) continue;
    priorities.emplace_back(static_cast<int>(piece), priority_of(turn));
  }
  torrent.prioritize_pieces(priorities);
}

void Swarm::carry_out(Orders& orders) {
  for (const auto& [lane, asks] : orders.asks) set_asks(lane->peer, asks);
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
  carry_out_dials(orders);
}

void Swarm::carry_out_dials(Orders& orders) {
  if (!orders.dial.empty() || orders.turns) {
    lt::torrent_handle torrent;
    {
      const std::lock_guard lock(mutex_);
      torrent = torrent_;
    }
    try {
      if (orders.turns) prioritize(orders.turns->first, orders.turns->second, torrent);
      for (const auto& endpoint : orders.dial) torrent.connect_peer(endpoint, lt::peer_info::tracker, {});
    } catch (const lt::system_error&) {
      // The torrent was removed a moment ago: there is nothing to do for it.
    }
  }
  for (const auto& warning : orders.warnings) listener_.warning(id_, warning);
}

}  // namespace gridtorrent::client::engine
