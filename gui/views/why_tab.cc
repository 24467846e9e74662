#include "gui/views/why_tab.h"

#include <QBoxLayout>
#include <QClipboard>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>

#include "gui/models/text.h"
#include "gui/models/transfer_row.h"
#include "gui/plots/cursor.h"
#include "gui/views/plain_label.h"
#include "gui/views/scrolling.h"

namespace gridtorrent::gui {

WhyTab::WhyTab(Format format, QWidget* parent)
    : QWidget(parent),
      format_(std::move(format)),
      word_(new PlainLabel),
      detail_(new PlainLabel),
      advice_(new PlainLabel),
      plan_(new PlainLabel),
      command_(new QLineEdit),
      copy_(new QPushButton(tr("&Copy"))),
      hold_(new QPushButton(tr("&Hold at…"))),
      limit_(new QPushButton(tr("&Limit…"))),
      decisions_(new QListWidget) {
  QFont bold = font();
  bold.setBold(true);
  word_->setFont(bold);
  command_->setReadOnly(true);
  command_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  command_->setAccessibleName(tr("Command that helps"));
  copy_->setAccessibleName(tr("Copy the command"));
  connect(copy_, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(command_->text()); });
  decisions_->setAccessibleName(tr("Decisions of the tuner, the newest first"));
  decisions_->setAlternatingRowColors(true);
  decisions_->setWordWrap(true);

  auto* line = new QHBoxLayout;
  line->addWidget(command_, 1);
  line->addWidget(copy_);
  auto* texts = new QWidget;
  auto* left = new QVBoxLayout(texts);
  left->setContentsMargins(0, 0, 0, 0);
  for (QLabel* label : {word_, detail_, advice_}) left->addWidget(label);
  left->addLayout(line);
  left->addWidget(plan_);
  left->addStretch(1);
  hold_->setToolTip(tr("Hold a rate, also where others use the path"));
  limit_->setToolTip(tr("Go no faster than a rate"));
  connect(hold_, &QPushButton::clicked, this, &WhyTab::hold_wanted);
  connect(limit_, &QPushButton::clicked, this, &WhyTab::limit_wanted);
  auto* actions = new QHBoxLayout;
  actions->addWidget(hold_);
  actions->addWidget(limit_);
  actions->addStretch(1);
  auto* whole = new QVBoxLayout;
  whole->addWidget(scrolling(texts), 1);
  whole->addLayout(actions);
  auto* right = new QVBoxLayout;
  auto* heading = new QLabel(tr("Decisions"));
  heading->setBuddy(decisions_);
  right->addWidget(heading);
  right->addWidget(decisions_, 1);
  auto* both = new QHBoxLayout(this);
  both->addLayout(whole, 1);
  both->addLayout(right, 1);
  set_explanation({});
  set_actions(false, false);
}

void WhyTab::set_actions(bool can_hold, bool can_limit) {
  hold_->setEnabled(can_hold);
  limit_->setEnabled(can_limit);
}

void WhyTab::set_explanation(const Explanation& explanation) {
  say(*word_, explanation.limit_word.empty() ? tr("Nothing is known of what limits this transfer.")
                                             : tr("Limited by: %1").arg(limit_text(explanation.limit_word)));
  say(*detail_, shown(explanation.limit_detail));
  say(*advice_, shown(explanation.advice));
  say(*plan_, shown(explanation.plan));
  const bool any = !explanation.advice_command.empty();
  command_->setText(shown(explanation.advice_command));
  command_->setCursorPosition(0);
  command_->setVisible(any);
  copy_->setVisible(any);
}

void WhyTab::set_decisions(const std::vector<LaneDecision>& decisions) {
  decisions_->clear();
  for (auto decision = decisions.rbegin(); decision != decisions.rend(); ++decision)
    decisions_->addItem(format_.time_of_day(decision->at_ms) + u' ' + decision_text(*decision, format_));
}

}  // namespace gridtorrent::gui
