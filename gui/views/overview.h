#pragma once

#include <QWidget>
#include <vector>

#include "gui/models/format.h"
#include "gui/models/transfer_row.h"

class QLabel;

namespace gridtorrent::gui {

/// What a transfer is and how far it has come, in words. GUI thread only.
class Overview final : public QWidget {
  Q_OBJECT

 public:
  explicit Overview(Format format, QWidget* parent = nullptr);
  /// Null: none is chosen.
  void set_transfer(const TransferRow* row);

 private:
  void show_texts(const std::vector<QString>& texts);

  Format format_;
  QLabel* hint_;  ///< while none is chosen
  std::vector<QLabel*> titles_, values_;
};

}  // namespace gridtorrent::gui
