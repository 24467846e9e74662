#include "client/tuning/estimate.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "client/plan/controller.h"
#include "client/tuning/history.h"

namespace gridtorrent::client::tuning {
namespace {

using std::chrono::milliseconds;

/// Longer than anybody waits, and short enough for milliseconds in 64 bits.
constexpr double kLongest = 1e9;

milliseconds as_time(double seconds) {
  return milliseconds(static_cast<std::int64_t>(std::clamp(seconds, 0.0, kLongest) * 1e3));
}

double lower(double rate, double bound) {
  return bound > 0 ? std::min(rate, bound) : rate;
}

EstimatedPath spread(EstimatedPath path, double by) {
  path.least_bits_per_s = path.bits_per_s / (1 + by);
  path.most_bits_per_s = path.bits_per_s * (1 + by);
  return path;
}

/// What holds the paths that bring most; the link or a limit where these bind all of them together.
Limit what_limits(const EstimateFacts& facts, double paths_together) {
  if (facts.limit_bits_per_s > 0 && facts.limit_bits_per_s <= lower(paths_together, facts.link_bits_per_s)) {
    return Limit::kCap;
  }
  if (facts.link_bits_per_s > 0 && facts.link_bits_per_s < paths_together && facts.paths.size() > 1) {
    return Limit::kPath;
  }
  std::map<Limit, double> held;
  for (const auto& path : facts.paths) held[path.limit] += path.bits_per_s;
  if (held.empty()) return Limit::kUnknown;
  return std::ranges::max_element(held, {}, [](const auto& one) { return one.second; })->first;
}

}  // namespace

EstimatedPath path_of(const PathMemory& memory, std::size_t sources) {
  const PathFacts& facts = memory.facts;
  EstimatedPath path{
      facts.round_trip, std::max(facts.lanes, 1), static_cast<double>(facts.bits_per_s), 0, 0, facts.limit, 0};
  const double aged = 1 - history_weight(WallTime{0}, WallTime{memory.age.count()});
  path = spread(path, kUsualSpread + kOneTransferSpread / std::max(memory.transfers, 1) + kAgedSpread * aged);
  const double fewer = facts.sources / static_cast<double>(std::max<std::size_t>(sources, 1));
  if (fewer > 1) {
    path.most_bits_per_s = std::max(
        path.most_bits_per_s, std::min(path.most_bits_per_s * fewer, static_cast<double>(facts.total_bits_per_s)));
  }
  return path;
}

EstimatedPath path_of(const SourceFindings& probed, double bits_per_s) {
  EstimatedPath path{probed.least_round_trip, kMaxLanesPerPeer, bits_per_s, 0, 0, probed.held_by, bits_per_s};
  const double lane = static_cast<double>(probed.long_run_lane_bits_per_s);
  if (lane > 0 && kMaxLanesPerPeer * lane < bits_per_s) {
    path.bits_per_s = kMaxLanesPerPeer * lane;
    path.limit = Limit::kLoss;
  }
  path = spread(path, kProbeSpread);
  path.most_bits_per_s = std::max(path.most_bits_per_s, bits_per_s);
  return path;
}

double seconds_for(double bytes, double bits_per_s, double opening_bits_per_s,
                   const std::vector<EstimatedPath>& paths) {
  if (bytes <= 0) return 0;
  if (bits_per_s <= 0) return kLongest;
  double round_trip = 0, lanes = 0, rates = 0;
  for (const auto& path : paths) {
    round_trip += std::chrono::duration<double>(path.round_trip).count() * path.bits_per_s;
    rates += path.bits_per_s;
    lanes += path.lanes;
  }
  if (rates > 0) round_trip /= rates;
  const double opening = std::max(opening_bits_per_s, bits_per_s) / 8, long_run = bits_per_s / 8;
  const double first = kFirstWindowBytes * std::max(lanes, 1.0), full = opening * round_trip;
  const double before = kDialSeconds + kHandshakes * round_trip;
  // After k doublings first·(2^k − 1) bytes are here, and a round trip brings first·2^k.
  const double doublings = full > first ? std::log2(full / first) : 0;
  const double doubled = first * (std::exp2(doublings) - 1);
  if (bytes <= doubled) return before + round_trip * std::log2(bytes / first + 1);
  const double opened = std::min((bytes - doubled) / opening, std::max(0.0, kOpeningSeconds - doublings * round_trip));
  return before + doublings * round_trip + opened + (bytes - doubled - opened * opening) / long_run;
}

Estimate estimate(const EstimateFacts& facts) {
  double likely = 0, least = 0, most = 0, opening = 0;
  for (const auto& path : facts.paths) {
    opening += std::max(path.opening_bits_per_s, path.bits_per_s);
    likely += path.bits_per_s;
    least += path.least_bits_per_s;
    most += path.most_bits_per_s;
  }
  const double paths_together = likely;
  // What one path alone brought is no bound for itself: the link may carry more than was ever asked of it.
  const double link = facts.paths.size() > 1 ? facts.link_bits_per_s : 0;
  likely = lower(lower(likely, link), facts.limit_bits_per_s);
  least = lower(lower(least, link), facts.limit_bits_per_s);
  most = lower(most, facts.limit_bits_per_s);
  opening = lower(lower(opening, link), facts.limit_bits_per_s);
  const auto bytes = static_cast<double>(facts.bytes);
  const double finish = facts.finish_bytes_per_s > 0 ? bytes / facts.finish_bytes_per_s : 0;
  Estimate result;
  result.likely = as_time(seconds_for(bytes, likely, opening, facts.paths) + finish);
  result.least = as_time(seconds_for(bytes, most, std::max(opening, most), facts.paths) + finish);
  result.most = as_time(seconds_for(bytes, least, least, facts.paths) + finish);
  result.bits_per_s = likely;
  result.limit = what_limits(facts, paths_together);
  return result;
}

std::string about(milliseconds time) {
  const std::int64_t exact = std::max<std::int64_t>(std::chrono::round<std::chrono::seconds>(time).count(), 1);
  const std::int64_t step = exact < 60 ? 1 : exact < 600 ? 10 : exact < 36'000 ? 60 : 600;
  const std::int64_t seconds = (exact + step / 2) / step * step, minutes = seconds / 60;
  const auto part = [](std::int64_t number, const char* unit) {
    return number == 0 ? std::string() : " " + std::to_string(number) + " " + unit;
  };
  if (seconds < 60) return std::to_string(seconds) + " s";
  if (minutes < 60) return std::to_string(minutes) + " min" + part(seconds % 60, "s");
  return std::to_string(minutes / 60) + " h" + part(minutes % 60, "min");
}

}  // namespace gridtorrent::client::tuning
