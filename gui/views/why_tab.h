#pragma once

#include <QWidget>
#include <vector>

#include "gui/models/explanation.h"
#include "gui/models/format.h"

class QLabel;
class QLineEdit;
class QListWidget;
class QPushButton;

namespace gridtorrent::gui {

/// Why this speed: the limiting word in a sentence, what a person can do, and all decisions. GUI thread only.
class WhyTab final : public QWidget {
  Q_OBJECT

 public:
  explicit WhyTab(Format format, QWidget* parent = nullptr);
  void set_explanation(const Explanation& explanation);
  /// The newest stands first.
  void set_decisions(const std::vector<LaneDecision>& decisions);
  /// What can be done about the transfer that is shown.
  void set_actions(bool can_hold, bool can_limit);

 Q_SIGNALS:
  /// A rate is to be held.
  void hold_wanted();
  void limit_wanted();

 private:
  Format format_;
  QLabel *word_, *detail_, *advice_, *plan_;
  QLineEdit* command_;
  QPushButton *copy_, *hold_, *limit_;
  QListWidget* decisions_;
};

}  // namespace gridtorrent::gui
