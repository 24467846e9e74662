#include "gui/plots/rate_painter.h"

#include <QCoreApplication>
#include <QDateTime>
#include <algorithm>

#include "gui/plots/cursor.h"
#include "gui/plots/plot_style.h"
#include "gui/plots/ticks.h"

namespace gridtorrent::gui {

namespace {

constexpr int kValueSteps = 4;
constexpr std::size_t kDash = 6, kDashPitch = 9, kDot = 2, kDotPitch = 5;
constexpr int kLabelPitch = 90;  // pixels between labels of the time axis, at least

QString say(const char* text) {
  return QCoreApplication::translate("Plot", text);
}

struct Canvas {
  QPainter& painter;
  QRect area;
  const RateScene& scene;
  PlotColours colours;
  ValueAxis rate, lanes;

  int column_of(std::int64_t at_ms) const {
    const TimeRange& range = scene.range;
    return area.left() + static_cast<int>((at_ms - range.from_ms) * area.width() / (range.to_ms - range.from_ms));
  }
  bool shows(std::int64_t at_ms) const { return at_ms >= scene.range.from_ms && at_ms <= scene.range.to_ms; }
};

void paint_time_axis(const Canvas& canvas) {
  QPainter& painter = canvas.painter;
  const auto offset_ms = std::int64_t{QDateTime::fromMSecsSinceEpoch(canvas.scene.range.to_ms).offsetFromUtc()} * 1000;
  const TimeTicks ticks = time_ticks(canvas.scene.range, std::max(canvas.area.width() / kLabelPitch, 1), offset_ms);
  const QString form = ticks.step_ms < 60'000       ? QStringLiteral("HH:mm:ss")
                       : ticks.step_ms < 86'400'000 ? QStringLiteral("HH:mm")
                                                    : QStringLiteral("MM-dd");
  for (const std::int64_t at_ms : ticks.at_ms) {
    const int x = canvas.column_of(at_ms);
    painter.setPen(canvas.colours.grid);
    painter.drawLine(x, canvas.area.top(), x, canvas.area.bottom() + 4);
    painter.setPen(canvas.colours.text);
    painter.drawText(QRect(x - kLabelPitch / 2, canvas.area.bottom() + 5, kLabelPitch, painter.fontMetrics().height()),
                     Qt::AlignHCenter | Qt::AlignTop, QDateTime::fromMSecsSinceEpoch(at_ms).toString(form));
  }
}

void paint_lanes_axis(const Canvas& canvas) {
  const int half_line = canvas.painter.fontMetrics().height() / 2;
  canvas.painter.setPen(canvas.colours.lanes);
  for (const double tick : canvas.lanes.ticks)
    canvas.painter.drawText(QPoint(canvas.area.right() + 6, canvas.lanes.row(tick, canvas.area) + half_line - 2),
                            QString::number(tick));
}

void paint_columns(const Canvas& canvas, const std::vector<RateColumn>& columns) {
  const QRect& area = canvas.area;
  const auto value_row = [&](std::uint64_t rate) { return canvas.rate.row(static_cast<double>(rate), area); };
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const RateColumn& column = columns[i];
    if (!column.any) continue;
    const int x = area.left() + static_cast<int>(i);
    int top = value_row(column.most_bits_per_s), bottom = value_row(column.least_bits_per_s);
    canvas.painter.fillRect(x, top, 1, area.bottom() - top + 1, canvas.colours.rate_fill);
    if (i > 0 && columns[i - 1].any) {  // so that the line does not break where it is steep
      top = std::min(top, value_row(columns[i - 1].least_bits_per_s));
      bottom = std::max(bottom, value_row(columns[i - 1].most_bits_per_s));
    }
    canvas.painter.fillRect(x, top, 1, std::max(bottom - top + 1, 2), canvas.colours.rate);
  }
}

/// Dots, which no other line has. Where nothing was sent there is no line.
void paint_sent(const Canvas& canvas, const std::vector<RateColumn>& columns) {
  const auto row = [&](std::size_t i) {
    return canvas.rate.row(static_cast<double>(columns[i].most_sent_bits_per_s), canvas.area);
  };
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].most_sent_bits_per_s == 0 || i % kDotPitch >= kDot) continue;
    canvas.painter.fillRect(canvas.area.left() + static_cast<int>(i), row(i) - 1, 1, 3, canvas.colours.sent);
  }
}

/// Dashes, so that a rate at the same height is seen between them.
void paint_lanes(const Canvas& canvas, const std::vector<RateColumn>& columns) {
  const auto row = [&](std::size_t i) { return canvas.lanes.row(columns[i].lanes, canvas.area); };
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i].any) continue;
    const int x = canvas.area.left() + static_cast<int>(i);
    if (i % kDashPitch < kDash) canvas.painter.fillRect(x, row(i) - 1, 1, 3, canvas.colours.lanes);
    if (i == 0 || !columns[i - 1].any || columns[i - 1].lanes == columns[i].lanes) continue;
    const auto [top, bottom] = std::minmax(row(i), row(i - 1));
    canvas.painter.fillRect(x, top, 2, bottom - top + 1, canvas.colours.lanes);
  }
}

