#pragma once

#include <QTabWidget>
#include <string>

#include "gui/models/format.h"
#include "gui/models/transfer_row.h"

namespace gridtorrent::gui {

class Overview;

/// All about one transfer, in tabs. GUI thread only.
class DetailsPane final : public QTabWidget {
  Q_OBJECT

 public:
  explicit DetailsPane(Format format, QWidget* parent = nullptr);
  /// The transfer to show; null: none is chosen.
  void set_transfer(const TransferRow* row);
  /// Its id; empty: none.
  const std::string& transfer() const { return transfer_; }

 private:
  Overview* overview_;
  std::string transfer_;
};

}  // namespace gridtorrent::gui
