#include "gui/views/notice_bar.h"

#include <QAccessible>
#include <QBoxLayout>
#include <QPushButton>

#include "gui/views/plain_label.h"

namespace gridtorrent::gui {

NoticeBar::NoticeBar(QWidget* parent) : QFrame(parent), text_(new PlainLabel) {
  setAutoFillBackground(true);
  QPalette yellow = palette();
  yellow.setColor(QPalette::Window, QColor(0xFF, 0xE0, 0x82));
  yellow.setColor(QPalette::WindowText, QColor(0x20, 0x1A, 0x00));
  setPalette(yellow);
  text_->setPalette(yellow);
  auto* now = new QPushButton(tr("Tr&y now"));
  auto* doctor = new QPushButton(tr("&Doctor"));
  now->setPalette(QPalette());
  doctor->setPalette(QPalette());
  doctor->setAccessibleDescription(tr("Checks what keeps server or node from answering"));
  connect(now, &QPushButton::clicked, this, &NoticeBar::retry_wanted);
  connect(doctor, &QPushButton::clicked, this, &NoticeBar::doctor_wanted);
  auto* line = new QHBoxLayout(this);
  line->setContentsMargins(10, 4, 6, 4);
  line->addWidget(text_, 1);
  line->addWidget(now);
  line->addWidget(doctor);
  hide();
}

void NoticeBar::set_notice(const QString& text) {
  if (text_->text() == text) return;
  const bool appears = text_->text().isEmpty();
  text_->setText(text);
  setAccessibleName(text);
  setVisible(!text.isEmpty());
  if (appears) {
    QAccessibleEvent alert(this, QAccessible::Alert);
    QAccessible::updateAccessibility(&alert);
  }
}

}  // namespace gridtorrent::gui
