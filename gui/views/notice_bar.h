#pragma once

#include <QFrame>

class QLabel;
class QPushButton;

namespace gridtorrent::gui {

/// The yellow bar above a page: what does not work at the moment, what goes on, when it is tried again. Hidden while
/// there is nothing to say. GUI thread only.
class NoticeBar final : public QFrame {
  Q_OBJECT

 public:
  explicit NoticeBar(QWidget* parent = nullptr);
  /// An empty text hides the bar.
  void set_notice(const QString& text);

 Q_SIGNALS:
  void retry_wanted();
  void doctor_wanted();

 private:
  QLabel* text_;
};

}  // namespace gridtorrent::gui
