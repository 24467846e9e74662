#include "gui/views/find_page.h"

#include <QBoxLayout>
#include <QFileDialog>
#include <QLineEdit>
#include <QPushButton>
#include <QSplitter>
#include <QTableView>
#include <QTimer>
#include <QToolButton>

#include "gui/models/text.h"
#include "gui/views/content_pane.h"
#include "gui/views/plain_label.h"
#include "gui/views/search_filters.h"
#include "gui/views/table_setup.h"

namespace gridtorrent::gui {

namespace {
constexpr std::chrono::milliseconds kPause{150};
constexpr std::chrono::milliseconds kFactsPause{400};  // while boxes are ticked

QTimer* make_pause(std::chrono::milliseconds length, QObject* parent) {
  auto* timer = new QTimer(parent);
  timer->setSingleShot(true);
  timer->setInterval(length);
  return timer;
}

}  // namespace

FindPage::FindPage(SearchModel& model, Format format, QWidget* parent)
    : QWidget(parent),
      model_(model),
      format_(std::move(format)),
      text_(new QLineEdit),
      count_(new QLabel),
      table_(new QTableView),
      filter_(new QToolButton),
      filters_(new SearchFilters(format_)),
      name_(new PlainLabel),
      about_(new PlainLabel),
      choice_note_(new PlainLabel),
      space_(new PlainLabel),
      estimate_(new PlainLabel),
      refusal_(new PlainLabel),
      content_(new ContentPane(format_)),
      folder_(new QLineEdit),
      get_(new QPushButton(tr("&Get"))),
      pause_(make_pause(kPause, this)),
      facts_pause_(make_pause(kFactsPause, this)) {
  table_->setModel(&model_);
  table_->setAccessibleName(tr("Data sets found"));
  set_up_table(*table_, SearchModel::columns());
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  auto* split = new QSplitter;
  split->addWidget(table_);
  split->addWidget(make_details());
  split->setStretchFactor(0, 1);
  split->setChildrenCollapsible(false);
  auto* column = new QVBoxLayout(this);
  column->addLayout(make_search());
  column->addWidget(filters_);
  column->addWidget(split, 1);
  filters_->hide();

  connect(text_, &QLineEdit::textChanged, pause_, qOverload<>(&QTimer::start));
  connect(text_, &QLineEdit::returnPressed, table_, qOverload<>(&QWidget::setFocus));
  connect(filters_, &SearchFilters::changed, pause_, qOverload<>(&QTimer::start));
  connect(filter_, &QToolButton::toggled, this, [this](bool on) {
    filters_->setVisible(on);
    search();
  });
  connect(pause_, &QTimer::timeout, this, &FindPage::search);
  connect(facts_pause_, &QTimer::timeout, this, &FindPage::ask_for_facts);
  connect(&model_, &QAbstractItemModel::modelReset, this, &FindPage::follow_current);
  connect(&model_, &QAbstractItemModel::modelReset, this, &FindPage::tell_count);
  connect(&model_, &QAbstractItemModel::rowsInserted, this, &FindPage::tell_count);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &FindPage::follow_current);
  connect(table_, &QAbstractItemView::activated, get_, qOverload<>(&QWidget::setFocus));
  follow_current();
  tell_count();
}

QLayout* FindPage::make_search() {
  text_->setPlaceholderText(tr("Part of a name…"));
  text_->setAccessibleName(tr("Find data sets by a part of their name"));
  text_->setClearButtonEnabled(true);
  filter_->setText(tr("&Filters"));
  filter_->setCheckable(true);
  filter_->setToolTip(tr("Search by owner, tag, access, group, size and time. Filters that are hidden do not count."));
  count_->setTextFormat(Qt::PlainText);
  auto* line = new QHBoxLayout;
  line->addWidget(text_, 1);
  line->addWidget(filter_);
  line->addWidget(count_);
  return line;
}

