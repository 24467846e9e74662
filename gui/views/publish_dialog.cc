#include "gui/views/publish_dialog.h"

#include <QBoxLayout>
#include <QCheckBox>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFile>
#include <QFileDialog>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QRadioButton>
#include <QTimer>

#include "gui/models/text.h"
#include "gui/views/dropped.h"
#include "gui/views/plain_label.h"
#include "gui/views/scrolling.h"
#include "gui/views/words_edit.h"

namespace gridtorrent::gui {

namespace {

constexpr std::chrono::milliseconds kPause{300};
constexpr int kLines = 3;
constexpr QSize kUsual{600, 620};

QString last_part(const QString& path) {
  return path.section(u'/', -1, -1, QString::SectionSkipEmpty);
}

/// A grid, because QFormLayout keeps room for more lines than a text that wraps has.
void add_row(QGridLayout& form, const QString& title, QWidget* field) {
  const int row = form.rowCount();
  form.addWidget(field, row, 1);
  if (title.isEmpty()) return;
  auto* label = new QLabel(title);
  label->setBuddy(field->focusProxy() != nullptr ? field->focusProxy() : field);  // a key reaches what takes a focus
  const bool one_line = field->sizeHint().height() < 2 * label->sizeHint().height();
  form.addWidget(label, row, 0, one_line ? Qt::AlignVCenter : Qt::AlignTop);
}

QTimer* make_pause(QObject* parent) {
  auto* timer = new QTimer(parent);
  timer->setSingleShot(true);
  timer->setInterval(kPause);
  return timer;
}

}  // namespace

PublishDialog::PublishDialog(Format format, QWidget* parent)
    : QDialog(parent),
      format_(std::move(format)),
      path_(new QLineEdit),
      name_(new QLineEdit),
      license_(new QLineEdit),
      description_(new QPlainTextEdit),
      tags_(new WordsEdit),
      groups_(new WordsEdit),
      people_(new WordsEdit),
      only_me_(new QRadioButton(tr("Only &me"))),
      chosen_(new QRadioButton(tr("T&hese:"))),
      everyone_(new QRadioButton(tr("E&veryone on this server"))),
      buddies_(new QCheckBox(tr("My &buddies"))),
      strict_(new QCheckBox(tr("Refuse lin&ks and devices instead of skipping them"))),
      several_(new PlainLabel),
      scan_(new PlainLabel),
      audience_(new PlainLabel),
      fault_(new PlainLabel),
      refusal_(new PlainLabel),
      warnings_(new QListWidget),
      form_(new QWidget),
      targets_(new QWidget),
      clear_(new QPushButton(tr("&Clear"))),
      publish_(new QPushButton(tr("&Publish"))),
      path_pause_(make_pause(this)),
      audience_pause_(make_pause(this)) {
  setWindowTitle(tr("Publish"));
  setAcceptDrops(true);
  path_->setAcceptDrops(false);  // it would take the URL for text
  auto* column = new QVBoxLayout(this);
  column->addWidget(make_form(), 1);
  for (QLabel* label : {fault_, refusal_}) column->addWidget(label);
  column->addLayout(make_buttons());
  resize(kUsual);
  join_fields();
  clear();
}

QWidget* PublishDialog::make_form() {
  auto* column = new QVBoxLayout(form_);
  column->setContentsMargins(0, 0, 0, 0);
  auto* fields = new QGridLayout;
  add_fields(*fields);
  column->addLayout(fields);
  column->addStretch(1);
  return scrolling(form_);
}

void PublishDialog::add_fields(QGridLayout& form) {
  name_->setAccessibleName(tr("Name of the data set"));
  description_->setAccessibleName(tr("Description"));
  description_->setTabChangesFocus(true);
  description_->setFixedHeight(description_->fontMetrics().lineSpacing() * kLines + 12);
  tags_->setAccessibleName(tr("Tags, with commas between them"));
  tags_->setPlaceholderText(tr("With commas between them"));
  license_->setAccessibleName(tr("Licence"));
  license_->setPlaceholderText(tr("As in CC-BY-4.0"));
  warnings_->setAccessibleName(tr("What is skipped, and why"));
  warnings_->setFixedHeight(warnings_->fontMetrics().lineSpacing() * kLines + 12);

  add_row(form, tr("&File or folder"), make_path());
  add_row(form, {}, several_);
  add_row(form, {}, scan_);
  add_row(form, {}, warnings_);
  add_row(form, tr("&Name"), name_);
  add_row(form, tr("&Description"), description_);
  add_row(form, tr("&Tags"), tags_);
  add_row(form, tr("&Licence"), license_);
  add_row(form, tr("Who gets it"), make_access());
  add_row(form, {}, audience_);
  add_row(form, {}, strict_);
}

QWidget* PublishDialog::make_path() {
  path_->setAccessibleName(tr("File or folder to publish"));
  auto* file = new QPushButton(tr("F&ile…"));
  auto* folder = new QPushButton(tr("F&older…"));
  connect(file, &QPushButton::clicked, this, [this] { choose_path(false); });
  connect(folder, &QPushButton::clicked, this, [this] { choose_path(true); });
  for (QPushButton* button : {file, folder}) button->setAutoDefault(false);
  auto* row = new QWidget;
  row->setFocusProxy(path_);
  auto* line = new QHBoxLayout(row);
  line->setContentsMargins(0, 0, 0, 0);
  line->addWidget(path_, 1);
  line->addWidget(file);
  line->addWidget(folder);
  return row;
}

QWidget* PublishDialog::make_access() {
  groups_->setAccessibleName(tr("Groups, with commas between them"));
  groups_->setPlaceholderText(tr("Names with commas between them"));
  people_->setAccessibleName(tr("People by their exact user names, with commas between them"));
  people_->setPlaceholderText(tr("Exact user names with commas between them"));
  auto* form = new QGridLayout(targets_);
  form->setContentsMargins(24, 0, 0, 0);
  add_row(*form, tr("&Groups"), groups_);
  add_row(*form, tr("P&eople"), people_);
  add_row(*form, {}, buddies_);
  auto* access = new QWidget;
  auto* column = new QVBoxLayout(access);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(only_me_);
  column->addWidget(chosen_);
  column->addWidget(targets_);
  column->addWidget(everyone_);
  return access;
}

QLayout* PublishDialog::make_buttons() {
  auto* note = new PlainLabel(tr("The node does the work: it goes on where you close this window."));
  auto* close = new QPushButton(tr("Clo&se"));
  close->setToolTip(tr("What you have entered stays here (Esc)"));
  connect(clear_, &QPushButton::clicked, this, &PublishDialog::clear);
  connect(close, &QPushButton::clicked, this, &QDialog::reject);
  connect(publish_, &QPushButton::clicked, this, &PublishDialog::publish);
  for (QPushButton* button : {clear_, close}) button->setAutoDefault(false);
  publish_->setDefault(true);
  auto* line = new QHBoxLayout;
  line->addWidget(note, 1);
  line->addWidget(clear_);
  line->addWidget(close);
  line->addWidget(publish_);
  return line;
}

void PublishDialog::join_fields() {
  connect(path_, &QLineEdit::textChanged, this, &PublishDialog::follow_path);
  connect(path_pause_, &QTimer::timeout, this, [this] { Q_EMIT scan_wanted(path_->text()); });
  connect(audience_pause_, &QTimer::timeout, this, [this] { Q_EMIT preview_wanted(access_of(draft())); });
  for (QLineEdit* line : {name_, license_, static_cast<QLineEdit*>(tags_)})
    connect(line, &QLineEdit::textChanged, this, &PublishDialog::check);
  for (WordsEdit* line : {groups_, people_})
    connect(line, &QLineEdit::textChanged, this, &PublishDialog::follow_audience);
  connect(buddies_, &QCheckBox::toggled, this, &PublishDialog::follow_audience);
  for (QRadioButton* button : {only_me_, chosen_, everyone_}) {
    connect(button, &QRadioButton::toggled, this, [this](bool on) {
      if (on) follow_audience();
    });
    // Qt clicks a button that is chosen by its key only after 100 ms. The key of a field that is enabled by it would be
    // lost meanwhile, and the name that is typed next with it.
    connect(button, &QRadioButton::pressed, button, [button] { button->setChecked(true); });
  }
}

void PublishDialog::open_for(const QStringList& paths) {
  if (!paths.isEmpty() && !asked_) {
    path_->setText(paths.front());
    say(*several_, paths.size() < 2
                       ? QString()
                       : tr("You dropped %n things, and a data set is one file or folder: this is the first "
                            "of them. To publish them together, put them into one folder.",
                            nullptr, static_cast<int>(paths.size())));
  }
  show();
  raise();
  activateWindow();
  (path_->text().isEmpty() ? path_ : name_)->setFocus();
  Q_EMIT opened();
  scan_again();
  preview_again();
}

void PublishDialog::dragEnterEvent(QDragEnterEvent* event) {
  if (!dropped_paths(*event->mimeData()).isEmpty()) event->acceptProposedAction();
}

void PublishDialog::dropEvent(QDropEvent* event) {
  const QStringList paths = dropped_paths(*event->mimeData());
  if (paths.isEmpty()) return;
  event->acceptProposedAction();
  open_for(paths);
}

void PublishDialog::scan_again() {
  if (isVisible()) path_pause_->start();
}

void PublishDialog::preview_again() {
  if (isVisible()) audience_pause_->start();
}

void PublishDialog::hideEvent(QHideEvent* event) {
  QDialog::hideEvent(event);
  for (QTimer* pause : {path_pause_, audience_pause_}) pause->stop();
  Q_EMIT scan_wanted({});
}

PublishDraft PublishDialog::draft() const {
  PublishDraft draft;
  draft.path = QFile::encodeName(path_->text()).toStdString();
  draft.name = name_->text().trimmed().toStdString();
  draft.description = description_->toPlainText().trimmed().toStdString();
  draft.tags = tags_->words();
  draft.license = license_->text().trimmed().toStdString();
  draft.audience = everyone_->isChecked() ? Audience::kEveryone
                   : chosen_->isChecked() ? Audience::kChosen
                                          : Audience::kOnlyMe;
  draft.groups = groups_->words();
  draft.people = people_->words();
  draft.buddies = buddies_->isChecked();
  draft.strict = strict_->isChecked();
  return draft;
}

void PublishDialog::choose_path(bool folder) {
  const QString path = folder ? QFileDialog::getExistingDirectory(this, tr("Folder to publish"), path_->text())
                              : QFileDialog::getOpenFileName(this, tr("File to publish"), path_->text());
  if (!path.isEmpty()) path_->setText(path);
}

void PublishDialog::follow_path() {
  say(*several_, {});
  set_scan_problem(path_->text().isEmpty() ? QString() : tr("Counting…"));
  suggest_name(last_part(path_->text()));
  scan_again();
  check();
}

/// In place of a name that nobody has typed.
void PublishDialog::suggest_name(const QString& name) {
  if (name_->text() != suggested_) return;
  suggested_ = name;
  name_->setText(name);
}

void PublishDialog::follow_audience() {
  targets_->setEnabled(chosen_->isChecked());
  say(*audience_, audience_text(draft()));
  preview_again();
  check();
}

void PublishDialog::set_scan(const PublishScan& scan) {
  say(*scan_, scan_text(scan, format_));
  warnings_->clear();
  for (const std::string& warning : scan.warnings) warnings_->addItem(shown(warning));
  if (scan.skipped > scan.warnings.size())
    warnings_->addItem(tr("Skipped in all: %1").arg(format_.count(scan.skipped)));
  warnings_->setVisible(warnings_->count() > 0);
  if (!scan.name.empty()) suggest_name(QString::fromStdString(scan.name));
}

void PublishDialog::set_scan_problem(const QString& text) {
  say(*scan_, text);
  warnings_->clear();
  warnings_->hide();
}

void PublishDialog::set_preview(const std::string& access, const QString& text) {
  const PublishDraft now = draft();
  if (access == access_of(now) && fault_of(now) != DraftFault::kNobodyChosen) say(*audience_, text);
}

void PublishDialog::set_groups(const std::vector<std::string>& names) {
  groups_->set_known(names);
}

void PublishDialog::check() {
  const auto fault = fault_of(draft());
  say(*fault_, fault ? fault_text(*fault) : QString());
  publish_->setEnabled(!fault && !asked_);
}

void PublishDialog::publish() {
  say(*refusal_, {});
  set_asked(true);
  Q_EMIT publish_wanted(draft());
}

/// Nothing can be changed until the node answers: it would be lost where the node has begun.
void PublishDialog::set_asked(bool asked) {
  asked_ = asked;
  form_->setEnabled(!asked);
  clear_->setEnabled(!asked);
  publish_->setText(asked ? tr("Asking the node…") : tr("&Publish"));
  check();
}

void PublishDialog::set_accepted() {
  clear();
  hide();
}

void PublishDialog::set_refusal(const QString& text) {
  say(*refusal_, text);
  set_asked(false);
}

void PublishDialog::clear() {
  suggested_.clear();
  for (QLineEdit* line : findChildren<QLineEdit*>()) line->clear();
  description_->clear();
  only_me_->setChecked(true);
  buddies_->setChecked(false);
  strict_->setChecked(false);
  set_scan_problem({});
  set_refusal({});
  say(*several_, {});
  follow_audience();
}

}  // namespace gridtorrent::gui
