#pragma once

#include <QStyledItemDelegate>

namespace gridtorrent::gui {

/// Paints a share as a bar with the model's text over it. `share_role` gives thousandths, or -1 for no bar.
class ProgressDelegate final : public QStyledItemDelegate {
  Q_OBJECT

 public:
  explicit ProgressDelegate(int share_role, QObject* parent = nullptr);
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 private:
  int share_role_;
};

}  // namespace gridtorrent::gui
