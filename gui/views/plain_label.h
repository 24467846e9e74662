#pragma once

#include <QLabel>

namespace gridtorrent::gui {

/// A label that shows its text as it is written, whoever wrote it, wraps it, and lets keyboard and mouse select it.
class PlainLabel final : public QLabel {
  Q_OBJECT

 public:
  explicit PlainLabel(const QString& text = {}, QWidget* parent = nullptr);
};

/// Shows the text; an empty one hides the label.
void say(QLabel& label, const QString& text);

}  // namespace gridtorrent::gui
