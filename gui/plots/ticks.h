#pragma once

#include <cstdint>
#include <vector>

#include "gui/plots/rate_columns.h"

namespace gridtorrent::gui {

/// Marks of a value axis from 0: steps of 1, 2 or 5 times a power of ten, at most `most_ticks` steps, the last mark at
/// or above `highest`. Of nothing (0 or less) the marks are 0 and 1. Pure.
std::vector<double> value_ticks(double highest, int most_ticks);
/// The same in whole numbers, for lanes. Pure.
std::vector<double> whole_ticks(std::uint32_t highest, int most_ticks);

struct TimeTicks {
  std::vector<std::int64_t> at_ms;
  std::int64_t step_ms = 0;  ///< below a minute, labels need seconds
};
/// Marks at round times of the day (full minutes, quarters of an hour …) within the range, at most `most_ticks`.
/// `zone_offset_ms` is what local time is ahead of UTC. Pure.
TimeTicks time_ticks(TimeRange range, int most_ticks, std::int64_t zone_offset_ms);

}  // namespace gridtorrent::gui
