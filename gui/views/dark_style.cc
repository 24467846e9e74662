#include "gui/views/dark_style.h"

#include <QPainter>
#include <QStyleOption>

namespace gridtorrent::gui {

namespace {

bool is_dark(const QPalette& palette) {
  return palette.color(QPalette::WindowText).lightness() > palette.color(QPalette::Window).lightness();
}

QColor outline(const QPalette& palette) {
  QColor colour = palette.color(QPalette::WindowText);
  colour.setAlphaF(0.5F);
  return colour;
}

}  // namespace

void DarkStyle::drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                              const QWidget* widget) const {
  const bool mends = is_dark(option->palette) && baseStyle()->name() == QStringLiteral("fusion");
  if (mends && element == PE_FrameTabBarBase) {
    painter->fillRect(QRect(option->rect.bottomLeft(), option->rect.bottomRight()), outline(option->palette));
    return;
  }
  QProxyStyle::drawPrimitive(element, option, painter, widget);
  const bool box = element == PE_IndicatorCheckBox || element == PE_IndicatorItemViewItemCheck;
  if (!mends || (!box && element != PE_IndicatorRadioButton)) return;
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  painter->setPen(outline(option->palette));
  painter->setBrush(Qt::NoBrush);
  const QRectF edge = QRectF(option->rect).adjusted(0.5, 0.5, -0.5, -0.5);
  if (box)
    painter->drawRoundedRect(edge, 2, 2);
  else
    painter->drawEllipse(edge);
  painter->restore();
}

}  // namespace gridtorrent::gui
