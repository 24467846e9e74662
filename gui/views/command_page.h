#pragma once

#include <QWidget>

class QLabel;
class QLineEdit;
class QPushButton;

namespace gridtorrent::gui {

/// What stands on a page where there is nothing else to show.
struct Guidance {
  QString heading;
  QString text;
  QString command;  ///< a line to type in a terminal; empty: none
};

/// Says what is missing, and the command that helps, with a button that copies it. GUI thread only.
class CommandPage final : public QWidget {
  Q_OBJECT

 public:
  explicit CommandPage(const Guidance& guidance = {}, QWidget* parent = nullptr);
  void set_guidance(const Guidance& guidance);

 private:
  QLabel* heading_;
  QLabel* text_;
  QLineEdit* command_;
  QPushButton* copy_;
};

}  // namespace gridtorrent::gui
