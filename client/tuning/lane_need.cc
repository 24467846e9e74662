#include "client/tuning/lane_need.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "client/plan/controller.h"
#include "client/tuning/bottleneck.h"
#include "client/tuning/start.h"
#include "client/tuning/tcp_rate.h"

namespace gridtorrent::client::tuning {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
/// A window that losses hold up still grows by so much, until the next loss.
constexpr double kGrows = 1.2;
/// Losses that would let a lane carry more than so many times what it carries are not what holds it up. It is large
/// since those of 20 s say too little where losses have just begun. Simulated (300 links, seeds 1001 to 1300): with 2
/// four links lose 0.05 to 0.1 of their rate where losses begin, with 8 one loses 0.03; the lanes saved are the same.
constexpr double kFarAbove = 8;
/// One-sided 95 % of a normal distribution: the fewest events that those seen do not contradict.
constexpr double kSigmas = 1.645;
/// The most of them, by one standard deviation, and by what goes unseen with a seventh (−ln 0.14). No more than that,
/// since fewer lanes that bring less are taken back, and too many are what others on the path lose.
constexpr double kSigmasOfMost = 1, kUnseen = 2;
/// An event that may be either of a full queue or random counts half.
constexpr double kDoubtful = 0.5;

double long_run(const PathFigures& path, double events) {
  if (path.segments <= 0) return kInfinite;
  return long_run_bits_per_s({path.least_round_trip, std::min(events / path.segments, 1.0), path.segment_bytes},
                             path.congestion_control);
}

/// What the window lets a lane carry while no packet waits in a queue, that of its reader or its sender's buffer;
/// infinite where these suffice.
double by_window(const PathFigures& path) {
  if (path.window_limited + path.buffer_limited < kHeldUp || path.lanes == 0 || path.least_round_trip.count() == 0)
    return kInfinite;
  const double queued =
      static_cast<double>(path.round_trip.count()) / static_cast<double>(path.least_round_trip.count());
  // A reader that falls behind closes the windows of more lanes further: that is no property of a lane.
  return std::max(path.bits_per_s / path.lanes * std::max(queued, 1.0), path.best_lane_bits_per_s);
}

/// The equations are bounds from above: where losses alone hold a lane up, it carries what it carries, and a little
/// more as its window grows.
double carried(const PathFigures& path, double by_losses) {
  if (std::isinf(by_losses) || path.lanes == 0) return kInfinite;
  const double lane = path.bits_per_s / path.lanes;
  return by_losses > kFarAbove * lane ? by_losses : kGrows * lane;
}

int lanes_for(double bits_per_s, double lane_bits_per_s) {
  const double lanes = std::ceil(bits_per_s / lane_bits_per_s);
  return std::isfinite(lanes) ? static_cast<int>(std::clamp(lanes, 1.0, double{kMaxLanesPerPeer})) : 1;
}

}  // namespace

LaneNeed lane_need(const PathFigures& path, double limit_bits_per_s) {
  LaneNeed need;
  if (path.segments <= 0) return {1, kMaxLanesPerPeer};
  double rate = std::max(path.best_bits_per_s, path.bits_per_s) * kHeadroom;
  const double window = by_window(path), likely = long_run(path, path.random_events);
  const bool near = path.least_round_trip < kNearBelow;
  const double search = window < likely ? kSearchWindows : near && std::isfinite(likely) ? kSearchNear : kSearch;
  double enough = path.full() ? rate : rate * search / kHeadroom;
  if (limit_bits_per_s > 0) {
    rate = std::min(rate, limit_bits_per_s * kHeadroom);
    enough = std::min(enough, limit_bits_per_s * kHeadroom);
  }
  const double events = path.random_events, most_events = events + kDoubtful * path.doubtful_events;
  need.lane_bits_per_s = std::min(likely, window);
  if (std::isfinite(need.lane_bits_per_s)) need.held_by = window < likely ? Limit::kWindow : Limit::kLoss;
  const double fewest_events = std::max(events - kSigmas * std::sqrt(events), 0.0);
  need.least = path.full() ? lanes_for(enough, std::min(long_run(path, fewest_events), window))
                           : lanes_for(enough, std::min(need.lane_bits_per_s, carried(path, likely)));
  // Windows fill this path as it is.
  if (path.full() && need.held_by == Limit::kWindow) need.least = std::min(need.least, std::max(path.lanes, 1));
  need.most =
      lanes_for(rate, std::min(long_run(path, most_events + kSigmasOfMost * std::sqrt(most_events) + kUnseen), window));
  const bool one_will_do = uses_bbr(path) && path.least_round_trip >= kNearBelow;
  need.most = std::max({need.most, need.least, one_will_do ? 1 : kLeastLanes});
  return need;
}

double lanes_for_losses(const PathFigures& path) {
  const LaneNeed need = lane_need(path, 0);
  return need.held_by == Limit::kLoss ? std::ceil(kHeadroom * path.best_bits_per_s / need.lane_bits_per_s) : 1;
}

}  // namespace gridtorrent::client::tuning
