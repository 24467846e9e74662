#pragma once

#include "client/plan/reason.h"
#include "client/tuning/path_meter.h"

/// How many lanes one source has use for, by what its sender's TCP has told. Pure.
namespace gridtorrent::client::tuning {

/// More than what the path carried, so that lanes that lag behind are made up for, and a path that could carry more
/// shows it.
inline constexpr double kHeadroom = 1.1;
/// The same where no packet waits on the path: lanes are held up, and what the path could carry is not known. A path
/// that loses packets empties its queue now and then though it is full; one on which windows hold every lane does not.
inline constexpr double kSearch = 1.5, kSearchWindows = 2;
/// On a near path where losses hold them up: a lane costs next to nothing there, and what a path carries shows within a
/// second. Simulated on 1 Gbit/s, 4.5 ms and 0.1 %: 16 lanes after three seconds in place of eight.
inline constexpr double kSearchNear = 4;
/// Fewer are not asked for: one lane that waits for a lost segment leaves a path empty for a round trip. BBR goes on
/// sending meanwhile, so one is enough for it where the path is not near: there the second costs nothing.
inline constexpr int kLeastLanes = 2;
/// It takes so many before losses are what limits: two are what a path without any has.
inline constexpr int kLossLanes = 3;
/// Of the loss events at least this part came while the queue was short, or the path counts as one that is full.
inline constexpr double kMostlyRandom = 0.5;
/// Before so many were seen, their rate is not known to a third (1/√n).
inline constexpr double kLeastEvents = 10;
/// Lanes are held up by windows where their senders waited for them for more than half of the time.
inline constexpr double kHeldUp = 0.5;

/// Every number from `least` to `most` agrees with the measurements.
struct LaneNeed {
  int least = 1, most = 1;
  double lane_bits_per_s = 0;       ///< what one lane comes to; infinite: nothing holds it up
  Limit held_by = Limit::kUnknown;  ///< what holds a lane up: kLoss, kWindow, or unknown
  friend bool operator==(const LaneNeed&, const LaneNeed&) = default;
};

/// As many lanes as it takes to carry 1.1 times the best rate that the path has shown (1.5 times where it is not full,
/// twice where windows alone hold its lanes, four times where losses do on a near path), when a lane carries what
/// random losses (long_run_bits_per_s) and its window let it. The number of losses seen is a sample: `least` and `most`
/// go with the lowest and the highest rate of losses that it does not contradict (95 % and one standard deviation of a
/// Poisson distribution; doubtful events count for the highest only, half). So a path without losses needs fewer lanes
/// the longer it was watched, and one with losses soon has a narrow range. Where no packet waits on the path, `least`
/// goes with the losses that were seen: a lane too many takes nothing from anybody there. `limit_bits_per_s`: a
/// person's; 0: none.
LaneNeed lane_need(const PathFigures& path, double limit_bits_per_s);

/// The lanes that it takes to carry 1.1 times what the path has shown, by losses alone, however many there may be; 1
/// where these hold no lane up.
double lanes_for_losses(const PathFigures& path);

}  // namespace gridtorrent::client::tuning
