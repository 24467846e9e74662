#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gui/models/rate_history.h"

namespace gridtorrent::gui {

/// From `from_ms` to before `to_ms`, wall clock.
struct TimeRange {
  std::int64_t from_ms = 0;
  std::int64_t to_ms = 0;
  friend bool operator==(const TimeRange&, const TimeRange&) = default;
};

/// What one column of pixels shows.
struct RateColumn {
  bool any = false;  ///< false: nothing is known of this time
  std::uint64_t least_bits_per_s = 0;
  std::uint64_t most_bits_per_s = 0;
  std::uint32_t lanes = 0;  ///< the most
  std::uint64_t most_sent_bits_per_s = 0;
};

/// The points of the range as `width` columns: each point fills the time it stands for, so that what is not filled is a
/// gap. A hole of up to half a point's time between two points counts as filled: samples come a little late. The work
/// grows with points and columns, whatever is painted of them. Pure.
std::vector<RateColumn> rate_columns(std::span<const RatePoint> points, TimeRange range, int width);

}  // namespace gridtorrent::gui
