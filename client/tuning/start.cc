#include "client/tuning/start.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "client/tuning/bottleneck.h"
#include "client/tuning/congestion_choice.h"
#include "client/tuning/sources.h"

namespace gridtorrent::client::tuning {
namespace {

/// Of two counts of which 0 says nothing.
std::uint64_t parts(std::uint64_t whole, std::uint64_t part) {
  return part == 0 ? 0 : whole / part + (whole % part == 0 ? 0 : 1);
}

int most_at_start(const StartFacts& facts) {
  auto most = static_cast<std::uint64_t>(most_in_all(facts));
  if (facts.limit_bits_per_s > 0) {
    most = std::min(most, std::max<std::uint64_t>(parts(facts.limit_bits_per_s, kLeastBitsPerLane), kFewLanes));
  }
  if (facts.host.tcp_bytes > 0 && facts.host.lane_bytes > 0) {
    most = std::min(most, std::max<std::uint64_t>(facts.host.tcp_bytes / facts.host.lane_bytes, kFewLanes));
  }
  return static_cast<int>(most);
}

/// What this node's largest window lets one lane carry; 0: not known.
double lane_bits_per_s(const StartSource& source, const HostFacts& host) {
  const double seconds = std::chrono::duration<double>(source.round_trip).count();
  return seconds > 0 ? static_cast<double>(host.lane_bytes) * 8 / seconds : 0;
}

int lanes_under_bbr(const StartSource& source, const StartFacts& facts) {
  const double lane = lane_bits_per_s(source, facts.host);
  if (source.round_trip < kNearBelow || lane <= 0) return kFewLanes;
  if (lane >= kUnheldBitsPerS) return kBbrLanes;
  if (facts.sources.size() > 1) return kFewLanes;
  return static_cast<int>(std::max<double>(std::min(std::ceil(kUnheldBitsPerS / lane), double{kFarLanes}), kFewLanes));
}

/// Few, but not so few that this node's windows cannot carry what a person asked for at least.
int polite_lanes(const StartSource& source, const StartFacts& facts) {
  const int few = std::min(even_lanes(0, facts.sources.size()), kFewLanes);
  const double lane = lane_bits_per_s(source, facts.host);
  if (lane <= 0) return few;
  const double needed = std::ceil(facts.floor_bits_per_s / static_cast<double>(facts.sources.size()) / lane);
  return std::max(few, static_cast<int>(std::min<double>(needed, kMaxLanesPerPeer)));
}

bool is_long(const StartSource& source, const StartFacts& facts) {
  const double lane = lane_bits_per_s(source, facts.host);
  return facts.bytes >= kLongBytes || (lane > 0 && lane * kFarLanesForLong < kUnheldBitsPerS);
}

int lanes_to(const StartSource& source, const StartFacts& facts) {
  const auto transfers = static_cast<std::uint64_t>(std::max(source.transfers, 1));
  if (source.complete && source.remembered > 0 && !facts.polite) {
    // What a path has use for in the long run fills it slowly: each lane leaves slow start with its part of it.
    const int fill = source.grants_bbr ? even_lanes(0, facts.sources.size()) : kFarLanes;
    const int least = source.path == PathKind::kFar
                          ? static_cast<int>(parts(static_cast<std::uint64_t>(fill), facts.sources.size()))
                          : 1;
    const auto lanes = static_cast<std::uint64_t>(std::clamp(source.remembered, least, kMaxLanesPerPeer));
    return static_cast<int>(parts(lanes, transfers));
  }
  const int even = even_lanes(0, facts.sources.size());
  switch (source.path) {
    case PathKind::kNear:
      return std::min(even, kFewLanes);
    case PathKind::kBbr:
      return std::min(even, lanes_under_bbr(source, facts));
    case PathKind::kUnknown:
    case PathKind::kFar:
      break;
  }
  if (!source.complete) return even;
  if (facts.polite) return polite_lanes(source, facts);
  // Where the sender grants BBR, sixteen lanes would fill the queue of a path with losses, which hides that these are
  // random; four do not, and on a path without losses they are enough.
  if (source.grants_bbr) return even;
  const int wanted = is_long(source, facts) ? kFarLanesForLong : kFarLanes;
  const std::uint64_t sharers = facts.sources.size() * transfers;
  const int part = static_cast<int>(parts(static_cast<std::uint64_t>(wanted), sharers));
  const bool several = facts.sources.size() > 1 && std::ranges::all_of(facts.sources, &StartSource::complete);
  if (!several || facts.bytes < kLongBytes) return std::max(even, part);
  return std::max({even, part, std::min(kFarLanes, kEvenLanesInAll / static_cast<int>(sharers))});
}

}  // namespace

Path path_of(const PeerSample& peer, bool asked) {
  Path path;
  std::uint32_t least = 0;
  for (const auto& lane : peer.lanes) {
    for (const auto* figures : {&lane.own, &lane.theirs}) {
      const std::uint32_t seen = *figures ? std::max((*figures)->min_rtt_us, 1U) : 0;
      const bool sampled = *figures && ((*figures)->min_rtt_us > 0 || (*figures)->srtt_us > 0);
      if (sampled) least = least == 0 ? seen : std::min(least, seen);
    }
    if (lane.theirs) path.congestion_control = lane.theirs->congestion_control;
  }
  path.round_trip = std::chrono::microseconds(least);
  if (asked && is_bbr(path.congestion_control)) path.congestion_control.clear();
  if (is_bbr(path.congestion_control)) {
    path.kind = PathKind::kBbr;
  } else if (least > 0) {
    path.kind = path.round_trip < kNearBelow ? PathKind::kNear : PathKind::kFar;
  }
  return path;
}

std::vector<int> spread(std::vector<int> lanes, int in_all) {
  int all = std::accumulate(lanes.begin(), lanes.end(), 0);
  for (; all < in_all; ++all) {
    const auto fewest = std::ranges::min_element(lanes);
    if (fewest == lanes.end() || *fewest >= kMaxLanesPerPeer) break;
    ++*fewest;
  }
  for (; all > in_all; --all) {
    // Among equals the last, which is the least welcome.
    const auto largest = std::max_element(lanes.rbegin(), lanes.rend());
    if (largest == lanes.rend() || *largest <= 1) break;
    --*largest;
  }
  return lanes;
}

/// At least `kFewLanes`, so that one port that is blocked does not cost the start.
int most_in_all(const StartFacts& facts) {
  const std::uint64_t by_bytes = std::max<std::uint64_t>(parts(facts.bytes, kLeastBytesPerLane), kFewLanes);
  return static_cast<int>(std::min(static_cast<std::uint64_t>(most_lanes(facts.host)), by_bytes));
}

std::vector<int> within_bytes(const StartFacts& facts, std::vector<int> lanes) {
  const int all = std::accumulate(lanes.begin(), lanes.end(), 0);
  return spread(std::move(lanes), std::min(all, most_in_all(facts)));
}

std::vector<int> start_lanes(const StartFacts& facts) {
  std::vector<int> lanes;
  for (const auto& source : facts.sources) lanes.push_back(lanes_to(source, facts));
  const int all = std::accumulate(lanes.begin(), lanes.end(), 0);
  return spread(std::move(lanes), std::min(all, most_at_start(facts)));
}

}  // namespace gridtorrent::client::tuning
