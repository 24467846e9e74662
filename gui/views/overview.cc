#include "gui/views/overview.h"

#include <QGridLayout>

#include "gui/models/text.h"
#include "gui/views/plain_label.h"

namespace gridtorrent::gui {

Overview::Overview(Format format, QWidget* parent)
    : QWidget(parent), format_(std::move(format)), hint_(new PlainLabel(tr("Choose a transfer above."))) {
  auto* grid = new QGridLayout(this);
  const QStringList titles{tr("Name"), tr("State"), tr("Done"), tr("Place"), tr("Limited by"), tr("Message")};
  for (int i = 0; i < titles.size(); ++i) {
    auto* title = new QLabel(titles[i]);
    auto* value = new PlainLabel;
    title->setBuddy(value);
    grid->addWidget(title, i, 0, Qt::AlignTop | Qt::AlignRight);
    grid->addWidget(value, i, 1);
    titles_.push_back(title);
    values_.push_back(value);
  }
  grid->addWidget(hint_, static_cast<int>(titles.size()), 0, 1, 2);
  grid->setColumnStretch(1, 1);
  grid->setRowStretch(static_cast<int>(titles.size()) + 1, 1);
  set_transfer(nullptr);
}

void Overview::set_transfer(const TransferRow* row) {
  hint_->setVisible(row == nullptr);
  if (row == nullptr) return show_texts(std::vector<QString>(values_.size()));
  QString done = tr("%1: %2 of %3")
                     .arg(format_.percent(row->verified_bytes, row->total_bytes), format_.bytes(row->verified_bytes),
                          format_.bytes(row->total_bytes));
  if (row->left) done += tr(", %1 left").arg(format_.duration(row->left));
  show_texts({shown(row->owner) + u'/' + shown(row->name), state_text(row->state), done, shown(row->path),
              row->limit_word.empty() ? QString() : limit_text(row->limit_word), shown(row->message)});
}

void Overview::show_texts(const std::vector<QString>& texts) {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    values_[i]->setText(texts[i]);
    values_[i]->setVisible(!texts[i].isEmpty());
    titles_[i]->setVisible(!texts[i].isEmpty());
  }
}

}  // namespace gridtorrent::gui
