#include "client/core/rate_history.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace gridtorrent::client {
namespace {

using BlockName = std::pair<bool, WallTime>;

BlockName name_of(const RateBlock& block) {
  return {block.seconds, block.points.front().at};
}

/// Those points of one kind that count at `now`, in the order of time.
std::vector<RatePoint> points_of(const std::vector<RateBlock>& blocks, bool seconds, WallTime after, WallTime now) {
  std::vector<RatePoint> points;
  for (const RateBlock& block : blocks) {
    if (block.seconds != seconds) continue;
    std::ranges::copy_if(block.points, std::back_inserter(points),
                         [&](const RatePoint& point) { return point.at > after && point.at <= now; });
  }
  std::ranges::stable_sort(points, {}, &RatePoint::at);
  return points;
}

}  // namespace

std::vector<RatePoint> joined_points(std::vector<RateBlock> kept, std::vector<RateBlock> held, WallTime from,
                                     WallTime now) {
  std::set<BlockName> newer;
  for (const RateBlock& block : held) newer.insert(name_of(block));
  std::erase_if(kept, [&](const RateBlock& block) { return newer.contains(name_of(block)); });
  std::ranges::move(held, std::back_inserter(kept));

  const std::vector<RatePoint> seconds = points_of(kept, true, std::max(from, now - kSecondsKept), now);
  std::vector<RatePoint> points = points_of(kept, false, std::max(from, now - kRatesKept), now);
  const WallTime fine_from = seconds.empty() ? now : seconds.front().from();
  // One of 15 s may end within the first second: what both tell of is told once.
  while (!points.empty() && points.back().from() >= fine_from) points.pop_back();
  if (!points.empty() && points.back().at > fine_from) {
    RatePoint& last = points.back();
    last.span -= last.at - fine_from;
    last.at = fine_from;
    if (last.at <= from) points.pop_back();
  }
  std::ranges::copy(seconds, std::back_inserter(points));
  if (!points.empty() && points.front().from() < from) points.front().span = points.front().at - from;
  return points;
}

}  // namespace gridtorrent::client
