#include "client/core/dialling.h"

#include <algorithm>
#include <set>

namespace gridtorrent::client {
namespace {

bool unreachable(Reachability reachability) {
  return reachability == Reachability::kUnreachable;
}

PairFacts facts_of(const DialFacts& facts, const PeerInfo& peer) {
  return {facts.self, peer.node, facts.wants_data, peer.wants_data, facts.self_reachability, peer.reachability};
}

std::vector<LaneEndpoint> usable_endpoints(const PeerInfo& peer, bool tls) {
  std::vector<LaneEndpoint> usable;
  for (const auto& endpoint : peer.endpoints) {
    if (endpoint.tls == tls) usable.push_back(endpoint);
  }
  return usable;
}

/// "on alpha 'ufw allow 50000:50003/tcp'": its first ports in a row, since one that is open would do. Empty where none
/// is known.
std::string way_to_open(const ClosedNode& node) {
  std::set<int> ports;
  for (const auto& endpoint : node.endpoints) ports.insert(endpoint.port);
  if (ports.empty()) return "";
  const int first = *ports.begin();
  int last = first;
  while (ports.contains(last + 1)) ++last;
  const std::string range = std::to_string(first) + (last > first ? ":" + std::to_string(last) : "");
  return "on " + node.name + " 'ufw allow " + range + "/tcp'";
}

PeerPlan peer_plan(const DialFacts& facts, const DialPeer& peer) {
  PeerPlan plan;
  plan.node = peer.info.node;
  plan.endpoints = usable_endpoints(peer.info, facts.tls);
  plan.dial = dials_now(facts_of(facts, peer.info), peer);
  plan.ask = asks_for_lanes(plan.dial, peer);
  plan.by_rule = who_dials(facts_of(facts, peer.info)) == Dialler::kSelf;
  return plan;
}

/// Where this node only serves.
void plan_callers(const DialFacts& facts, LanePlan& plan) {
  for (const auto& peer : facts.peers) {
    if (peer.info.node == facts.self || peer.info.node.is_nil() || !peer.info.wants_data) continue;
    if (peer.outgoing || dials_now(facts_of(facts, peer.info), peer)) plan.peers.push_back(peer_plan(facts, peer));
  }
  const auto dialled = std::ranges::count_if(plan.peers, &PeerPlan::dial);
  plan.reason = dialled == 0 ? "seeding: those who want data dial"
                             : "seeding: dialling " + std::to_string(dialled) + " that cannot be reached by others";
}

void plan_sources(const DialFacts& facts, const Plan& wish, LanePlan& plan) {
  int left = kMaxLanesInAll;
  for (const PeerShare& share : wish.peers) {
    const auto found =
        std::ranges::find_if(facts.peers, [&](const DialPeer& peer) { return peer.info.node == share.node; });
    if (found == facts.peers.end() || share.node == facts.self || share.node.is_nil()) continue;
    if (std::ranges::any_of(plan.peers, [&](const PeerPlan& peer) { return peer.node == share.node; })) continue;
    const int lanes = std::clamp(share.lanes, 0, std::min(kMaxLanesPerPeer, left));
    left -= lanes;
    PeerPlan& planned = plan.peers.emplace_back(peer_plan(facts, *found));
    planned.lanes = lanes;
    planned.outstanding_blocks = std::max(share.outstanding_blocks, 0);
    planned.congestion_control = share.congestion_control;
    planned.congestion_lanes = std::max(share.congestion_lanes, 0);
  }
  plan.reason = wish.reason.text;
}

}  // namespace

Dialler who_dials(const PairFacts& facts) {
  if (!facts.self_wants && !facts.peer_wants) return Dialler::kNobody;
  const bool self_by_rule = facts.self_wants && facts.peer_wants ? facts.self < facts.peer : facts.self_wants;
  const bool self_hidden = unreachable(facts.self_reachability), peer_hidden = unreachable(facts.peer_reachability);
  if (self_by_rule && peer_hidden && !self_hidden) return Dialler::kPeer;
  if (!self_by_rule && self_hidden && !peer_hidden) return Dialler::kSelf;
  return self_by_rule ? Dialler::kSelf : Dialler::kPeer;
}

bool without_path(const PairFacts& facts) {
  return (facts.self_wants || facts.peer_wants) && unreachable(facts.self_reachability) &&
         unreachable(facts.peer_reachability);
}

std::string no_path_message(const ClosedNode& self, const ClosedNode& peer) {
  std::string ways = way_to_open(self);
  const std::string other = way_to_open(peer);
  if (!ways.empty() && !other.empty()) ways += ", or ";
  ways += other;
  return "no path to " + peer.name + ": neither " + peer.name + " nor this node, " + self.name + ", can be dialled" +
         (ways.empty() ? "" : "; open the ports of one of them: " + ways + " (behind NAT: forward them)");
}

bool dials_now(const PairFacts& facts, const DialPeer& peer) {
  switch (who_dials(facts)) {
    case Dialler::kNobody:
      return false;
    case Dialler::kSelf:
      return !(peer.incoming_carries && !peer.outgoing && peer.no_outgoing_for >= kFallbackAfter);
    case Dialler::kPeer:
      if (peer.incoming) return false;
      return peer.outgoing || peer.nothing_for >= kFallbackAfter;
  }
  return false;
}

bool asks_for_lanes(bool dials, const DialPeer& peer) {
  const bool stands = peer.incoming || peer.incoming_unproven;
  return !dials || (stands && !peer.outgoing && peer.no_outgoing_for >= kFallbackAfter);
}

LanePlan make_lane_plan(const DialFacts& facts, const Plan& wish) {
  LanePlan plan;
  for (const auto& peer : facts.peers) {
    if (peer.info.node == facts.self || peer.info.node.is_nil()) continue;
    if (!facts.tls && peer.info.key) plan.keys[peer.info.node] = *peer.info.key;
    if (facts.wants_data && peer.info.wants_data) plan.fetching.push_back(peer.info.node);
  }
  if (facts.wants_data) {
    plan_sources(facts, wish, plan);
  } else {
    plan_callers(facts, plan);
  }
  std::ranges::sort(plan.peers, {}, &PeerPlan::node);
  std::ranges::sort(plan.fetching);
  return plan;
}

}  // namespace gridtorrent::client
