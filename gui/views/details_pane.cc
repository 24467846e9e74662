#include "gui/views/details_pane.h"

#include "gui/views/overview.h"

namespace gridtorrent::gui {

DetailsPane::DetailsPane(Format format, QWidget* parent)
    : QTabWidget(parent), overview_(new Overview(std::move(format))) {
  setDocumentMode(true);
  setAccessibleName(tr("Details"));
  addTab(overview_, tr("Overview"));
}

void DetailsPane::set_transfer(const TransferRow* row) {
  transfer_ = row != nullptr ? row->id : std::string();
  overview_->set_transfer(row);
}

}  // namespace gridtorrent::gui
