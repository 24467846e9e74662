#include "gui/plots/rate_plot.h"

#include "gui/plots/rate_painter.h"

namespace gridtorrent::gui {

RatePlot::RatePlot(Format format, QWidget* parent)
    : CursorPlot(tr("Rate and lanes over time"), parent), format_(std::move(format)) {}

void RatePlot::set_history(RateHistory history, std::int64_t now_ms) {
  const auto at_ms = cursor() ? std::optional(history_.points[*cursor()].at_ms) : std::nullopt;
  history_ = std::move(history);
  now_ms_ = now_ms;
  move_cursor(at_ms ? nearest_point(history_, range(), *at_ms) : std::nullopt);
}

void RatePlot::set_span(std::chrono::milliseconds span) {
  span_ms_ = span.count();
  move_cursor(cursor() ? nearest_point(history_, range(), history_.points[*cursor()].at_ms) : std::nullopt);
}

QString RatePlot::text_of(std::size_t point) const {
  return point_text(history_, point, format_);
}

QImage RatePlot::picture() const {
  constexpr int kScale = 2;
  QImage image(size() * kScale, QImage::Format_RGB32);
  image.setDevicePixelRatio(kScale);
  QPainter painter(&image);
  painter.setFont(font());
  paint_rate(painter, rect(), {history_, range(), std::nullopt}, palette(), format_);
  return image;
}

void RatePlot::paint(QPainter& painter) const {
  paint_rate(painter, rect(), {history_, range(), cursor()}, palette(), format_);
}

std::optional<std::size_t> RatePlot::point_near(const QPoint& place) const {
  const QRect area = rate_area(rect(), fontMetrics());
  if (area.width() <= 0 || place.x() < area.left() || place.x() > area.right()) return std::nullopt;
  const std::int64_t at_ms = range().from_ms + std::int64_t{place.x() - area.left()} * span_ms_ / area.width();
  return nearest_point(history_, range(), at_ms);
}

std::optional<std::size_t> RatePlot::after(Step step) const {
  return step_from(history_, range(), cursor(), step);
}

}  // namespace gridtorrent::gui
