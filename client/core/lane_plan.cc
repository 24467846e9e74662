#include "client/core/lane_plan.h"

#include <algorithm>

namespace gridtorrent::client {
namespace {

bool unreachable(Reachability reachability) {
  return reachability == Reachability::kUnreachable;
}

PairFacts facts_of(const ControllerInput& input, const PeerInfo& peer) {
  return {input.self, peer.node, input.wants_data, peer.wants_data, input.self_reachability, peer.reachability};
}

/// A tie-breaker that differs from node to node but not from call to call.
std::uint64_t spread(const NodeId& self, const NodeId& peer) {
  std::uint64_t mixed = 1469598103934665603U;
  for (std::size_t i = 0; i < self.bytes().size(); ++i) {
    mixed = (mixed ^ static_cast<std::uint64_t>(self.bytes()[i] ^ peer.bytes()[i])) * 1099511628211U;
  }
  return mixed;
}

struct Source {
  const ControllerPeer* peer;
  std::uint64_t tie;
};

bool better(const Source& a, const Source& b) {
  const bool a_stands = a.peer->incoming || a.peer->outgoing, b_stands = b.peer->incoming || b.peer->outgoing;
  if (a_stands != b_stands) return a_stands;
  if (a.peer->info.complete != b.peer->info.complete) return a.peer->info.complete;
  return a.tie < b.tie;
}

std::vector<LaneEndpoint> usable_endpoints(const PeerInfo& peer, bool tls) {
  std::vector<LaneEndpoint> usable;
  for (const auto& endpoint : peer.endpoints) {
    if (endpoint.tls == tls) usable.push_back(endpoint);
  }
  return usable;
}

int lanes_per_peer(int wish, std::size_t peers) {
  const int count = std::max<int>(1, static_cast<int>(peers));
  if (wish > 0) return std::max(1, std::min({wish, kMaxLanesPerPeer, kMaxLanesInAll / count}));
  return std::max(1, std::min(kAutoLanesPerPeer, kAutoLanesInAll / count));
}

/// Who has many sources needs no second lane to any of them, and pieces spread faster among nodes that know many.
std::size_t most_sources(const ControllerInput& input) {
  if (input.seeders_wish > 0) return static_cast<std::size_t>(std::min(input.seeders_wish, kMaxLanesInAll));
  const int lanes = std::clamp(input.lanes_wish, 1, kMaxLanesPerPeer);
  return static_cast<std::size_t>(std::min(kAutoLanesInAll, kMaxLanesInAll / lanes));
}

std::string reason_text(const ControllerInput& input, int lanes, std::size_t sources, std::size_t dialled) {
  if (!input.wants_data) {
    return dialled == 0 ? "seeding: those who want data dial"
                        : "seeding: dialling " + std::to_string(dialled) + " that cannot be reached by others";
  }
  if (sources == 0) return "fixed: no peer has data";
  return "fixed: " + std::to_string(lanes) + (lanes == 1 ? " lane" : " lanes") + " to each of " +
         std::to_string(sources) + (sources == 1 ? " peer" : " peers") + (input.lanes_wish > 0 ? ", as asked" : "");
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

std::string relay_message(const NodeId& peer) {
  return "no path to " + peer.str() + ": needs a relay";
}

bool dials_now(const PairFacts& facts, const ControllerPeer& peer) {
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

bool asks_for_lanes(bool dials, const ControllerPeer& peer) {
  const bool stands = peer.incoming || peer.incoming_unproven;
  return !dials || (stands && !peer.outgoing && peer.no_outgoing_for >= kFallbackAfter);
}

LanePlan FixedController::plan(const ControllerInput& input) {
  std::vector<Source> sources;
  std::vector<const ControllerPeer*> callers;
  LanePlan plan;
  for (const auto& peer : input.peers) {
    if (peer.info.node == input.self || peer.info.node.is_nil()) continue;
    if (!input.tls && peer.info.key) plan.keys[peer.info.node] = *peer.info.key;
    if (input.wants_data && peer.info.wants_data) plan.fetching.push_back(peer.info.node);
    if (input.wants_data && (peer.info.complete || peer.info.wants_data || peer.info.verified_bytes > 0)) {
      sources.push_back({&peer, spread(input.self, peer.info.node)});
    } else if (!input.wants_data && peer.info.wants_data &&
               (peer.outgoing || dials_now(facts_of(input, peer.info), peer))) {
      callers.push_back(&peer);
    }
  }
  std::sort(sources.begin(), sources.end(), better);
  sources.resize(std::min(sources.size(), most_sources(input)));
  const int lanes = lanes_per_peer(input.lanes_wish, sources.size());
  const auto add = [&](const ControllerPeer& peer, int count) {
    PeerPlan wish;
    wish.node = peer.info.node;
    wish.endpoints = usable_endpoints(peer.info, input.tls);
    wish.dial = dials_now(facts_of(input, peer.info), peer);
    wish.ask = asks_for_lanes(wish.dial, peer);
    wish.by_rule = who_dials(facts_of(input, peer.info)) == Dialler::kSelf;
    wish.lanes = count;
    plan.peers.push_back(std::move(wish));
  };
  for (const auto& source : sources) add(*source.peer, lanes);
  for (const auto* caller : callers) add(*caller, 1);  // over it they ask for as many as they want
  std::sort(plan.peers.begin(), plan.peers.end(), [](const auto& a, const auto& b) { return a.node < b.node; });
  std::sort(plan.fetching.begin(), plan.fetching.end());
  const auto dialled = std::ranges::count_if(plan.peers, &PeerPlan::dial);
  plan.reason = reason_text(input, lanes, sources.size(), static_cast<std::size_t>(dialled));
  return plan;
}

}  // namespace gridtorrent::client
