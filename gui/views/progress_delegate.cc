#include "gui/views/progress_delegate.h"

#include <QApplication>
#include <QPainter>

namespace gridtorrent::gui {

ProgressDelegate::ProgressDelegate(int share_role, QObject* parent)
    : QStyledItemDelegate(parent), share_role_(share_role) {}

void ProgressDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  QStyleOptionViewItem cell = option;
  initStyleOption(&cell, index);
  const int share = index.data(share_role_).toInt();
  const QString text = cell.text;
  cell.text.clear();
  const QStyle* style = cell.widget != nullptr ? cell.widget->style() : QApplication::style();
  style->drawControl(QStyle::CE_ItemViewItem, &cell, painter, cell.widget);

  const bool selected = cell.state.testFlag(QStyle::State_Selected);
  const QPalette& palette = cell.palette;
  const QRect area = cell.rect.adjusted(4, 4, -4, -4);
  if (share >= 0) {
    painter->fillRect(area, palette.color(QPalette::Base));
    QColor colour = palette.color(QPalette::Highlight);
    colour.setAlphaF(0.22F);
    painter->fillRect(area, colour);
    colour.setAlphaF(0.45F);
    painter->fillRect(QRect(area.topLeft(), QSize(area.width() * share / 1000, area.height())), colour);
  }
  painter->setPen(palette.color(selected && share < 0 ? QPalette::HighlightedText : QPalette::Text));
  painter->drawText(area, Qt::AlignCenter, text);
}

}  // namespace gridtorrent::gui
