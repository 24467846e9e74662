#include "gui/views/transfers_page.h"

#include <QAction>
#include <QBoxLayout>
#include <QComboBox>
#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>
#include <QTimer>
#include <QToolButton>
#include <array>

#include "gui/views/details_pane.h"
#include "gui/views/plain_label.h"
#include "gui/views/progress_delegate.h"
#include "gui/views/table_setup.h"

namespace gridtorrent::gui {

namespace {
constexpr std::array kStates{TransferState::kFetching, TransferState::kQueued, TransferState::kHashing,
                             TransferState::kSeeding,  TransferState::kPaused, TransferState::kVerifying,
                             TransferState::kComplete, TransferState::kFailed};
}

TransfersPage::TransfersPage(TransfersModel& model, Format format, QWidget* parent)
    : QWidget(parent),
      model_(model),
      text_(new QLineEdit),
      state_(new QComboBox),
      table_(new QTableView),
      details_(new DetailsPane(std::move(format))),
      faces_(new QStackedWidget),
      empty_text_(new PlainLabel),
      message_(new PlainLabel),
      second_(new QTimer(this)) {
  table_->setModel(&model_);
  table_->setAccessibleName(tr("Transfers"));
  set_up_table(*table_, TransfersModel::columns());
  table_->setItemDelegateForColumn(TransfersModel::kDone, new ProgressDelegate(TransfersModel::kDoneRole, table_));
  table_->setContextMenuPolicy(Qt::ActionsContextMenu);
  table_->setSortingEnabled(true);
  table_->sortByColumn(TransfersModel::kName, Qt::AscendingOrder);

  auto* split = new QSplitter(Qt::Vertical);
  split->addWidget(table_);
  split->addWidget(details_);
  split->setStretchFactor(0, 3);
  split->setStretchFactor(1, 2);
  split->setChildrenCollapsible(false);
  faces_->addWidget(split);
  faces_->addWidget(make_empty());
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(8, 8, 8, 0);
  column->addWidget(make_tools());
  column->addWidget(message_);
  column->addWidget(faces_, 1);
  message_->hide();

  connect(second_, &QTimer::timeout, &model_, &TransfersModel::settle);
  connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this, &TransfersPage::follow_selection);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &TransfersPage::follow_current);
  connect(&model_, &QAbstractItemModel::dataChanged, this, &TransfersPage::follow_current);
  connect(&model_, &QAbstractItemModel::dataChanged, this, &TransfersPage::follow_selection);
  // Not rowsRemoved: the model still counts the row then.
  connect(&model_, &TransfersModel::rates_changed, this, &TransfersPage::choose_face);
  follow_selection();
  choose_face();
}

QWidget* TransfersPage::make_tools() {
  text_->setPlaceholderText(tr("Filter transfers…"));
  text_->setAccessibleName(tr("Filter transfers by name or owner"));
  text_->setClearButtonEnabled(true);
  state_->addItem(tr("Any state"));
  for (const TransferState state : kStates) state_->addItem(state_text(state), static_cast<int>(state));
  state_->setAccessibleName(tr("Filter transfers by state"));
  connect(text_, &QLineEdit::textChanged, this, &TransfersPage::filter);
  connect(state_, &QComboBox::currentIndexChanged, this, &TransfersPage::filter);

  auto* publish = new QPushButton(tr("&Publish…"));
  publish->setToolTip(tr("Give a folder to others (Ctrl+N)"));
  connect(publish, &QPushButton::clicked, this, &TransfersPage::publish_wanted);
  auto* tools = new QWidget;
  auto* line = new QHBoxLayout(tools);
  line->setContentsMargins(0, 0, 0, 0);
  line->addWidget(text_, 1);
  line->addWidget(state_);
  line->addWidget(publish);
  const auto add = [&](QAction* action) {
    auto* button = new QToolButton;
    button->setDefaultAction(action);
    line->addWidget(button);
  };
  add(add_action(tr("Pause"), QKeySequence(Qt::CTRL | Qt::Key_P), &TransfersPage::pause_wanted));
  add(add_action(tr("Resume"), QKeySequence(Qt::CTRL | Qt::Key_R), &TransfersPage::resume_wanted));
  line->addWidget(make_more());
  return tools;
}

/// What is done less often, so that the least width of the window suffices.
QToolButton* TransfersPage::make_more() {
  auto* menu = new QMenu(tr("More"), this);
  menu->addAction(add_action(tr("Limit…"), QKeySequence(Qt::CTRL | Qt::Key_L), &TransfersPage::limit_wanted));
  menu->addAction(add_action(tr("Verify"), QKeySequence(Qt::CTRL | Qt::Key_Y), &TransfersPage::verify_wanted));
  menu->addSeparator();
  menu->addAction(add_ending(Ending::kCancel, QKeySequence(Qt::CTRL | Qt::Key_K)));
  menu->addAction(add_ending(Ending::kStopSeeding, QKeySequence(Qt::CTRL | Qt::Key_T)));
  menu->addAction(add_ending(Ending::kForget, QKeySequence(Qt::Key_Delete)));
  auto* button = new QToolButton;
  button->setText(tr("&More"));
  button->setToolTip(tr("Limit, verify, cancel, stop seeding, forget"));
  button->setMenu(menu);
  button->setPopupMode(QToolButton::InstantPopup);
  button->setFocusPolicy(Qt::TabFocus);
  return button;
}

