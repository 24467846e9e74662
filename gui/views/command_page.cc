#include "gui/views/command_page.h"

#include <QBoxLayout>
#include <QClipboard>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QLineEdit>
#include <QPushButton>

#include "gui/views/plain_label.h"

namespace gridtorrent::gui {

namespace {
constexpr int kTextWidth = 620;  // lines that are easy to read
}

CommandPage::CommandPage(const Guidance& guidance, QWidget* parent)
    : QWidget(parent),
      heading_(new PlainLabel),
      text_(new PlainLabel),
      command_(new QLineEdit),
      copy_(new QPushButton(tr("&Copy"))) {
  QFont large = font();
  large.setPointSizeF(large.pointSizeF() * 1.35);
  large.setBold(true);
  heading_->setFont(large);
  command_->setReadOnly(true);
  command_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  command_->setAccessibleName(tr("Command"));
  copy_->setAccessibleName(tr("Copy the command"));
  connect(copy_, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(command_->text()); });

  auto* line = new QHBoxLayout;
  line->addWidget(command_);
  line->addWidget(copy_);
  auto* column = new QVBoxLayout;
  column->addStretch(1);
  column->addWidget(heading_);
  column->addWidget(text_);
  column->addLayout(line);
  column->addStretch(2);
  auto* narrow = new QWidget;
  narrow->setLayout(column);
  narrow->setMaximumWidth(kTextWidth);
  auto* middle = new QHBoxLayout(this);
  middle->addStretch(1);
  middle->addWidget(narrow, 100);
  middle->addStretch(1);
  set_guidance(guidance);
}

void CommandPage::set_guidance(const Guidance& guidance) {
  heading_->setText(guidance.heading);
  text_->setText(guidance.text);
  text_->setVisible(!guidance.text.isEmpty());
  command_->setText(guidance.command);
  command_->setCursorPosition(0);
  command_->setVisible(!guidance.command.isEmpty());
  copy_->setVisible(!guidance.command.isEmpty());
}

}  // namespace gridtorrent::gui
