#pragma once

#include <QWidget>

#include "gui/models/connection.h"
#include "gui/models/format.h"

class QLabel;

namespace gridtorrent::gui {

/// The bottom line of the window: node, server, rates, free space. GUI thread only.
class StatusStrip final : public QWidget {
  Q_OBJECT

 public:
  explicit StatusStrip(Format format, QWidget* parent = nullptr);
  void set_connections(const Connections& connections);
  void set_rates(std::uint64_t down_bits_per_s, std::uint64_t up_bits_per_s);

 private:
  Format format_;
  QLabel *node_, *server_, *rates_, *space_;
};

}  // namespace gridtorrent::gui
