#include "gui/views/content_pane.h"

#include <QBoxLayout>
#include <QHeaderView>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTimer>
#include <QTreeView>

#include "gui/views/plain_label.h"
#include "gui/views/table_setup.h"

namespace gridtorrent::gui {

namespace {
constexpr std::chrono::milliseconds kPause{150};
}

ContentPane::ContentPane(Format format, QWidget* parent)
    : QTabWidget(parent),
      format_(std::move(format)),
      model_(format_, FilesModel::Boxes::kToChoose),
      about_(new QPlainTextEdit),
      filter_(new QLineEdit),
      sum_(new PlainLabel),
      problem_(new PlainLabel),
      files_(make_files()),
      pause_(new QTimer(this)) {
  setDocumentMode(true);
  setAccessibleName(tr("About the data set"));
  about_->setReadOnly(true);
  about_->setFrameShape(QFrame::NoFrame);
  about_->setTabChangesFocus(true);
  about_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  about_->setAccessibleName(tr("Description, access and copies"));
  addTab(about_, tr("About"));
  addTab(files_, tr("Files"));
  pause_->setSingleShot(true);
  pause_->setInterval(kPause);
  connect(this, &QTabWidget::currentChanged, this, &ContentPane::want_files);
  connect(filter_, &QLineEdit::textChanged, pause_, qOverload<>(&QTimer::start));
  connect(pause_, &QTimer::timeout, this, [this] { model_.set_filter(filter_->text().toStdString()); });
  connect(&model_, &FilesModel::choice_changed, this, &ContentPane::tell_choice);
  start(false);
}

QWidget* ContentPane::make_files() {
  filter_->setPlaceholderText(tr("Filter files…"));
  filter_->setAccessibleName(tr("Filter files by a part of their path"));
  filter_->setClearButtonEnabled(true);
  auto* all = new QPushButton(tr("A&ll"));
  auto* none = new QPushButton(tr("&None"));
  all->setAccessibleName(tr("Choose all files that are shown"));
  none->setAccessibleName(tr("Choose none of the files that are shown"));
  connect(all, &QPushButton::clicked, this, [this] { model_.choose(true); });
  connect(none, &QPushButton::clicked, this, [this] { model_.choose(false); });
  auto* tree = new QTreeView;
  tree->setModel(&model_);
  tree->setAccessibleName(tr("Files to get"));
  set_up_tree(*tree, FilesModel::columns());
  tree->header()->resizeSection(FilesModel::kName, tree->fontMetrics().averageCharWidth() * 26);
  auto* line = new QHBoxLayout;
  line->addWidget(filter_, 1);
  line->addWidget(all);
  line->addWidget(none);
  auto* files = new QWidget;
  auto* column = new QVBoxLayout(files);
  column->setContentsMargins(0, 6, 0, 0);
  column->addLayout(line);
  column->addWidget(problem_);
  column->addWidget(tree, 1);
  column->addWidget(sum_);
  return files;
}

void ContentPane::start(bool any) {
  any_ = any;
  asked_ = known_ = false;
  about_->clear();
  filter_->clear();
  model_.set_tree({});
  set_files_problem({});
  want_files();
}

void ContentPane::set_facts(const ContentFacts& facts) {
  about_->setPlainText(content_text(facts, format_));
}

void ContentPane::set_problem(const QString& text) {
  about_->setPlainText(text);
}

void ContentPane::set_files(FileTree files) {
  known_ = true;
  set_files_problem({});
  model_.set_tree(std::move(files));
  model_.set_filter(filter_->text().toStdString());
}

void ContentPane::set_files_problem(const QString& text) {
  problem_->setText(text);
  problem_->setVisible(!text.isEmpty());
  if (!known_) asked_ = false;
}

void ContentPane::want_files() {
  if (!any_ || known_ || asked_ || currentWidget() != files_) return;
  set_files_problem(tr("Asking for the list of files…"));
  asked_ = true;
  Q_EMIT files_wanted();
}

std::optional<std::uint64_t> ContentPane::chosen_bytes() const {
  return known_ ? std::optional(model_.chosen_bytes()) : std::nullopt;
}

bool ContentPane::any_chosen() const {
  return !known_ || model_.chosen_files() > 0 || model_.tree().files() == 0;
}

GlobChoice ContentPane::choice() const {
  return known_ && model_.chosen_files() > 0 ? globs_of(model_.tree(), model_.chosen()) : GlobChoice();
}

void ContentPane::tell_choice() {
  sum_->setText(!known_ ? QString()
                        : tr("Chosen: %1 of %2, %3")
                              .arg(format_.count(model_.chosen_files()), format_.count(model_.tree().files()),
                                   format_.bytes(model_.chosen_bytes())));
  Q_EMIT choice_changed();
}

}  // namespace gridtorrent::gui