QAction* TransfersPage::new_action(const QString& text, const QKeySequence& key) {
  auto* action = new QAction(text, this);
  action->setShortcut(key);
  action->setShortcutContext(Qt::WidgetShortcut);
  action->setToolTip(tr("%1 what is selected (%2)").arg(text, key.toString(QKeySequence::NativeText)));
  table_->addAction(action);
  return action;
}

QAction* TransfersPage::add_action(const QString& text, const QKeySequence& key, Ask ask) {
  QAction* action = new_action(text, key);
  connect(action, &QAction::triggered, this, [this, ask] { Q_EMIT(this->*ask)(selected()); });
  on_selection_.push_back(action);
  return action;
}

QAction* TransfersPage::add_ending(Ending ending, const QKeySequence& key) {
  QAction* action = new_action(ending_title(ending) + u'…', key);
  connect(action, &QAction::triggered, this, [this, ending] { Q_EMIT end_wanted(ending, selected(ending)); });
  endings_.emplace_back(ending, action);
  return action;
}

QWidget* TransfersPage::make_empty() {
  auto* publish = new QPushButton(tr("P&ublish…"));
  auto* find = new QPushButton(tr("F&ind"));
  connect(publish, &QPushButton::clicked, this, &TransfersPage::publish_wanted);
  connect(find, &QPushButton::clicked, this, &TransfersPage::find_wanted);
  auto* buttons = new QHBoxLayout;
  buttons->addStretch();
  buttons->addWidget(publish);
  buttons->addWidget(find);
  buttons->addStretch();
  empty_text_->setAlignment(Qt::AlignCenter);
  auto* empty = new QWidget;
  auto* column = new QVBoxLayout(empty);
  column->addStretch(1);
  column->addWidget(empty_text_);
  column->addLayout(buttons);
  column->addStretch(2);
  return empty;
}

std::string TransfersPage::columns() const {
  return columns_text(*table_, TransfersModel::columns());
}

void TransfersPage::set_columns(std::string_view text) {
  place_columns(*table_, TransfersModel::columns(), text);
}

void TransfersPage::focus_filter() {
  text_->setFocus(Qt::ShortcutFocusReason);
  text_->selectAll();
}

void TransfersPage::set_message(const QString& text) {
  message_->setText(text);
  message_->setVisible(!text.isEmpty());
}

void TransfersPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  model_.settle();
  second_->start(std::chrono::seconds(1));
}

void TransfersPage::hideEvent(QHideEvent* event) {
  QWidget::hideEvent(event);
  second_->stop();
}

/// By ranges: selectedRows() takes a tenth of a second where thousands of scattered rows are selected.
std::vector<std::string> TransfersPage::selected(std::optional<Ending> ending) const {
  std::vector<std::string> ids;
  for (const QItemSelectionRange& range : table_->selectionModel()->selection())
    for (int row = range.top(); row <= range.bottom(); ++row) {
      const TransferRow& transfer = *model_.at(model_.index(row, 0));
      if (!ending || ending_of(transfer.state) == ending) ids.push_back(transfer.id);
    }
  return ids;
}

void TransfersPage::filter() {
  const QVariant state = state_->currentData();
  model_.set_filter(
      {text_->text(), state.isValid() ? std::optional(static_cast<TransferState>(state.toInt())) : std::nullopt});
  choose_face();
}

void TransfersPage::follow_selection() {
  const bool any = table_->selectionModel()->hasSelection();
  for (QAction* action : on_selection_) action->setEnabled(any);
  std::array<bool, 3> fits{};
  for (const QItemSelectionRange& range : table_->selectionModel()->selection())
    for (int row = range.top(); row <= range.bottom(); ++row)
      if (const auto ending = ending_of(model_.at(model_.index(row, 0))->state))
        fits[static_cast<std::size_t>(*ending)] = true;
  for (const auto& [ending, action] : endings_) action->setEnabled(fits[static_cast<std::size_t>(ending)]);
}

void TransfersPage::follow_current() {
  const TransferRow* row = model_.at(table_->currentIndex());
  const std::string id = row != nullptr ? row->id : std::string();
  if (details_->transfer() != id) Q_EMIT current_changed(id);
  details_->set_transfer(row);
}

void TransfersPage::choose_face() {
  faces_->setCurrentIndex(model_.rowCount() > 0 ? 0 : 1);
  empty_text_->setText(model_.size() == 0 ? tr("Nothing here yet. Drop a folder to publish it, or find a data set.")
                                          : tr("None of %1 transfers fits the filter.").arg(model_.size()));
}

}  // namespace gridtorrent::gui
