#include "gui/views/rail_delegate.h"

#include <QApplication>
#include <QPainter>

namespace gridtorrent::gui {

void RailDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  QStyleOptionViewItem entry = option;
  initStyleOption(&entry, index);
  const QString title = entry.text;
  entry.text.clear();
  const QStyle* style = entry.widget != nullptr ? entry.widget->style() : QApplication::style();
  style->drawControl(QStyle::CE_ItemViewItem, &entry, painter, entry.widget);

  const bool selected = entry.state.testFlag(QStyle::State_Selected);
  QColor colour = entry.palette.color(selected ? QPalette::HighlightedText : QPalette::Text);
  const QRect area = entry.rect.adjusted(12, 0, -10, 0);
  painter->setPen(colour);
  painter->drawText(area, Qt::AlignLeft | Qt::AlignVCenter, title);
  colour.setAlphaF(selected ? 0.85F : 0.65F);
  painter->setPen(colour);
  painter->drawText(area, Qt::AlignRight | Qt::AlignVCenter, index.data(kKeyRole).toString());
}

QSize RailDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  return QStyledItemDelegate::sizeHint(option, index).expandedTo(QSize(0, option.fontMetrics.height() + 18));
}

}  // namespace gridtorrent::gui
