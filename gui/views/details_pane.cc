#include "gui/views/details_pane.h"

#include <QTreeView>

#include "gui/views/files_tab.h"
#include "gui/views/overview.h"
#include "gui/views/rate_tab.h"
#include "gui/views/table_setup.h"
#include "gui/views/why_tab.h"

namespace gridtorrent::gui {

namespace {

QTreeView* make_tree(QAbstractItemModel& model, std::span<const ColumnSpec> specs, const QString& name) {
  auto* view = new QTreeView;
  view->setModel(&model);
  view->setAccessibleName(name);
  set_up_tree(*view, specs);
  return view;
}

/// Or will, so that a rate can be held.
bool fetches(TransferState state) {
  return state == TransferState::kFetching || state == TransferState::kQueued || state == TransferState::kPaused;
}

}  // namespace

DetailsPane::DetailsPane(Format format, QWidget* parent)
    : QTabWidget(parent),
      peers_(format),
      overview_(new Overview(format)),
      files_(new FilesTab(format)),
      rate_(new RateTab(format)),
      why_(new WhyTab(format)) {
  setDocumentMode(true);
  setAccessibleName(tr("Details of the transfer"));
  addTab(overview_, tr("Overview"));
  addTab(make_tree(peers_, PeersModel::columns(), tr("Peers and lanes")), tr("Peers and lanes"));
  addTab(files_, tr("Files"));
  addTab(rate_, tr("Rate"));
  addTab(why_, tr("Why this speed?"));
  connect(why_, &WhyTab::hold_wanted, this, [this] { Q_EMIT hold_wanted(transfer_); });
  connect(why_, &WhyTab::limit_wanted, this, [this] { Q_EMIT limit_wanted(transfer_); });
  connect(files_, &FilesTab::choice_wanted, this,
          [this](const std::vector<std::uint32_t>& places) { Q_EMIT files_wanted(transfer_, places); });
  connect(rate_, &RateTab::save_wanted, this, &DetailsPane::save_wanted);
}

void DetailsPane::set_transfer(const TransferRow* row) {
  const std::string id = row != nullptr ? row->id : std::string();
  if (id != transfer_) {
    transfer_ = id;
    set_peers({});
    set_files({});
    set_history({}, 0);
    set_explanation({});
  }
  overview_->set_transfer(row);
  files_->set_choosable(row != nullptr && fetches(row->state));
  why_->set_actions(row != nullptr && fetches(row->state), row != nullptr);
}

void DetailsPane::set_files(FileTree files) {
  files_->set_files(std::move(files));
}

void DetailsPane::set_chosen_files(const std::vector<std::uint32_t>& places) {
  files_->set_chosen(places);
}

void DetailsPane::set_history(RateHistory history, std::int64_t now_ms) {
  why_->set_decisions(history.decisions);
  rate_->set_history(std::move(history), now_ms);
}

void DetailsPane::set_explanation(Explanation explanation) {
  why_->set_explanation(explanation);
  rate_->set_curve(std::move(explanation.curve));
}

}  // namespace gridtorrent::gui
