#include "gui/views/rate_dialog.h"

#include <QBoxLayout>
#include <QDialogButtonBox>
#include <QLineEdit>
#include <QPushButton>

#include "common/units.h"
#include "gui/views/plain_label.h"

namespace gridtorrent::gui {

namespace {

/// Also with the decimal comma of other locales.
Result<std::uint64_t> rate_of(QString text) {
  return parse_bits_per_s(text.trimmed().replace(u',', u'.').toStdString());
}

}  // namespace

RateDialog::RateDialog(const QString& title, const QString& question, QWidget* parent)
    : QDialog(parent), rate_(new QLineEdit), fault_(new PlainLabel) {
  setWindowTitle(title);
  rate_->setAccessibleName(question);
  rate_->setPlaceholderText(tr("As in 200 Mbit or 25 MB (a second); 0: none"));
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
  ok_ = buttons->button(QDialogButtonBox::Ok);
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(rate_, &QLineEdit::textChanged, this, &RateDialog::check);
  connect(this, &QDialog::accepted, this, [this] {
    if (const auto rate = rate_of(rate_->text())) Q_EMIT chosen(*rate);
  });
  auto* column = new QVBoxLayout(this);
  for (QWidget* widget : {static_cast<QWidget*>(new PlainLabel(question)), static_cast<QWidget*>(rate_),
                          static_cast<QWidget*>(fault_), static_cast<QWidget*>(buttons)})
    column->addWidget(widget);
  setMinimumWidth(rate_->fontMetrics().averageCharWidth() * 60);
  rate_->setFocus();
  check();
}

void RateDialog::check() {
  const bool good = rate_of(rate_->text()).ok();
  ok_->setEnabled(good);
  fault_->setText(good || rate_->text().trimmed().isEmpty()
                      ? QString()
                      : tr("This is no rate. Write it like 200 Mbit or 25 MB (a second)."));
}

}  // namespace gridtorrent::gui
