#include "gui/plots/rate_columns.h"

#include <algorithm>

namespace gridtorrent::gui {

namespace {

/// Points are this long at most, but for those of a time of rest.
constexpr std::int64_t kLongestMs = 15'000;

void add(RateColumn& column, const RatePoint& point) {
  column.least_bits_per_s = column.any ? std::min(column.least_bits_per_s, point.bits_per_s) : point.bits_per_s;
  column.most_bits_per_s = column.any ? std::max(column.most_bits_per_s, point.bits_per_s) : point.bits_per_s;
  column.lanes = std::max(column.lanes, point.lanes);
  column.most_sent_bits_per_s = std::max(column.most_sent_bits_per_s, point.sent_bits_per_s);
  column.any = true;
}

}  // namespace

std::vector<RateColumn> rate_columns(std::span<const RatePoint> points, TimeRange range, int width) {
  if (width <= 0 || range.to_ms <= range.from_ms) return {};
  std::vector<RateColumn> columns(static_cast<std::size_t>(width));
  const std::int64_t length = range.to_ms - range.from_ms;
  const auto column_of = [&](std::int64_t at_ms) { return (at_ms - range.from_ms) * width / length; };
  const auto first = std::ranges::lower_bound(points, range.from_ms, {}, &RatePoint::at_ms);
  for (auto point = first; point != points.end(); ++point) {
    std::int64_t begin_ms = point->at_ms - point->span_ms;
    if (begin_ms >= range.to_ms) break;
    if (point != points.begin()) {
      const std::int64_t before_ms = std::prev(point)->at_ms;
      if (before_ms > begin_ms || begin_ms - before_ms <= std::min(point->span_ms, kLongestMs) / 2)
        begin_ms = before_ms;
    }
    const std::int64_t begin = std::max<std::int64_t>(column_of(std::max(begin_ms, range.from_ms)), 0);
    const std::int64_t end = std::min<std::int64_t>(column_of(std::max(point->at_ms - 1, range.from_ms)), width - 1);
    for (std::int64_t x = begin; x <= end; ++x) add(columns[static_cast<std::size_t>(x)], *point);
  }
  return columns;
}

}  // namespace gridtorrent::gui
