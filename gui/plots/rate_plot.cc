#include "gui/plots/rate_plot.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QStyleOptionFocusRect>
#include <QStylePainter>

#include "gui/plots/rate_painter.h"

namespace gridtorrent::gui {

namespace {

std::optional<Step> step_of(int key) {
  switch (key) {
    case Qt::Key_Left:
      return Step::kBack;
    case Qt::Key_Right:
      return Step::kOn;
    case Qt::Key_PageUp:
      return Step::kFarBack;
    case Qt::Key_PageDown:
      return Step::kFarOn;
    case Qt::Key_Home:
      return Step::kFirst;
    case Qt::Key_End:
      return Step::kLast;
    default:
      return std::nullopt;
  }
}

}  // namespace

RatePlot::RatePlot(Format format, QWidget* parent) : QWidget(parent), format_(std::move(format)) {
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setAttribute(Qt::WA_OpaquePaintEvent);
  setAccessibleName(tr("Rate and lanes over time"));
  move_cursor(std::nullopt);
}

void RatePlot::set_history(RateHistory history, std::int64_t now_ms) {
  const auto at_ms = cursor_ ? std::optional(history_.points[*cursor_].at_ms) : std::nullopt;
  history_ = std::move(history);
  now_ms_ = now_ms;
  move_cursor(at_ms ? nearest_point(history_, range(), *at_ms) : std::nullopt);
}

void RatePlot::set_span(std::chrono::milliseconds span) {
  span_ms_ = span.count();
  move_cursor(cursor_ ? nearest_point(history_, range(), history_.points[*cursor_].at_ms) : std::nullopt);
}

QString RatePlot::reading() const {
  return cursor_ ? point_text(history_, *cursor_, format_) : QString();
}

void RatePlot::move_cursor(std::optional<std::size_t> point) {
  cursor_ = point;
  setAccessibleDescription(cursor_ ? reading() : tr("Arrow keys read the values."));
  update();
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

void RatePlot::paintEvent(QPaintEvent*) {
  QStylePainter painter(this);
  paint_rate(painter, rect(), {history_, range(), cursor_}, palette(), format_);
  if (!hasFocus()) return;
  QStyleOptionFocusRect frame;
  frame.initFrom(this);
  painter.drawPrimitive(QStyle::PE_FrameFocusRect, frame);
}

void RatePlot::mouseMoveEvent(QMouseEvent* event) {
  const QRect area = rate_area(rect(), fontMetrics());
  const int x = event->position().toPoint().x();
  if (area.width() <= 0 || x < area.left() || x > area.right()) return move_cursor(std::nullopt);
  const std::int64_t at_ms = range().from_ms + std::int64_t{x - area.left()} * span_ms_ / area.width();
  move_cursor(nearest_point(history_, range(), at_ms));
}

void RatePlot::leaveEvent(QEvent* event) {
  QWidget::leaveEvent(event);
  if (!hasFocus()) move_cursor(std::nullopt);
}

void RatePlot::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape && cursor_) return move_cursor(std::nullopt);
  const auto step = step_of(event->key());
  if (!step) return QWidget::keyPressEvent(event);
  move_cursor(step_from(history_, range(), cursor_, *step));
}

}  // namespace gridtorrent::gui
