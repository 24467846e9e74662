#include "gui/views/find_page.h"

#include <QBoxLayout>
#include <QFileDialog>
#include <QLineEdit>
#include <QPushButton>
#include <QSplitter>
#include <QTableView>
#include <QTimer>

#include "gui/models/text.h"
#include "gui/views/plain_label.h"
#include "gui/views/table_setup.h"

namespace gridtorrent::gui {

namespace {
constexpr std::chrono::milliseconds kPause{150};
}

FindPage::FindPage(SearchModel& model, Format format, QWidget* parent)
    : QWidget(parent),
      model_(model),
      format_(std::move(format)),
      text_(new QLineEdit),
      count_(new QLabel),
      table_(new QTableView),
      name_(new PlainLabel),
      about_(new PlainLabel),
      description_(new PlainLabel),
      space_(new PlainLabel),
      estimate_(new PlainLabel),
      refusal_(new PlainLabel),
      folder_(new QLineEdit),
      get_(new QPushButton(tr("&Get"))),
      pause_(new QTimer(this)) {
  text_->setPlaceholderText(tr("Part of a name…"));
  text_->setAccessibleName(tr("Find data sets by a part of their name"));
  text_->setClearButtonEnabled(true);
  count_->setTextFormat(Qt::PlainText);
  table_->setModel(&model_);
  table_->setAccessibleName(tr("Data sets found"));
  set_up_table(*table_, SearchModel::columns());
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  auto* line = new QHBoxLayout;
  line->addWidget(text_, 1);
  line->addWidget(count_);
  auto* split = new QSplitter;
  split->addWidget(table_);
  split->addWidget(make_details());
  split->setStretchFactor(0, 1);
  split->setChildrenCollapsible(false);
  auto* column = new QVBoxLayout(this);
  column->addLayout(line);
  column->addWidget(split, 1);

  pause_->setSingleShot(true);
  pause_->setInterval(kPause);
  connect(text_, &QLineEdit::textChanged, pause_, qOverload<>(&QTimer::start));
  connect(text_, &QLineEdit::returnPressed, table_, qOverload<>(&QWidget::setFocus));
  connect(pause_, &QTimer::timeout, this, [this] {
    Q_EMIT search_wanted(text_->text());
    tell_count();
  });
  connect(&model_, &QAbstractItemModel::modelReset, this, &FindPage::follow_current);
  connect(&model_, &QAbstractItemModel::modelReset, this, &FindPage::tell_count);
  connect(&model_, &QAbstractItemModel::rowsInserted, this, &FindPage::tell_count);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &FindPage::follow_current);
  connect(table_, &QAbstractItemView::activated, get_, qOverload<>(&QWidget::setFocus));
  follow_current();
  tell_count();
}

QWidget* FindPage::make_details() {
  QFont bold = font();
  bold.setBold(true);
  name_->setFont(bold);
  folder_->setPlaceholderText(tr("Folder to put it in"));
  folder_->setAccessibleName(tr("Folder for fetched data"));
  auto* choose = new QPushButton(tr("&Folder…"));
  connect(choose, &QPushButton::clicked, this, &FindPage::choose_folder);
  connect(folder_, &QLineEdit::editingFinished, this, &FindPage::ask_for_facts);
  connect(folder_, &QLineEdit::textChanged, this,
          [this] { get_->setEnabled(current() && !folder_->text().isEmpty()); });
  connect(get_, &QPushButton::clicked, this, &FindPage::get);
  auto* line = new QHBoxLayout;
  line->addWidget(folder_, 1);
  line->addWidget(choose);
  auto* details = new QWidget;
  details->setMinimumWidth(230);
  auto* column = new QVBoxLayout(details);
  for (QLabel* label : {name_, about_, description_}) column->addWidget(label);
  column->addStretch(1);
  column->addLayout(line);
  for (QLabel* label : {space_, estimate_, refusal_}) column->addWidget(label);
  column->addWidget(get_);
  return details;
}

void FindPage::focus_search() {
  text_->setFocus(Qt::ShortcutFocusReason);
  text_->selectAll();
}

void FindPage::set_folder(const QString& folder) {
  folder_->setText(folder);
}

void FindPage::set_facts(const GetFacts& facts) {
  const FoundRow* row = current();
  const QString free = facts.free_bytes ? format_.bytes(*facts.free_bytes) : Format::unknown();
  space_->setText(row == nullptr ? QString() : tr("Needs %1, free %2").arg(format_.bytes(row->bytes), free));
  estimate_->setText(shown(facts.estimate));
}

void FindPage::set_description(const QString& text) {
  description_->setText(text);
}

void FindPage::set_refusal(const QString& text) {
  refusal_->setText(text);
  refusal_->setVisible(!text.isEmpty());
}

void FindPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (current() == nullptr) ask_again();
}

void FindPage::ask_again() {
  Q_EMIT search_wanted(text_->text());
  tell_count();
}

void FindPage::set_problem(const QString& text) {
  problem_ = text;
  tell_count();
}

const FoundRow* FindPage::current() const {
  return model_.at(table_->currentIndex());
}

void FindPage::follow_current() {
  const FoundRow* row = current();
  get_->setEnabled(row != nullptr && !folder_->text().isEmpty());
  name_->setText(row == nullptr ? tr("Choose a data set at the left.") : shown(row->name));
  about_->setText(row == nullptr ? QString()
                                 : tr("Of %1, access: %2\n%3 in files: %4\nComplete copies served now: %5")
                                       .arg(shown(row->owner), shown(row->access), format_.bytes(row->bytes),
                                            format_.count(row->files), format_.count(row->seeders)));
  set_facts({});
  set_description({});
  set_refusal({});
  Q_EMIT current_changed(row != nullptr ? row->id : std::string());
  ask_for_facts();
}

void FindPage::tell_count() {
  const QString count = format_.count(static_cast<std::uint64_t>(model_.rowCount()));
  const QString text = !problem_.isEmpty()     ? problem_
                       : !model_.is_answered() ? tr("Searching…")
                       : model_.has_more()     ? tr("%1 and more").arg(count)
                                               : tr("%1 found").arg(count);
  count_->setText(text);
  count_->setAccessibleName(text);
}

void FindPage::choose_folder() {
  const QString folder = QFileDialog::getExistingDirectory(this, tr("Folder for fetched data"), folder_->text());
  if (folder.isEmpty()) return;
  folder_->setText(folder);
  ask_for_facts();
}

void FindPage::ask_for_facts() {
  if (const FoundRow* row = current(); row != nullptr && !folder_->text().isEmpty())
    Q_EMIT facts_wanted(row->id, folder_->text());
}

void FindPage::get() {
  if (const FoundRow* row = current()) Q_EMIT get_wanted(row->id, folder_->text());
}

}  // namespace gridtorrent::gui
