#include "gui/views/files_tab.h"

#include <QBoxLayout>
#include <QPushButton>
#include <QTreeView>
#include <algorithm>
#include <utility>

#include "gui/views/plain_label.h"
#include "gui/views/table_setup.h"

namespace gridtorrent::gui {

FilesTab::FilesTab(Format format, QWidget* parent)
    : QWidget(parent),
      format_(std::move(format)),
      model_(format_),
      sum_(new PlainLabel),
      take_(new QPushButton(tr("Fetch the&se"))),
      back_(new QPushButton(tr("As &before"))) {
  auto* tree = new QTreeView;
  tree->setModel(&model_);
  tree->setAccessibleName(tr("Files"));
  set_up_tree(*tree, FilesModel::columns());
  take_->setAccessibleName(tr("Fetch the chosen files and no others"));
  back_->setAccessibleName(tr("Choose the files that are being fetched"));
  auto* line = new QHBoxLayout;
  line->addWidget(sum_, 1);
  line->addWidget(back_);
  line->addWidget(take_);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(tree, 1);
  column->addLayout(line);
  connect(take_, &QPushButton::clicked, this, [this] { Q_EMIT choice_wanted(chosen_places()); });
  connect(back_, &QPushButton::clicked, this, &FilesTab::take_back);
  connect(&model_, &FilesModel::choice_changed, this, &FilesTab::show_choice);
  show_choice();
}

void FilesTab::set_files(FileTree files) {
  known_ = false;
  before_.clear();
  model_.set_tree(std::move(files));
  show_choice();
}

void FilesTab::set_chosen(const std::vector<std::uint32_t>& places) {
  const bool choosing = known_ && chosen_places() != before_;
  before_ = places;
  std::ranges::sort(before_);
  known_ = true;
  if (!choosing) take_back();
  show_choice();
}

void FilesTab::set_choosable(bool choosable) {
  if (std::exchange(choosable_, choosable) == choosable) return;
  if (!choosable) take_back();
  show_choice();
}

void FilesTab::take_back() {
  if (!known_) return;
  std::vector<bool> chosen(model_.tree().files());
  for (std::size_t i = 0; i < chosen.size(); ++i)
    chosen[i] = std::ranges::binary_search(before_, model_.tree().file(i).place);
  model_.set_chosen(std::move(chosen));
}

std::vector<std::uint32_t> FilesTab::chosen_places() const {
  std::vector<std::uint32_t> places;
  for (std::size_t i = 0; i < model_.tree().files(); ++i)
    if (model_.chosen()[i]) places.push_back(model_.tree().file(i).place);
  std::ranges::sort(places);
  return places;
}

void FilesTab::show_choice() {
  const bool shown = known_ && choosable_ && model_.tree().files() > 1;
  const bool other = shown && chosen_places() != before_;
  model_.set_boxes(shown ? FilesModel::Boxes::kToChoose : FilesModel::Boxes::kNone);
  sum_->setText(!known_ ? QString()
                        : tr("Chosen: %1 of %2, %3")
                              .arg(format_.count(model_.chosen_files()), format_.count(model_.tree().files()),
                                   format_.bytes(model_.chosen_bytes())));
  take_->setVisible(shown);
  back_->setVisible(shown);
  take_->setEnabled(other && model_.chosen_files() > 0);
  back_->setEnabled(other);
}

}  // namespace gridtorrent::gui