void paint_decisions(const Canvas& canvas) {
  canvas.painter.setPen(QPen(canvas.colours.decision, 1, Qt::DashLine));
  for (const LaneDecision& decision : canvas.scene.history.decisions)
    if (canvas.shows(decision.at_ms)) {
      const int x = canvas.column_of(decision.at_ms);
      canvas.painter.drawLine(x, canvas.area.top(), x, canvas.area.bottom());
    }
}

void paint_legend(const Canvas& canvas, const QRect& whole) {
  QPainter& painter = canvas.painter;
  const int y = whole.top() + painter.fontMetrics().ascent() + 2;
  int x = canvas.area.left();
  const auto entry = [&](const QString& sign, const QColor& colour, const QString& text) {
    painter.setPen(colour);
    painter.drawText(x, y, sign);
    x += painter.fontMetrics().horizontalAdvance(sign) + 4;
    painter.setPen(canvas.colours.text);
    painter.drawText(x, y, text);
    x += painter.fontMetrics().horizontalAdvance(text) + 18;
  };
  entry(QStringLiteral("■"), canvas.colours.rate, say(QT_TRANSLATE_NOOP("Plot", "down")));
  entry(QStringLiteral("▪ ▪ ▪"), canvas.colours.sent, say(QT_TRANSLATE_NOOP("Plot", "up")));
  entry(QStringLiteral("▬ ▬"), canvas.colours.lanes, say(QT_TRANSLATE_NOOP("Plot", "lanes (right)")));
  entry(QStringLiteral("┊"), canvas.colours.decision, say(QT_TRANSLATE_NOOP("Plot", "decision")));
}

void paint_cursor(const Canvas& canvas, const Format& format) {
  if (!canvas.scene.cursor || *canvas.scene.cursor >= canvas.scene.history.points.size()) return;
  const RatePoint& point = canvas.scene.history.points[*canvas.scene.cursor];
  if (!canvas.shows(point.at_ms)) return;
  const int x = canvas.column_of(point.at_ms);
  canvas.painter.setPen(canvas.colours.cursor);
  canvas.painter.drawLine(x, canvas.area.top(), x, canvas.area.bottom());
  paint_reading(canvas.painter, point_text(canvas.scene.history, *canvas.scene.cursor, format),
                {x, canvas.area.top() + 4}, canvas.area, canvas.colours);
}

}  // namespace

QRect rate_area(const QRect& whole, const QFontMetrics& metrics) {
  const int left = metrics.horizontalAdvance(QStringLiteral("9.99 Mbit/s")) + 10;
  const int right = metrics.horizontalAdvance(QStringLiteral("999")) + 10;
  return whole.adjusted(left, metrics.height() + 8, -right, -metrics.height() - 8);
}

void paint_rate(QPainter& painter, const QRect& whole, const RateScene& scene, const QPalette& palette,
                const Format& format) {
  const PlotColours colours(palette);
  painter.setRenderHint(QPainter::Antialiasing, false);
  painter.fillRect(whole, colours.background);
  const QRect area = rate_area(whole, painter.fontMetrics());
  if (area.width() < 20 || area.height() < 20 || scene.range.to_ms <= scene.range.from_ms) return;
  const auto columns = rate_columns(scene.history.points, scene.range, area.width());
  const auto fastest_of = [](const RateColumn& column) {
    return std::max(column.most_bits_per_s, column.most_sent_bits_per_s);
  };
  const auto fastest = fastest_of(*std::ranges::max_element(columns, {}, fastest_of));
  const auto most_lanes = std::ranges::max_element(columns, {}, &RateColumn::lanes)->lanes;
  const Canvas canvas{painter,
                      area,
                      scene,
                      colours,
                      {value_ticks(static_cast<double>(fastest), kValueSteps)},
                      {whole_ticks(most_lanes, kValueSteps)}};
  paint_rate_axis(painter, area, canvas.rate, colours, format);
  paint_time_axis(canvas);
  paint_lanes_axis(canvas);
  paint_columns(canvas, columns);
  paint_decisions(canvas);
  paint_sent(canvas, columns);
  paint_lanes(canvas, columns);
  paint_legend(canvas, whole);
  if (std::ranges::none_of(columns, &RateColumn::any)) {
    painter.setPen(colours.text);
    painter.drawText(area, Qt::AlignCenter, say(QT_TRANSLATE_NOOP("Plot", "Nothing is known of this time.")));
  }
  paint_cursor(canvas, format);
}

}  // namespace gridtorrent::gui
