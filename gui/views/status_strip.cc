#include "gui/views/status_strip.h"

#include <QBoxLayout>
#include <QLabel>

namespace gridtorrent::gui {

namespace {

/// A word of state is never told by colour alone.
QLabel* plain(const QString& name) {
  auto* label = new QLabel;
  label->setTextFormat(Qt::PlainText);
  label->setObjectName(name);
  return label;
}

void say(QLabel* label, const QString& text) {
  label->setText(text);
  label->setAccessibleName(text);
}

}  // namespace

StatusStrip::StatusStrip(Format format, QWidget* parent)
    : QWidget(parent),
      format_(std::move(format)),
      node_(plain(QStringLiteral("status-node"))),
      server_(plain(QStringLiteral("status-server"))),
      rates_(plain(QStringLiteral("status-rates"))),
      space_(plain(QStringLiteral("status-space"))) {
  auto* line = new QHBoxLayout(this);
  line->setContentsMargins(8, 2, 8, 2);
  line->setSpacing(18);
  line->addWidget(node_);
  line->addWidget(server_);
  line->addStretch(1);
  line->addWidget(rates_);
  line->addWidget(space_);
  set_connections({});
  set_rates(0, 0);
}

void StatusStrip::set_connections(const Connections& connections) {
  say(node_, node_text(connections));
  say(server_, server_text(connections));
  say(space_, connections.free_bytes ? tr("%1 free").arg(format_.bytes(*connections.free_bytes)) : QString());
}

void StatusStrip::set_rates(std::uint64_t down_bits_per_s, std::uint64_t up_bits_per_s) {
  const auto text = [this](std::uint64_t rate) { return rate == 0 ? Format::none() : format_.rate(rate); };
  rates_->setText(tr("↓ %1   ↑ %2").arg(text(down_bits_per_s), text(up_bits_per_s)));
  rates_->setAccessibleName(tr("%1 down, %2 up").arg(format_.rate(down_bits_per_s), format_.rate(up_bits_per_s)));
}

}  // namespace gridtorrent::gui
