#pragma once

#include <QColor>
#include <QPainter>
#include <QPalette>
#include <vector>

#include "gui/models/format.h"

namespace gridtorrent::gui {

/// The colours of our plots, chosen for a light or a dark background by the palette. Shapes differ as well: colour
/// alone tells nothing. Pure.
struct PlotColours {
  explicit PlotColours(const QPalette& palette);
  QColor background, text, grid, rate, rate_fill, sent, lanes, decision, cursor;
};

/// A value axis: its marks, and the value at its end.
struct ValueAxis {
  std::vector<double> ticks;
  double highest() const { return ticks.back(); }
  /// The pixel row of a value in an area.
  int row(double value, const QRect& area) const;
};

/// The grid and labels of a rate axis at the left side of `area`.
void paint_rate_axis(QPainter& painter, const QRect& area, const ValueAxis& axis, const PlotColours& colours,
                     const Format& format);

/// A text box near `at`, moved so that it stays inside of `bounds`.
void paint_reading(QPainter& painter, const QString& text, const QPoint& at, const QRect& bounds,
                   const PlotColours& colours);

}  // namespace gridtorrent::gui
