#include "gui/plots/cursor_plot.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QStyleOptionFocusRect>
#include <QStylePainter>

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

CursorPlot::CursorPlot(const QString& name, QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setAttribute(Qt::WA_OpaquePaintEvent);
  setAccessibleName(name);
  move_cursor(std::nullopt);
}

void CursorPlot::move_cursor(std::optional<std::size_t> point) {
  cursor_ = point;
  setAccessibleDescription(cursor_ ? reading() : tr("Arrow keys read the values."));
  update();
}

void CursorPlot::paintEvent(QPaintEvent*) {
  QStylePainter painter(this);
  paint(painter);
  if (!hasFocus()) return;
  QStyleOptionFocusRect frame;
  frame.initFrom(this);
  painter.drawPrimitive(QStyle::PE_FrameFocusRect, frame);
}

void CursorPlot::mouseMoveEvent(QMouseEvent* event) {
  move_cursor(point_near(event->position().toPoint()));
}

void CursorPlot::leaveEvent(QEvent* event) {
  QWidget::leaveEvent(event);
  if (!hasFocus()) move_cursor(std::nullopt);
}

void CursorPlot::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape && cursor_) return move_cursor(std::nullopt);
  const auto step = step_of(event->key());
  const auto point = step ? after(*step) : std::nullopt;
  if (!point) return QWidget::keyPressEvent(event);
  move_cursor(point);
}

}  // namespace gridtorrent::gui