QWidget* FindPage::make_details() {
  QFont bold = font();
  bold.setBold(true);
  name_->setFont(bold);
  folder_->setPlaceholderText(tr("Folder to put it in"));
  folder_->setAccessibleName(tr("Folder for fetched data"));
  auto* choose = new QPushButton(tr("Fold&er…"));
  connect(choose, &QPushButton::clicked, this, &FindPage::choose_folder);
  connect(folder_, &QLineEdit::editingFinished, this, &FindPage::ask_for_facts);
  connect(folder_, &QLineEdit::textChanged, this, &FindPage::allow_get);
  connect(content_, &ContentPane::choice_changed, this, &FindPage::follow_choice);
  connect(content_, &ContentPane::files_wanted, this, [this] { Q_EMIT files_wanted(current_id()); });
  connect(get_, &QPushButton::clicked, this, &FindPage::get);
  auto* line = new QHBoxLayout;
  line->addWidget(folder_, 1);
  line->addWidget(choose);
  auto* details = new QWidget;
  details->setMinimumWidth(230);
  auto* column = new QVBoxLayout(details);
  for (QLabel* label : {name_, about_}) column->addWidget(label);
  column->addWidget(content_, 1);
  column->addLayout(line);
  for (QLabel* label : {choice_note_, space_, estimate_, refusal_}) column->addWidget(label);
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

QString FindPage::folder() const {
  return folder_->text();
}

std::string FindPage::columns() const {
  return columns_text(*table_, SearchModel::columns());
}

void FindPage::set_columns(std::string_view text) {
  place_columns(*table_, SearchModel::columns(), text);
}

void FindPage::set_facts(const GetFacts& facts) {
  facts_ = facts;
  tell_space();
}

void FindPage::tell_space() {
  const FoundRow* row = current();
  const QString free = facts_.free_bytes ? format_.bytes(*facts_.free_bytes) : Format::unknown();
  const auto needed = [&] { return format_.bytes(content_->chosen_bytes().value_or(row->bytes)); };
  say(*space_, row == nullptr ? QString() : tr("Needs %1, free %2").arg(needed(), free));
  say(*estimate_, shown(facts_.estimate));
}

void FindPage::set_content(const ContentFacts& facts) {
  if (facts.id == current_id()) content_->set_facts(facts);
}

void FindPage::set_content_problem(const std::string& content_id, const QString& text) {
  if (content_id == current_id()) content_->set_problem(text);
}

void FindPage::set_files(const std::string& content_id, FileTree files) {
  if (content_id == current_id()) content_->set_files(std::move(files));
}

void FindPage::set_files_problem(const std::string& content_id, const QString& text) {
  if (content_id == current_id()) content_->set_files_problem(text);
}

void FindPage::set_groups(const std::vector<std::string>& names) {
  filters_->set_groups(names);
}

void FindPage::set_refusal(const QString& text) {
  say(*refusal_, text);
}

void FindPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (current() == nullptr) ask_again();
}

void FindPage::ask_again() {
  search();
}

void FindPage::search() {
  pause_->stop();
  SearchQuery query;
  query.text = text_->text().trimmed().toStdString();
  Q_EMIT search_wanted(filter_->isChecked() ? filters_->query(text_->text()) : query);
  tell_count();
}

void FindPage::set_problem(const QString& text) {
  problem_ = text;
  tell_count();
}

const FoundRow* FindPage::current() const {
  return model_.at(table_->currentIndex());
}

std::string FindPage::current_id() const {
  const FoundRow* row = current();
  return row != nullptr ? row->id : std::string();
}

void FindPage::follow_current() {
  const FoundRow* row = current();
  name_->setText(row == nullptr ? tr("Choose a data set at the left.") : shown(row->name));
  say(*about_, row == nullptr ? QString()
                              : tr("Of %1, %2 in files: %3, complete copies served now: %4")
                                    .arg(shown(row->owner), format_.bytes(row->bytes), format_.count(row->files),
                                         format_.count(row->seeders)));
  content_->start(row != nullptr);
  set_facts({});
  set_refusal({});
  Q_EMIT current_changed(current_id());
  ask_for_facts();
}

void FindPage::follow_choice() {
  choice_ = content_->choice();
  say(*choice_note_,
      !content_->any_chosen() ? tr("Choose a file at least.")
      : choice_.too_many ? tr("These are too many single files. Choose whole folders, or %1 files and folders at most.")
                               .arg(format_.count(kMostGlobs))
      : choice_.unwanted ? tr("A file comes, too, whose name cannot be told from a chosen one: %1. Choose its folder.")
                               .arg(shown(*choice_.unwanted))
                         : QString());
  allow_get();
  tell_space();
  facts_pause_->start();
}

void FindPage::allow_get() {
  get_->setEnabled(current() != nullptr && !folder_->text().isEmpty() && content_->any_chosen() && !choice_.too_many);
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
  facts_pause_->stop();
  if (current() != nullptr && get_->isEnabled()) Q_EMIT facts_wanted(current_id(), folder_->text(), choice_.globs);
}

void FindPage::get() {
  if (current() != nullptr) Q_EMIT get_wanted(current_id(), folder_->text(), choice_.globs);
}

}  // namespace gridtorrent::gui
