#pragma once

#include <QImage>
#include <optional>

#include "gui/models/format.h"
#include "gui/plots/cursor_plot.h"

namespace gridtorrent::gui {

/// Rate and lanes of a transfer over time. GUI thread only.
class RatePlot final : public CursorPlot {
  Q_OBJECT

 public:
  explicit RatePlot(Format format, QWidget* parent = nullptr);

  /// The cursor stays at its time.
  void set_history(RateHistory history, std::int64_t now_ms);
  /// How much of the time before now to show.
  void set_span(std::chrono::milliseconds span);
  const RateHistory& history() const { return history_; }
  /// The plot as a picture, twice its size on the screen, without the cursor.
  QImage picture() const;

  QSize sizeHint() const override { return {560, 200}; }
  QSize minimumSizeHint() const override { return {240, 110}; }

 protected:
  QString text_of(std::size_t point) const override;
  std::optional<std::size_t> point_near(const QPoint& place) const override;
  std::optional<std::size_t> after(Step step) const override;
  void paint(QPainter& painter) const override;

 private:
  TimeRange range() const { return {now_ms_ - span_ms_, now_ms_}; }

  Format format_;
  RateHistory history_;
  std::int64_t now_ms_ = 0;
  std::int64_t span_ms_ = 15 * 60 * 1000;
};

}  // namespace gridtorrent::gui
