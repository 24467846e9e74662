#include "client/engine/lane_mover.h"

#include <algorithm>
#include <libtorrent/address.hpp>
#include <utility>

#include "client/engine/congestion_grants.h"
#include "client/engine/wire.h"

namespace gridtorrent::client::engine {
namespace {

/// libtorrent makes the connection within its one-second round; past this a dial is forgotten.
constexpr auto kDialForgotten = std::chrono::seconds(3);
/// What a lane was asked for comes within two round trips and 50 ms (RequestDepth) where nothing holds it up. So long a
/// lane that is no longer wanted is kept for it; a change of the plan shows within 3 s.
constexpr auto kDrainFor = std::chrono::seconds(1);
/// A lane that the peer ended sooner counts as a failed dial, so that refusals are not redialled hot.
constexpr auto kShortLife = std::chrono::seconds(5);
/// So long after it was asked for blocks a lane that is acknowledged and brings not one byte counts as mute: large
/// packets vanish on its path (RFC 2923), or its program does not answer. A disk usually recovers sooner.
constexpr auto kMuteAfter = std::chrono::seconds(20);
/// What is written to a lane waits in memory until its other end reads. Data stops at two MiB (settings.cc); answers to
/// messages do not, and who never reads could ask for any number of them. So a lane ends where so much waits.
constexpr int kMostUnread = 4 << 20;
/// libtorrent's round is not exactly a second.
constexpr std::chrono::milliseconds kRoundJitter{200};

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

std::string refusal_of(const NodeId& node, const std::string& wish, const std::vector<std::string>& granted) {
  return node.str() + " does not send with congestion control \"" + wish + "\": it grants " + listed(granted) +
         ". Its owner can allow it with gridtorrentd --lane-congestion-control " + wish;
}

}  // namespace

void LaneMover::look_for_silence() {
  LaneTable::ByPeer by_node;
  for (const auto& lane : table_.lanes()) {
    if (lane->state == LaneState::kOpen && wants_keep_alive(lane->liveness, lane->outstanding_blocks > 0)) {
      orders_.send.emplace_back(lane, std::vector<char>(4, '\0'));  // BEP 3: a message of length 0
    }
    if (!lane->node.is_nil() && lane->state != LaneState::kClosing) by_node[key_of(*lane)].push_back(lane);
    end_unanswered_dial(lane);
    end_mute(lane);
    if (lane->unread_bytes > kMostUnread) orders_.close.push_back(lane);
  }
  for (const auto& [key, lanes] : by_node) {
    std::vector<LaneStanding> standings;
    for (const auto& lane : lanes) standings.push_back(lane->standing(now_));
    for (const std::size_t i : silent_lanes_to_end(standings)) orders_.close.push_back(lanes[i]);
  }
}

/// TLS handshakes take their time on a busy machine; TCP's does not, but on a long path.
void LaneMover::end_unanswered_dial(const std::shared_ptr<Lane>& lane) {
  if (!lane->outgoing || lane->state != LaneState::kConnecting) return;
  const auto patience = lane->patient ? kPatientConnect : lane->unanswered ? kConnectTimeout : kTlsTimeout;
  if (now_ - lane->opened < patience - kRoundJitter) return;
  if (auto [link, target] = table_.target_of(*lane); target != nullptr) {
    dial_went_wrong(*lane, *link, *target, lane->unanswered ? "no answer" : "no TLS handshake", lane->unanswered);
  }
  orders_.close.push_back(lane);
}

/// Where the node has another address: that one may be another path.
void LaneMover::end_mute(const std::shared_ptr<Lane>& lane) {
  if (lane->state != LaneState::kOpen || lane->outstanding_blocks == 0 || lane->received_bytes > 0) {
    lane->awaits_first.reset();
    return;
  }
  if (!lane->awaits_first) lane->awaits_first = now_;
  if (!lane->outgoing || now_ - *lane->awaits_first < kMuteAfter) return;
  auto [link, target] = table_.target_of(*lane);
  if (target == nullptr || !link->has_another_address(target->endpoint.address)) return;
  target->was_mute = true;
  link->dial_failed(*target, "it is connected, and no data comes", now_);
  orders_.close.push_back(lane);
}

void LaneMover::dial_went_wrong(const Lane& lane, NodeLink& link, DialTarget& target, const std::string& error,
                                bool unanswered) {
  if (unanswered && table_.contact_with(lane.node) != Contact::kAnswers) {
    link.dial_unanswered(target, error, now_);
  } else {
    link.dial_failed(target, error, now_);
  }
}

void LaneMover::lane_ended(const Lane& lane, const std::string& error, bool unanswered) {
  NodeLink* const link = table_.settle(lane, now_);
  if (link == nullptr || !lane.outgoing || lane.state == LaneState::kClosing) return;
  DialTarget* const target = table_.target_of(lane).second;
  if (target == nullptr) return;
  // What was asked for and never came is no success.
  const bool mute = lane.awaits_first && now_ - *lane.awaits_first >= kMuteAfter;
  const bool lived = lane.state == LaneState::kOpen && !mute && (lane.delivered || now_ - lane.since >= kShortLife);
  if (lived || (facts_.complete && lane.complete)) return;
  dial_went_wrong(lane, *link, *target, error, unanswered && lane.state == LaneState::kConnecting);
}

void LaneMover::forget_failures() {
  for (const auto& lane : table_.lanes()) {
    if (!lane->outgoing || lane->silent() || lane->state != LaneState::kOpen || now_ - lane->since < kShortLife)
      continue;
    if (lane->awaits_first) continue;  // it may be mute
    DialTarget* const target = table_.target_of(*lane).second;
    if (target != nullptr && target->failed <= lane->opened) target->failures = 0;
  }
}

void LaneMover::follow_plan() {
  for (auto& [key, link] : table_.links()) {
    if (key.first.is_nil()) continue;
    ask_for_lanes(key, link);
    if (!key.second.empty()) continue;
    if (facts_.active) move(key.first, link);
    ask_for_congestion_control(key.first, link);
    apply_request_depth(key.first, link);
  }
}

void LaneMover::move_towards_plan(const NodeId& node) {
  if (facts_.active) move(node, table_.link_of(node));
}

void LaneMover::move_towards_plan() {
  if (!facts_.active) return;
  for (auto& [key, link] : table_.links()) {
    if (!key.first.is_nil() && key.second.empty()) move(key.first, link);
  }
}

DialState LaneMover::state_of(const NodeId& node, NodeLink& link) const {
  int pending = 0;
  for (auto& target : link.targets) {
    if (target.dialled && now_ - *target.dialled > kDialForgotten) target.dialled.reset();
    if (target.dialled) ++pending;
  }
  DialState state;
  state.planned = link.plan.has_value();
  if (link.plan) {
    state.plan_dials = link.plan->dial;
    state.plan_lanes = link.plan->lanes;
  }
  state.we_are_complete = facts_.complete;
  state.peer_is_complete = link.has_all(now_);
  state.held_back = now_ < link.held_until;
  state.peer_wants = link.peer_wants;
  state.peer_grant = link.peer_grant;
  state.has_endpoint = !link.targets.empty();
  state.outgoing = table_.outgoing_lanes(node) + pending;
  const bool by_rule = link.plan && link.plan->dial && link.plan->by_rule && !facts_.complete;
  state.inbound_open = table_.in_place_of_ours(node, by_rule, now_);
  state.gives_way = link.gives_way(state.outgoing, state.inbound_open, facts_.self < node, now_);
  return state;
}

void LaneMover::move(const NodeId& node, NodeLink& link) {
  DialState state = state_of(node, link);
  const int target = outgoing_target(state);
  const Contact contact = table_.contact_with(node);
  if (target > state.outgoing) state.outgoing += keep_draining(node, target - state.outgoing);
  const int due = dials_due(target - state.outgoing, contact, link.last_dial, now_);
  if (due > 0) dial(node, link, due);
  if (target < state.outgoing) drop(node, target);
  note_contact(node, link, contact);
}

void LaneMover::note_contact(const NodeId& node, NodeLink& link, Contact contact) const {
  const bool wanted = link.plan && link.plan->lanes > 0 && !(facts_.complete && link.has_all(now_));
  const bool silent = wanted && contact == Contact::kSilent;
  link.lanes_silent_for = silent ? table_.quiet_for(node) : std::chrono::milliseconds(0);
  if (!wanted || contact == Contact::kAnswers) {
    link.without_lane_since.reset();
  } else if (!link.without_lane_since) {
    link.without_lane_since = now_;
  }
}

/// libtorrent takes a second dial to an endpoint only once it lists the first one under another port.
DialCandidate LaneMover::candidate_of(const NodeId& node, const DialTarget& target) const {
  DialCandidate candidate;
  candidate.is_dialled = target.dialled.has_value();
  for (const auto& lane : table_.lanes()) {
    if (!lane->outgoing || lane->node != node || lane->remote.port() != target.endpoint.port ||
        lane->remote.address().to_string() != target.endpoint.address) {
      continue;
    }
    if (lane->state == LaneState::kOpen && !lane->silent()) ++candidate.lanes;
    candidate.is_dialled = candidate.is_dialled || lane->listed_port == 0;
  }
  return candidate;
}

void LaneMover::dial(const NodeId& node, NodeLink& link, int count) {
  std::vector<DialCandidate> candidates;
  std::vector<std::string> addresses;
  for (const auto& target : link.targets) {
    DialCandidate candidate = candidate_of(node, target);
    const auto address = std::ranges::find(addresses, target.endpoint.address);
    candidate.address = static_cast<std::size_t>(address - addresses.begin());
    if (address == addresses.end()) addresses.push_back(target.endpoint.address);
    candidate.failures = target.failures;
    candidate.address_failures = link.address_failures(target.endpoint.address);
    candidate.waiting =
        now_ < target.not_before || now_ < target.held_until || link.address_rests(target.endpoint.address, now_);
    candidates.push_back(candidate);
  }
  for (const std::size_t i : choose_endpoints(candidates, count)) {
    DialTarget& target = link.targets[i];
    lt::error_code error;
    const lt::address address = lt::make_address(target.endpoint.address, error);
    if (error) {
      link.dial_failed(target, "no numeric address", now_);
      continue;
    }
    target.dialled = link.last_dial = now_;
    orders_.dial.emplace_back(address, target.endpoint.port);
  }
}

/// Lanes that carry something drain; the others end.
void LaneMover::drop(const NodeId& node, int keep) {
  // Unfinished ones first, then silent ones, then the youngest.
  std::vector<std::shared_ptr<Lane>> candidates;
  for (const auto& lane : table_.lanes()) {
    if (lane->node == node && lane->outgoing && lane->state != LaneState::kClosing && !lane->drains)
      candidates.push_back(lane);
  }
  std::ranges::reverse(candidates);
  std::ranges::stable_partition(candidates, [](const auto& lane) { return lane->silent(); });
  std::ranges::stable_partition(candidates, [](const auto& lane) { return lane->state != LaneState::kOpen; });
  const int count = static_cast<int>(candidates.size()) - keep;
  for (int i = 0; i < count; ++i) {
    const auto& lane = candidates[static_cast<std::size_t>(i)];
    if (lane->state != LaneState::kOpen || lane->silent()) {
      orders_.close.push_back(lane);
    } else {
      lane->drains = true;
      lane->drains_since = now_;
    }
  }
}

/// The plan wants more lanes again: those that were to end stay. Returns how many.
int LaneMover::keep_draining(const NodeId& node, int most) {
  int kept = 0;
  for (const auto& lane : table_.lanes()) {
    if (kept >= most) break;
    if (lane->node != node || !lane->drains || lane->silent() || lane->state != LaneState::kOpen) continue;
    lane->drains = false;
    lane->taken_back = true;
    ++kept;
  }
  return kept;
}

bool LaneMover::is_planned(const Lane& lane) const {
  const NodeLink* const link = table_.find(lane.node);
  return link != nullptr && link->plan && link->plan->lanes > 0;
}

bool LaneMover::is_served() const {
  return !facts_.complete && std::ranges::any_of(table_.lanes(), [&](const auto& lane) {
    return lane->state == LaneState::kOpen && lane->greeted && !lane->drains && !lane->silent() && is_planned(*lane);
  });
}

/// A seeder that no lane stood to for 2 s dials by itself, and cannot know that it was left out.
void LaneMover::let_rest(const std::shared_ptr<Lane>& lane, bool served) {
  const bool rests = served && lane->greeted && lane->complete && !is_planned(*lane);
  if (rests == lane->rests) return;
  lane->rests = rests;
  if (rests) {
    orders_.send.emplace_back(lane, std::vector<char>(kNotInterested.begin(), kNotInterested.end()));
  } else if (!facts_.complete) {
    lane->taken_back = true;
  }
}

void LaneMover::lane_unchoked(const std::shared_ptr<Lane>& lane) {
  if (lane->state == LaneState::kOpen) let_rest(lane, is_served());
}

void LaneMover::drain() {
  const bool served = is_served();
  for (const auto& lane : table_.lanes()) {
    if (lane->state != LaneState::kOpen) continue;
    let_rest(lane, served);
    orders_.asks.emplace_back(lane, lane->is_asked());
    // libtorrent asks for more only as something comes, and a lane that ran dry before it was taken back gets nothing.
    // This has an UNCHOKE come.
    if (lane->is_asked() && std::exchange(lane->taken_back, false))
      orders_.send.emplace_back(lane, std::vector<char>(kInterested.begin(), kInterested.end()));
    if (!lane->drains) continue;
    if (lane->outstanding_blocks == 0 || lane->silent() || now_ - lane->drains_since >= kDrainFor)
      orders_.close.push_back(lane);
  }
}

void LaneMover::ask_for_lanes(const PeerKey& key, NodeLink& link) {
  const NodeLink* const node = table_.find(key.first);
  const PeerPlan* const plan = node != nullptr && node->plan ? &*node->plan : nullptr;
  const int want = lanes_to_ask(facts_.active && plan != nullptr, plan != nullptr && plan->ask,
                                plan == nullptr ? 0 : plan->lanes, facts_.complete);
  if (link.asked.value_or(0) == want) return;
  const auto found = std::ranges::find_if(table_.lanes(), [&](const auto& lane) {
    return lane->greeted && key_of(*lane) == key && lane->state == LaneState::kOpen && !lane->silent() &&
           lane->lanes_id != 0;
  });
  if (found == table_.lanes().end()) return;
  link.asked = want;
  orders_.send.emplace_back(*found, frame((*found)->lanes_id, encode_lanes(want)));
}

void LaneMover::ask_for_congestion_control(const NodeId& node, NodeLink& link) {
  const std::string wish = link.plan ? link.plan->congestion_control : std::string();
  int lanes_left = link.plan && link.plan->congestion_lanes > 0 ? link.plan->congestion_lanes : kMaxLanes;
  const Lane* refuses = nullptr;
  for (const auto& lane : table_.lanes()) {
    if (!acts_for(*lane, node) || lane->state != LaneState::kOpen || !lane->greeted || lane->drains) continue;
    const std::string wanted = lanes_left-- > 0 ? wish : "";
    const auto next = congestion_change(wanted, lane->peer_congestion_controls, lane->asked_congestion_control);
    if (next.value_or(lane->asked_congestion_control) != wanted) refuses = lane.get();
    if (!next || lane->congestion_id == 0) continue;
    lane->asked_congestion_control = *next;
    orders_.send.emplace_back(lane, frame(lane->congestion_id, encode_congestion(*next)));
  }
  if (refuses == nullptr || link.refused_congestion_control == wish) return;
  link.refused_congestion_control = wish;
  orders_.warnings.push_back(refusal_of(node, wish, refuses->peer_congestion_controls));
}

void LaneMover::apply_request_depth(const NodeId& node, const NodeLink& link) {
  for (const auto& lane : table_.lanes()) {
    if (lane->node == node) lane->planned_blocks = link.plan ? link.plan->outstanding_blocks : 0;
  }
}

}  // namespace gridtorrent::client::engine
