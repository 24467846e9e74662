#pragma once

#include <QPainter>
#include <QPalette>
#include <optional>

#include "gui/models/format.h"
#include "gui/plots/rate_columns.h"

namespace gridtorrent::gui {

/// What a rate plot shows: the history, from when to when, and the point that is read.
struct RateScene {
  const RateHistory& history;
  TimeRange range;
  std::optional<std::size_t> cursor;
};

/// Where values are drawn within the whole plot; around it are labels. Pure.
QRect rate_area(const QRect& whole, const QFontMetrics& metrics);

/// Paints the plot into `whole`: what came as filled columns, what went out as a dotted
/// line, lanes as dashed steps over both, decisions as dashed marks,
/// gaps left empty. Colours fit the palette. The cost is that of the columns, not of the points.
void paint_rate(QPainter& painter, const QRect& whole, const RateScene& scene, const QPalette& palette,
                const Format& format);

}  // namespace gridtorrent::gui
