#include "gui/views/rate_tab.h"

#include <QBoxLayout>
#include <QBuffer>
#include <QComboBox>
#include <QFileDialog>
#include <QMenu>
#include <QPushButton>

#include "gui/plots/export.h"
#include "gui/plots/lanes_plot.h"
#include "gui/plots/rate_plot.h"

namespace gridtorrent::gui {

RateTab::RateTab(const Format& format, QWidget* parent)
    : QWidget(parent), span_(new QComboBox), rate_(new RatePlot(format)), lanes_(new LanesPlot(format)) {
  for (const std::chrono::minutes span : {std::chrono::minutes(5), std::chrono::minutes(15), std::chrono::minutes(60),
                                          std::chrono::minutes(360), std::chrono::minutes(1440)})
    span_->addItem(tr("Last %1").arg(format.duration(span)), qlonglong{span.count()});
  span_->setAccessibleName(tr("Time to show"));
  connect(span_, &QComboBox::currentIndexChanged, this,
          [this] { rate_->set_span(std::chrono::minutes(span_->currentData().toLongLong())); });
  span_->setCurrentIndex(1);

  auto* menu = new QMenu(this);
  connect(menu->addAction(tr("Values as &CSV…")), &QAction::triggered, this, &RateTab::save_csv);
  connect(menu->addAction(tr("&Picture as PNG…")), &QAction::triggered, this, &RateTab::save_picture);
  auto* save = new QPushButton(tr("&Export"));
  save->setMenu(menu);
  auto* line = new QHBoxLayout;
  line->addWidget(span_);
  line->addStretch(1);
  line->addWidget(save);
  auto* plots = new QHBoxLayout;
  plots->addWidget(rate_, 3);
  plots->addWidget(lanes_, 1);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(4, 4, 4, 4);
  column->addLayout(line);
  column->addLayout(plots, 1);
}

void RateTab::set_history(RateHistory history, std::int64_t now_ms) {
  rate_->set_history(std::move(history), now_ms);
}

void RateTab::set_curve(LanesCurve curve) {
  lanes_->set_curve(std::move(curve));
}

void RateTab::save_csv() {
  const QString path =
      QFileDialog::getSaveFileName(this, tr("Save the values"), QStringLiteral("rate.csv"), tr("CSV (*.csv)"));
  if (!path.isEmpty()) Q_EMIT save_wanted(path, QByteArray::fromStdString(rate_csv(rate_->history())));
}

void RateTab::save_picture() {
  const QString path =
      QFileDialog::getSaveFileName(this, tr("Save the picture"), QStringLiteral("rate.png"), tr("PNG (*.png)"));
  if (path.isEmpty()) return;
  QBuffer png;
  png.open(QIODevice::WriteOnly);
  rate_->picture().save(&png, "PNG");
  Q_EMIT save_wanted(path, png.data());
}

}  // namespace gridtorrent::gui
