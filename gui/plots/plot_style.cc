#include "gui/plots/plot_style.h"

#include <algorithm>

namespace gridtorrent::gui {

namespace {

QColor mixed(const QColor& a, const QColor& b, double share_of_b) {
  const auto mix = [share_of_b](int x, int y) { return static_cast<int>(x + (y - x) * share_of_b); };
  return QColor(mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue()));
}

}  // namespace

PlotColours::PlotColours(const QPalette& palette)
    : background(palette.color(QPalette::Base)), text(palette.color(QPalette::Text)) {
  const bool dark = background.lightness() < 128;
  grid = mixed(background, text, 0.15);
  rate = dark ? QColor(0x64, 0xB5, 0xF6) : QColor(0x15, 0x65, 0xC0);
  rate_fill = mixed(background, rate, 0.30);
  // Green beside orange is told apart by who sees no red or no green, too (Okabe and Ito).
  sent = dark ? QColor(0x4D, 0xD0, 0xA8) : QColor(0x00, 0x7A, 0x5A);
  lanes = dark ? QColor(0xFF, 0xB7, 0x4D) : QColor(0xC0, 0x56, 0x00);
  decision = mixed(background, text, 0.65);
  cursor = text;
}

int ValueAxis::row(double value, const QRect& area) const {
  return area.bottom() - static_cast<int>(std::clamp(value / highest(), 0.0, 1.0) * (area.height() - 1));
}

void paint_rate_axis(QPainter& painter, const QRect& area, const ValueAxis& axis, const PlotColours& colours,
                     const Format& format) {
  const int half_line = painter.fontMetrics().height() / 2;
  for (const double tick : axis.ticks) {
    const int y = axis.row(tick, area);
    painter.setPen(colours.grid);
    painter.drawLine(area.left(), y, area.right(), y);
    painter.setPen(colours.text);
    painter.drawText(QRect(0, y - half_line, area.left() - 6, 2 * half_line), Qt::AlignRight | Qt::AlignVCenter,
                     format.rate(static_cast<std::uint64_t>(tick)));
  }
}

void paint_reading(QPainter& painter, const QString& text, const QPoint& at, const QRect& bounds,
                   const PlotColours& colours) {
  const int widest = std::max(bounds.width() * 2 / 3, 120);
  QRect box = painter.fontMetrics().boundingRect(QRect(0, 0, widest, bounds.height()), Qt::TextWordWrap, text);
  box.adjust(-6, -3, 6, 3);
  box.moveTopLeft(at + QPoint(8, 0));
  if (box.right() > bounds.right()) box.moveRight(std::max(at.x() - 8, bounds.left() + box.width()));
  if (box.bottom() > bounds.bottom()) box.moveBottom(bounds.bottom());
  painter.setPen(colours.grid);
  painter.setBrush(colours.background);
  painter.drawRect(box);
  painter.setPen(colours.text);
  painter.drawText(box.adjusted(6, 3, -6, -3), Qt::TextWordWrap, text);
}

}  // namespace gridtorrent::gui
