#include "gui/plots/lanes_plot.h"

#include <QCoreApplication>
#include <algorithm>

#include "gui/plots/plot_style.h"
#include "gui/plots/ticks.h"

namespace gridtorrent::gui {

namespace {

QString say(const char* text) {
  return QCoreApplication::translate("Plot", text);
}

QRect curve_area(const QRect& whole, const QFontMetrics& metrics) {
  return whole.adjusted(metrics.horizontalAdvance(QStringLiteral("9.99 Mbit/s")) + 10, metrics.height() + 8, -10,
                        -2 * metrics.height() - 8);
}

std::uint32_t most_lanes(const LanesCurve& curve) {
  const std::uint32_t seen =
      curve.points.empty() ? 0 : std::ranges::max_element(curve.points, {}, &LanesRate::lanes)->lanes;
  return std::max({seen, curve.lanes_now, std::uint32_t{1}});
}

int column_of(std::uint32_t lanes, const LanesCurve& curve, const QRect& area) {
  return area.left() + static_cast<int>((lanes - 0.5) / most_lanes(curve) * area.width());
}

/// The arrow points at the number; the words stand on that side of it where there is room.
void paint_now(QPainter& painter, const LanesCurve& curve, const QRect& area, const PlotColours& colours) {
  if (curve.lanes_now == 0) return;
  const QFontMetrics metrics = painter.fontMetrics();
  const QString right = say(QT_TRANSLATE_NOOP("Plot", "▲ now %1")).arg(curve.lanes_now);
  const QString left = say(QT_TRANSLATE_NOOP("Plot", "now %1 ▲")).arg(curve.lanes_now);
  const int half = metrics.horizontalAdvance(QStringLiteral("▲")) / 2;
  const int x = column_of(curve.lanes_now, curve, area);
  const int baseline = area.bottom() + metrics.height() + 4 + metrics.ascent();
  const bool fits = x - half + metrics.horizontalAdvance(right) <= area.right() + 8;
  painter.setPen(colours.lanes);
  painter.drawText(fits ? x - half : x + half - metrics.horizontalAdvance(left), baseline, fits ? right : left);
}

}  // namespace

QString lanes_text(const LanesCurve& curve, std::size_t point, const Format& format) {
  const LanesRate& at = curve.points[point];
  QString text = say(QT_TRANSLATE_NOOP("Plot", "Lanes %1: median %2, %3 to %4, seen for %5"))
                     .arg(format.count(at.lanes), format.rate(at.median_bits_per_s), format.rate(at.least_bits_per_s),
                          format.rate(at.most_bits_per_s), format.duration(std::chrono::seconds(at.seconds)));
  if (at.lanes == curve.lanes_now) text += say(QT_TRANSLATE_NOOP("Plot", ", now"));
  return text;
}

void paint_lanes_curve(QPainter& painter, const QRect& whole, const LanesCurve& curve,
                       std::optional<std::size_t> cursor, const QPalette& palette, const Format& format) {
  const PlotColours colours(palette);
  painter.fillRect(whole, colours.background);
  painter.setPen(colours.text);
  painter.drawText(whole.adjusted(6, 2, -6, 0), Qt::AlignTop | Qt::AlignHCenter,
                   say(QT_TRANSLATE_NOOP("Plot", "Rate by lanes")));
  const QRect area = curve_area(whole, painter.fontMetrics());
  if (area.width() < 20 || area.height() < 20) return;
  if (curve.points.empty()) {
    painter.drawText(area, Qt::AlignCenter | Qt::TextWordWrap, say(QT_TRANSLATE_NOOP("Plot", "Nothing measured yet.")));
    return;
  }
  const auto highest = std::ranges::max_element(curve.points, {}, &LanesRate::most_bits_per_s)->most_bits_per_s;
  const ValueAxis axis{value_ticks(static_cast<double>(highest), 4)};
  paint_rate_axis(painter, area, axis, colours, format);
  const auto row = [&](std::uint64_t rate) { return axis.row(static_cast<double>(rate), area); };
  int labelled = area.left() - 100;
  for (const LanesRate& point : curve.points) {
    const int x = column_of(point.lanes, curve, area);
    const int top = row(point.most_bits_per_s);
    painter.fillRect(x - 1, top, 3, row(point.least_bits_per_s) - top + 1, colours.rate_fill);
    painter.fillRect(x - 3, row(point.median_bits_per_s) - 3, 7, 7, colours.rate);
    if (x - labelled < 22) continue;
    labelled = x;
    painter.setPen(colours.text);
    painter.drawText(QRect(x - 20, area.bottom() + 3, 40, painter.fontMetrics().height()), Qt::AlignHCenter,
                     format.count(point.lanes));
  }
  paint_now(painter, curve, area, colours);
  if (cursor && *cursor < curve.points.size())
    paint_reading(painter, lanes_text(curve, *cursor, format),
                  {column_of(curve.points[*cursor].lanes, curve, area), area.top()}, area, colours);
}

LanesPlot::LanesPlot(Format format, QWidget* parent)
    : CursorPlot(tr("Rate by number of lanes"), parent), format_(std::move(format)) {}

void LanesPlot::set_curve(LanesCurve curve) {
  curve_ = std::move(curve);
  const bool stays = cursor() && *cursor() < curve_.points.size();
  move_cursor(stays ? cursor() : std::nullopt);
}

QString LanesPlot::text_of(std::size_t point) const {
  return lanes_text(curve_, point, format_);
}

void LanesPlot::paint(QPainter& painter) const {
  paint_lanes_curve(painter, rect(), curve_, cursor(), palette(), format_);
}

std::optional<std::size_t> LanesPlot::point_near(const QPoint& place) const {
  if (curve_.points.empty()) return std::nullopt;
  const QRect area = curve_area(rect(), fontMetrics());
  const auto distance = [&](const LanesRate& point) {
    return std::abs(column_of(point.lanes, curve_, area) - place.x());
  };
  return static_cast<std::size_t>(std::ranges::min_element(curve_.points, {}, distance) - curve_.points.begin());
}

std::optional<std::size_t> LanesPlot::after(Step step) const {
  if (curve_.points.empty()) return std::nullopt;
  const std::size_t last = curve_.points.size() - 1, at = cursor().value_or(last);
  switch (step) {
    case Step::kBack:
      return cursor() && at > 0 ? at - 1 : at;
    case Step::kOn:
      return std::min(at + 1, last);
    case Step::kFarBack:
    case Step::kFirst:
      return 0;
    case Step::kFarOn:
    case Step::kLast:
      return last;
  }
  return last;
}

}  // namespace gridtorrent::gui
