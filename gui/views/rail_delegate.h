#pragma once

#include <QStyledItemDelegate>

namespace gridtorrent::gui {

/// Paints an entry of the rail with some air around it, and at the right the key that leads there (`kKeyRole`, text).
class RailDelegate final : public QStyledItemDelegate {
  Q_OBJECT

 public:
  static constexpr int kKeyRole = Qt::UserRole;

  using QStyledItemDelegate::QStyledItemDelegate;
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

}  // namespace gridtorrent::gui
