#pragma once

#include <QWidget>

#include "gui/models/explanation.h"
#include "gui/models/format.h"

class QComboBox;

namespace gridtorrent::gui {

class LanesPlot;
class RatePlot;

/// Rate over time beside the rate by lanes, and their export. Writes no file: `save_wanted` asks for it. GUI thread
/// only.
class RateTab final : public QWidget {
  Q_OBJECT

 public:
  explicit RateTab(const Format& format, QWidget* parent = nullptr);
  void set_history(RateHistory history, std::int64_t now_ms);
  void set_curve(LanesCurve curve);

 Q_SIGNALS:
  void save_wanted(const QString& path, const QByteArray& content);

 private:
  void save_csv();
  void save_picture();

  QComboBox* span_;
  RatePlot* rate_;
  LanesPlot* lanes_;
};

}  // namespace gridtorrent::gui
