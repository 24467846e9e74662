#include "client/tuning/diagnosis.h"

#include <algorithm>
#include <cmath>

#include "client/tuning/advice.h"
#include "client/tuning/bottleneck.h"
#include "client/tuning/goal.h"
#include "client/tuning/lane_need.h"
#include "client/tuning/refinement.h"
#include "client/tuning/start.h"
#include "client/tuning/tcp_rate.h"

namespace gridtorrent::client::tuning {
namespace {

using std::chrono::microseconds;

/// Rates and shares of the last seconds; losses are rare, so they are counted over kLossSpan.
constexpr std::chrono::seconds kNow{5};
/// Before that much was seen, nothing is said.
constexpr double kLeastSeconds = 2;
/// From this part of a limit on, requests are held back: a sender that rests then says nothing.
constexpr double kNearLimit = 0.5;
/// A seeder that has data to send for less of the time than this is waited for.
constexpr double kIdle = 0.5;
/// A source's own queue, beside that of the source with the shortest one: so many times, and so much longer.
constexpr double kOwnQueue = 2;
constexpr std::chrono::milliseconds kOwnQueueLonger{3};
/// Lanes that wait for windows send what these hold in one go, and such a burst waits for those of other lanes: a queue
/// of fewer bursts than these is no full link, up to this part of a round trip. Measured with windows of 256 kB, 16
/// lanes on 400 Mbit/s and 60 ms: 3.6 ms, where a burst takes 3.8 ms.
constexpr int kBursts = 2;
constexpr int kBurstsOfRoundTrip = 4;
/// What is left is less than comes in so long: the lanes run dry, one after the other.
constexpr double kEndSeconds = 2;

/// What sources are compared with, and how far this node asks for data.
struct Surroundings {
  microseconds shortest_queue = microseconds::max();
  int lanes = 0;  ///< to all of them
  bool alone = false;
  bool held_back = false;  ///< by a limit, or about to be
};

Surroundings surroundings_of(const DiagnosedTransfer& transfer) {
  Surroundings around;
  around.alone = transfer.sources.size() == 1;
  for (const double limit : {transfer.target_bits_per_s, transfer.limit_bits_per_s, transfer.part_bits_per_s,
                             transfer.tuner_limit_bits_per_s}) {
    around.held_back = around.held_back || (limit > 0 && transfer.bits_per_s >= kNearLimit * limit);
  }
  for (const auto& source : transfer.sources) {
    around.lanes += source.path.lanes;
    if (source.path.bits_per_s > 0 && source.path.least_round_trip.count() > 0) {
      around.shortest_queue = std::min(around.shortest_queue, source.path.queue());
    }
  }
  return around;
}

/// Packets wait, and not only for the bursts of lanes that wait for windows.
bool is_full(const PathFigures& path, const Surroundings& around) {
  if (!path.full()) return false;
  if (path.window_limited <= kHeldUp) return true;
  return path.queue() > std::min(path.least_round_trip * kBursts / std::max(around.lanes, 1),
                                 path.least_round_trip / kBurstsOfRoundTrip);
}

/// More is asked of it than it sends, and nothing on the way holds it up.
bool has_too_little(const DiagnosedSource& source, const Surroundings& around) {
  const PathFigures& path = source.path;
  if (around.held_back || !source.has_requests || path.segments <= 0) return false;
  return path.busy < kIdle || (!is_full(path, around) && (path.empty > kIdle || source.network_thread > kNeverRests));
}

bool has_own_queue(const PathFigures& path, const Surroundings& around) {
  return !around.alone && is_full(path, around) && path.queue() > around.shortest_queue * kOwnQueue &&
         path.queue() > around.shortest_queue + kOwnQueueLonger;
}

Limit held_by(const DiagnosedSource& source, const Surroundings& around) {
  const PathFigures& path = source.path;
  if (path.seconds < kLeastSeconds) return Limit::kUnknown;
  if (is_paced(path) || has_too_little(source, around) || has_own_queue(path, around)) return Limit::kSeeder;
  if (is_full(path, around)) return Limit::kPath;
  if (path.segments <= 0) return Limit::kUnknown;
  const LaneNeed need = lane_need(path, 0);
  if (need.held_by == Limit::kWindow || path.buffer_limited > kHeldUp) return Limit::kWindow;
  const double lanes = lanes_for_losses(path);
  if (lanes >= kLossLanes || lanes > path.lanes) return Limit::kLoss;
  const bool nothing_else = path.least_round_trip < kNearBelow || uses_bbr(path);
  const bool asked = source.has_requests && !around.held_back;
  if (path.loss_events > 0 || (nothing_else && asked)) return Limit::kPath;
  return Limit::kUnknown;
}

SourceFindings findings_of(const DiagnosedSource& source, const Surroundings& around) {
  const PathFigures& path = source.path;
  SourceFindings found;
  found.node = source.node;
  found.lanes = path.lanes;
  found.round_trip = path.round_trip;
  found.least_round_trip = path.least_round_trip;
  found.congestion_control = path.congestion_control;
  found.bits_per_s = static_cast<std::uint64_t>(path.bits_per_s);
  if (path.segments > 0) found.loss_events_per_segment = std::min(path.random_events / path.segments, 1.0);
  const double lane = long_run_bits_per_s({path.least_round_trip, found.loss_events_per_segment, path.segment_bytes},
                                          path.congestion_control);
  if (std::isfinite(lane)) found.long_run_lane_bits_per_s = static_cast<std::uint64_t>(std::min(lane, 1e15));
  found.window_limited = path.window_limited;
  found.buffer_limited = path.buffer_limited;
  found.paced_bits_per_s = static_cast<std::uint64_t>(path.paced_bits_per_s);
  found.held_by = held_by(source, around);
  return found;
}

/// The one that holds up the greatest part of the rate.
Limit most_of(const std::vector<SourceFindings>& sources) {
  std::map<Limit, double> rates;
  for (const auto& source : sources) rates[source.held_by] += static_cast<double>(source.bits_per_s) + 1;
  if (rates.empty()) return Limit::kUnknown;
  return std::ranges::max_element(rates, {}, [](const auto& rate) { return rate.second; })->first;
}

/// The source that brings most of those that the word is about.
const DiagnosedSource* largest(const Findings& findings, const DiagnosedTransfer& transfer) {
  const DiagnosedSource* found = nullptr;
  for (std::size_t i = 0; i < transfer.sources.size(); ++i) {
    const DiagnosedSource& source = transfer.sources[i];
    if (findings.sources[i].held_by != findings.limit) continue;
    if (found == nullptr || source.path.bits_per_s > found->path.bits_per_s) found = &source;
  }
  return found;
}

/// More of something would bring more, and a number that a person chose is against it.
bool is_capped(Limit limit, const DiagnosedSource& source, const DiagnosedTransfer& transfer) {
  const int wish = transfer.lanes_wish;
  switch (limit) {
    case Limit::kLoss:
      return wish > 0 && wish < kMaxLanesPerPeer && source.path.lanes >= wish &&
             lanes_for_losses(source.path) > source.path.lanes;
    case Limit::kWindow:
      return wish > 0 && wish < kMaxLanesPerPeer;
    case Limit::kSeeder:
      return transfer.seeders_wish > 0 && transfer.nodes_with_data > transfer.seeders_wish;
    default:
      return false;
  }
}

/// What this node itself is, before its sources matter.
Limit held_here(const DiagnosedTransfer& transfer) {
  if (is_reached(transfer.target_bits_per_s, transfer.bits_per_s)) return Limit::kTarget;
  for (const double limit : {transfer.limit_bits_per_s, transfer.part_bits_per_s}) {
    if (is_reached(limit, transfer.bits_per_s)) return Limit::kCap;
  }
  if (transfer.has_deadline && is_reached(transfer.tuner_limit_bits_per_s, transfer.bits_per_s)) return Limit::kTarget;
  return reader_limit(transfer.load);
}

}  // namespace

Findings diagnose(MonoTime now, const DiagnosedTransfer& transfer) {
  Findings findings;
  findings.at = now;
  findings.bits_per_s = static_cast<std::uint64_t>(transfer.bits_per_s);
  findings.best_bits_per_s = static_cast<std::uint64_t>(transfer.best_bits_per_s);
  const Surroundings around = surroundings_of(transfer);
  for (const auto& source : transfer.sources) findings.sources.push_back(findings_of(source, around));
  findings.limit = held_here(transfer);
  if (findings.limit != Limit::kUnknown) {
    // Who does not read uses up windows: these say nothing of the sources.
    for (auto& source : findings.sources) {
      if (source.held_by == Limit::kWindow) source.held_by = findings.limit;
    }
    explain_here(findings, transfer);
    return findings;
  }
  findings.limit = most_of(findings.sources);
  const DiagnosedSource* const source = largest(findings, transfer);
  if (source == nullptr) return findings;
  const Limit behind = findings.limit;
  if (is_capped(behind, *source, transfer)) findings.limit = Limit::kCap;
  explain_source(findings, behind, *source, transfer);
  return findings;
}

DiagnosedSource Diagnosis::watch(Source& source, MonoTime now, const PeerSample& peer) {
  // It was paused, or had no lanes.
  if (!source.round_trips.empty() && now - source.round_trips.back().first > kPausedAfter) source.meter.interrupted();
  source.meter.look(now, peer);
  DiagnosedSource seen;
  seen.node = peer.node;
  seen.grants_bbr = grants_bbr(peer);
  seen.path = source.meter.figures(now, kNow);
  const PathFigures longer = source.meter.figures(now, kLossSpan);
  seen.path.segments = longer.segments;
  seen.path.loss_events = longer.loss_events;
  seen.path.random_events = longer.random_events;
  seen.path.doubtful_events = longer.doubtful_events;
  auto& trips = source.round_trips;
  if (!trips.empty() && now < trips.back().first) trips.clear();
  trips.emplace_back(now, seen.path.round_trip);
  std::erase_if(trips, [&](const auto& trip) { return now - trip.first > kNow; });
  std::vector<microseconds> sorted;
  for (const auto& trip : trips) sorted.push_back(trip.second);
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::ranges::nth_element(sorted, middle);
  seen.path.round_trip = std::max(*middle, seen.path.least_round_trip);
  for (const auto& lane : peer.lanes) {
    seen.has_requests = seen.has_requests || lane.outstanding_blocks > 0;
    if (!lane.theirs) continue;
    const auto share = [](std::uint64_t permille) { return std::min(static_cast<double>(permille) / 1000, 1.0); };
    seen.network_thread = std::max(seen.network_thread, share(lane.theirs->thread_permille));
    seen.reads_disk = std::max(seen.reads_disk, share(lane.theirs->disk_permille));
  }
  return seen;
}

Findings Diagnosis::look(const ControllerInput& input) {
  Known& known = transfers_[input.transfer];
  std::erase_if(known.sources, [&](const auto& source) {
    return std::ranges::find(input.peers, source.first, &PeerSample::node) == input.peers.end();
  });
  DiagnosedTransfer transfer;
  transfer.transfer = input.transfer;
  transfer.target_bits_per_s = static_cast<double>(input.target_bits_per_s);
  transfer.limit_bits_per_s = static_cast<double>(input.limit_bits_per_s);
  transfer.part_bits_per_s = static_cast<double>(input.part_bits_per_s);
  transfer.tuner_limit_bits_per_s = static_cast<double>(input.tuner_limit_bits_per_s);
  transfer.has_deadline = input.deadline.has_value();
  transfer.lanes_wish = input.lanes_wish;
  transfer.seeders_wish = input.seeders_wish;
  transfer.load = input.load;
  transfer.host = input.host;
  double seconds = 0;
  for (const auto& peer : input.peers) {
    transfer.nodes_with_data += peer.has_data ? 1 : 0;
    if (!peer.stands || peer.node.is_nil()) continue;
    DiagnosedSource source = watch(known.sources[peer.node], input.now, peer);
    transfer.bits_per_s += source.path.bits_per_s;
    seconds = std::max(seconds, source.path.seconds);
    if (source.path.lanes > 0) transfer.sources.push_back(std::move(source));
  }
  known.best_bits_per_s = std::max(known.best_bits_per_s, transfer.bits_per_s);
  transfer.best_bits_per_s = known.best_bits_per_s;
  const bool ends = static_cast<double>(input.bytes_left) * 8 < kEndSeconds * transfer.bits_per_s;
  Findings findings = steady(known, diagnose(input.now, transfer), ends);
  const bool nothing = nothing_comes(known, input.now, transfer.sources.empty());
  if (nothing || seconds >= kLeastSeconds) findings.target = state_of(input, transfer.bits_per_s);
  return findings;
}

/// For a time there was no lane: that is a rate, too, and what was asked for is missed.
bool Diagnosis::nothing_comes(Known& known, MonoTime now, bool nothing_stands) {
  if (!nothing_stands || now - known.looked > kPausedAfter) known.nothing_stands.reset();
  known.looked = now;
  if (nothing_stands && !known.nothing_stands) known.nothing_stands = now;
  return known.nothing_stands && now - *known.nothing_stands >= std::chrono::duration<double>(kLeastSeconds);
}

Findings Diagnosis::steady(Known& known, Findings found, bool ends) {
  known.held = found.limit == known.last_word ? known.held + 1 : 1;
  known.last_word = found.limit;
  const bool first = known.told.limit == Limit::kUnknown;
  if (!ends && (found.limit == known.told.limit || first || known.held >= kLooks)) {
    known.told = std::move(found);
    return known.told;
  }
  // The figures are new, the word and what stands behind it are not.
  found.limit = known.told.limit;
  found.detail = known.told.detail;
  found.advice = known.told.advice;
  return found;
}

}  // namespace gridtorrent::client::tuning
