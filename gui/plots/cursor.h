#pragma once

#include <QString>
#include <optional>

#include "gui/models/format.h"
#include "gui/plots/rate_columns.h"

namespace gridtorrent::gui {

/// Which way the cursor goes from point to point.
enum class Step : std::uint8_t { kBack, kOn, kFarBack, kFarOn, kFirst, kLast };

/// The point nearest to a time, among those in the range; nothing where there is none. Pure.
std::optional<std::size_t> nearest_point(const RateHistory& history, TimeRange range, std::int64_t at_ms);

/// Where the cursor stands after a step, held within the range; from nowhere it goes to the last point. Pure.
std::optional<std::size_t> step_from(const RateHistory& history, TimeRange range, std::optional<std::size_t> at,
                                     Step step);

/// "lanes 8 to 12 (more gave more), then 842 Mbit/s". Plain text. Pure, translated.
QString decision_text(const LaneDecision& decision, const Format& format);

/// "14:05:10: 842 Mbit/s down, 12 Mbit/s up, lanes 12", and the decisions within the time of that point. Plain text.
/// Pure, translated.
QString point_text(const RateHistory& history, std::size_t point, const Format& format);

}  // namespace gridtorrent::gui
