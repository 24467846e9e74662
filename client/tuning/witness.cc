#include "client/tuning/witness.h"

#include <algorithm>

#include "client/tuning/start.h"

namespace gridtorrent::client::tuning {
namespace {

/// Its lanes and its rate are what somebody asked for, not what the path has use for.
bool asked_for(const ControllerInput& input, const Plan& plan) {
  return input.lanes_wish > 0 || input.limit_bits_per_s > 0 || input.target_bits_per_s > 0 ||
         input.floor_bits_per_s > 0 || input.deadline || input.mode != TuningMode::kBalanced ||
         plan.limit_bits_per_s > 0;
}

bool limited_here(Limit limit) {
  return limit == Limit::kTarget || limit == Limit::kCap || limit == Limit::kReceiverCpu || limit == Limit::kDisk;
}

bool shared(const ControllerInput& input, const NodeId& node) {
  return std::ranges::any_of(input.others, [&](const OtherTransfer& other) {
    return other.id != input.transfer && std::ranges::find(other.sources, node) != other.sources.end();
  });
}

}  // namespace

bool worth_remembering(std::chrono::duration<double> settled, std::chrono::duration<double> elapsed, bool whole) {
  return settled >= kRemembered || (whole && elapsed >= kShortest && 2 * settled >= elapsed);
}

void PathWitness::look(const ControllerInput& input, const Plan& plan, const Findings& findings) {
  const Seconds time =
      looked_ ? std::clamp<Seconds>(input.now - *looked_, Seconds(0), Seconds(kLookCounts)) : Seconds(0);
  looked_ = input.now;
  elapsed_ += time;
  if (!bytes_) bytes_ = input.bytes_left;
  for (const auto& share : plan.peers) {
    Source& source = sources_[share.node];
    if (source.lanes != share.lanes || source.asked != share.congestion_control) source.changed = input.now;
    source.lanes = share.lanes;
    source.asked = share.congestion_control;
  }
  if (asked_for(input, plan) || limited_here(findings.limit)) return;
  for (const auto& found : findings.sources) {
    const auto peer = std::ranges::find(input.peers, found.node, &PeerSample::node);
    if (peer == input.peers.end() || !peer->complete || peer->fetches || shared(input, found.node)) continue;
    if (found.paced_bits_per_s > 0 || found.bits_per_s == 0) continue;
    note(input, *peer, found, time, findings);
  }
}

void PathWitness::note(const ControllerInput& input, const PeerSample& peer, const SourceFindings& found, Seconds time,
                       const Findings& findings) {
  const auto known = sources_.find(found.node);
  if (known == sources_.end() || known->second.lanes == 0) return;
  Source& source = known->second;
  if (input.now - source.changed < kUnsettled) return;
  source.settled += time;
  source.bits += static_cast<double>(found.bits_per_s) * time.count();
  source.total_bits += static_cast<double>(findings.bits_per_s) * time.count();
  source.losses += found.loss_events_per_segment * time.count();
  source.limits[found.held_by] += time.count();
  PathFacts& last = source.last;
  last.node = found.node;
  if (!peer.network.empty()) last.network = peer.network;
  last.congestion_control = found.congestion_control;
  last.asked = !source.asked.empty() && found.congestion_control.starts_with(source.asked);
  last.round_trip = found.least_round_trip;
  last.long_transfer = bytes_.value_or(0) >= kLongBytes;
  last.lanes = source.lanes;
  last.sources = static_cast<int>(
      std::ranges::count_if(findings.sources, [](const SourceFindings& one) { return one.bits_per_s > 0; }));
  last.best_bits_per_s = findings.best_bits_per_s;
  last.lane_bits_per_s = found.long_run_lane_bits_per_s;
}

PathFacts PathWitness::facts_of(const Source& source) const {
  PathFacts facts = source.last;
  const double seconds = source.settled.count();
  facts.bits_per_s = static_cast<std::uint64_t>(source.bits / seconds);
  facts.total_bits_per_s = static_cast<std::uint64_t>(source.total_bits / seconds);
  facts.loss_events_per_segment = source.losses / seconds;
  facts.limit = std::ranges::max_element(source.limits, {}, [](const auto& limit) { return limit.second; })->first;
  return facts;
}

std::vector<PathFacts> PathWitness::facts(bool whole) const {
  std::vector<PathFacts> all;
  for (const auto& [node, source] : sources_) {
    if (source.settled.count() > 0 && worth_remembering(source.settled, elapsed_, whole))
      all.push_back(facts_of(source));
  }
  return all;
}

void PathWitness::forget(const std::optional<NodeId>& node) {
  for (auto& [seeder, source] : sources_) {
    if (node && seeder != *node) continue;
    Source anew;
    anew.lanes = source.lanes;
    anew.asked = source.asked;
    anew.changed = source.changed;
    source = anew;
  }
}

std::optional<PathFacts> PathWitness::so_far(const NodeId& node) const {
  const auto known = sources_.find(node);
  if (known == sources_.end() || known->second.settled < kTellOthers) return std::nullopt;
  return facts_of(known->second);
}

}  // namespace gridtorrent::client::tuning
