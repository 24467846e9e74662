#include "client/tuning/diagnosis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdarg>
#include <cstdio>

#include "client/tuning/goal.h"
#include "client/tuning/lane_need.h"
#include "client/tuning/refinement.h"
#include "client/tuning/sources.h"
#include "client/tuning/tcp_rate.h"

namespace gridtorrent::client::tuning {
namespace {

/// Rates and shares of the last seconds; losses are rare, so they are counted over kLossSpan.
constexpr std::chrono::seconds kNow{5};
/// Before that much was seen, nothing is said.
constexpr double kLeastSeconds = 2;
/// A rate that was asked for counts as reached from this part of it on.
constexpr double kReached = 0.9;
/// A seeder that has data to send for less of the time than this is waited for.
constexpr double kIdle = 0.5;
/// It takes so many lanes before losses are what limits: two are what a path without any has.
constexpr int kLossLanes = 3;
/// A source's own queue, beside that of the source with the shortest one: so many times, and so much longer.
constexpr double kOwnQueue = 2;
constexpr std::chrono::milliseconds kOwnQueueLonger{3};

double mbit(double bits_per_s) {
  return bits_per_s / 1e6;
}

[[gnu::format(printf, 1, 2)]] std::string text(const char* format, ...) {
  std::array<char, 200> buffer{};
  std::va_list figures;
  va_start(figures, format);
  std::vsnprintf(buffer.data(), buffer.size(), format, figures);
  va_end(figures);
  return buffer.data();
}

/// Where a limit holds requests back, a sender that rests says nothing.
bool waits_for_sender(const DiagnosedSource& source, bool limited) {
  const PathFigures& path = source.path;
  if (path.paced_bits_per_s > 0 && path.bits_per_s >= kReached * path.paced_bits_per_s) return true;
  return !limited && source.outstanding_blocks > 0 && (path.busy < kIdle || path.buffer_limited > kHeldUp);
}

Limit held_by(const DiagnosedSource& source, std::chrono::microseconds shortest_queue, bool alone, bool limited) {
  const PathFigures& path = source.path;
  if (path.seconds < kLeastSeconds || path.segments <= 0) return Limit::kUnknown;
  if (waits_for_sender(source, limited)) return Limit::kSeeder;
  const bool own_queue = !alone && path.full() && path.queue() > shortest_queue * kOwnQueue &&
                         path.queue() > shortest_queue + kOwnQueueLonger;
  if (own_queue) return Limit::kSeeder;
  const LaneNeed need = lane_need(path, 0);
  if (need.held_by == Limit::kLoss &&
      std::ceil(kHeadroom * path.best_bits_per_s / need.lane_bits_per_s) >= kLossLanes) {
    return Limit::kLoss;
  }
  if (path.full() || path.loss_events > 0) return Limit::kPath;
  if (path.window_limited > kHeldUp) return Limit::kWindow;
  return Limit::kUnknown;
}

SourceFindings findings_of(const DiagnosedSource& source) {
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
  return found;
}

/// The one that holds up the greatest part of the rate.
Limit most_of(const std::vector<SourceFindings>& sources) {
  std::map<Limit, double> rates;
  for (const auto& source : sources) rates[source.held_by] += static_cast<double>(source.bits_per_s) + 1;
  if (rates.empty()) return Limit::kUnknown;
  return std::ranges::max_element(rates, {}, [](const auto& rate) { return rate.second; })->first;
}

const SourceFindings* largest(const Findings& findings) {
  const SourceFindings* found = nullptr;
  for (const auto& source : findings.sources) {
    if (source.held_by == findings.limit && (found == nullptr || source.bits_per_s > found->bits_per_s))
      found = &source;
  }
  return found;
}

double milliseconds(std::chrono::microseconds time) {
  return static_cast<double>(time.count()) / 1e3;
}

void explain_source(Findings& findings, const SourceFindings& source) {
  const std::string node = source.node.str();
  switch (findings.limit) {
    case Limit::kLoss:
    case Limit::kCap:
      if (source.loss_events_per_segment > 0) {
        findings.detail =
            text("%.3g %% of packets get lost between %s and here, so a lane comes to %.3g Mbit/s (RTT %.1f ms)",
                 100 * source.loss_events_per_segment, node.c_str(),
                 mbit(static_cast<double>(source.long_run_lane_bits_per_s)), milliseconds(source.least_round_trip));
      }
      findings.advice.text = "BBR at the seeder does not slow down for such losses: its owner can choose it";
      findings.advice.command = "sysctl -w net.ipv4.tcp_congestion_control=bbr";
      return;
    case Limit::kWindow:
      findings.detail = text("the lanes to %s wait for receive windows %.0f %% of the time (RTT %.1f ms)", node.c_str(),
                             100 * source.window_limited, milliseconds(source.least_round_trip));
      findings.advice.text = "allow larger receive buffers on this machine";
      findings.advice.command = "sysctl -w net.ipv4.tcp_rmem='4096 131072 67108864'";
      return;
    case Limit::kSeeder:
      findings.detail =
          source.paced_bits_per_s > 0
              ? text("%s shares its uplink and gives this node %.3g Mbit/s", node.c_str(),
                     mbit(static_cast<double>(source.paced_bits_per_s)))
              : text("%s sends no more than %.3g Mbit/s", node.c_str(), mbit(static_cast<double>(source.bits_per_s)));
      findings.advice.text = "another seeder would help";
      return;
    case Limit::kPath:
      findings.detail = text("the path from %s is full: packets wait %.1f ms on it", node.c_str(),
                             milliseconds(source.round_trip - source.least_round_trip));
      findings.advice.text = "nothing to do: the link carries no more, or others use it as well";
      return;
    default:
      return;
  }
}

}  // namespace

Findings diagnose(MonoTime now, const DiagnosedTransfer& transfer) {
  Findings findings;
  findings.at = now;
  findings.bits_per_s = static_cast<std::uint64_t>(transfer.bits_per_s);
  findings.best_bits_per_s = static_cast<std::uint64_t>(transfer.best_bits_per_s);
  auto shortest = std::chrono::microseconds::max();
  for (const auto& source : transfer.sources) shortest = std::min(shortest, source.path.queue());
  for (const auto& source : transfer.sources) {
    SourceFindings found = findings_of(source);
    found.held_by = held_by(source, shortest, transfer.sources.size() == 1, transfer.limit_bits_per_s > 0);
    findings.sources.push_back(std::move(found));
  }
  if (transfer.limit_bits_per_s > 0 && transfer.bits_per_s >= kReached * transfer.limit_bits_per_s) {
    findings.limit = Limit::kTarget;
    findings.detail = text("a limit of %.3g Mbit/s was asked for", mbit(transfer.limit_bits_per_s));
    return findings;
  }
  if (transfer.busiest_thread > kNeverRests) {
    findings.limit = Limit::kReceiverCpu;
    findings.detail = text("a thread of this node wants a core for %.0f %% of the time", 100 * transfer.busiest_thread);
    findings.advice.text = "give the node more processor time; more lanes do not help";
    return findings;
  }
  findings.limit = most_of(findings.sources);
  const SourceFindings* source = largest(findings);
  const bool held_up = findings.limit == Limit::kLoss || findings.limit == Limit::kWindow;
  if (source == nullptr) return findings;
  const SourceFindings named = *source;
  if (held_up && transfer.lanes_wish > 0 && transfer.lanes_wish < kMaxLanesPerPeer) {
    explain_source(findings, named);
    findings.limit = Limit::kCap;
    findings.detail =
        text("no more than %d lanes to each seeder were asked for; ", transfer.lanes_wish) + findings.detail;
    findings.advice = {"leave out --lanes", "gridtorrent transfer set ID --lanes 0"};
    return findings;
  }
  explain_source(findings, named);
  return findings;
}

Findings Diagnosis::look(const ControllerInput& input) {
  Known& known = transfers_[input.transfer];
  std::erase_if(known.meters, [&](const auto& meter) {
    return std::ranges::find(input.peers, meter.first, &PeerSample::node) == input.peers.end();
  });
  DiagnosedTransfer transfer;
  transfer.limit_bits_per_s =
      static_cast<double>(input.target_bits_per_s > 0 ? input.target_bits_per_s : input.limit_bits_per_s);
  transfer.lanes_wish = input.lanes_wish;
  transfer.busiest_thread = input.load.busiest_thread;
  double seconds = 0;
  for (const auto& peer : input.peers) {
    if (!peer.stands || peer.node.is_nil()) continue;
    PathMeter& meter = known.meters[peer.node];
    meter.look(input.now, peer);
    PathFigures path = meter.figures(input.now, kNow);
    const PathFigures longer = meter.figures(input.now, kLossSpan);
    transfer.bits_per_s += path.bits_per_s;
    seconds = std::max(seconds, path.seconds);
    path.segments = longer.segments;
    path.loss_events = longer.loss_events;
    path.random_events = longer.random_events;
    path.doubtful_events = longer.doubtful_events;
    int outstanding = 0;
    for (const auto& lane : peer.lanes) outstanding += std::max(lane.outstanding_blocks, 0) > 0 ? 1 : 0;
    if (path.lanes > 0) transfer.sources.push_back({peer.node, path, outstanding});
  }
  known.best_bits_per_s = std::max(known.best_bits_per_s, transfer.bits_per_s);
  transfer.best_bits_per_s = known.best_bits_per_s;
  Findings findings = steady(known, diagnose(input.now, transfer));
  if (seconds >= kLeastSeconds) findings.target = state_of(input, transfer.bits_per_s);
  return findings;
}

Findings Diagnosis::steady(Known& known, Findings found) {
  known.held = found.limit == known.last_word ? known.held + 1 : 1;
  known.last_word = found.limit;
  const bool first = known.told.limit == Limit::kUnknown;
  if (found.limit == known.told.limit || first || known.held >= kLooks) {
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
