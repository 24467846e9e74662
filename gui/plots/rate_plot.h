#pragma once

#include <QImage>
#include <QWidget>
#include <optional>

#include "gui/models/format.h"
#include "gui/plots/cursor.h"

namespace gridtorrent::gui {

/// Rate and lanes of a transfer over time. The mouse reads values; with the focus, arrow keys go from point to point,
/// Page Up and Page Down thirty at once, Home and End to the ends, Escape takes the cursor away. The accessible
/// description is what the cursor reads. GUI thread only.
class RatePlot final : public QWidget {
  Q_OBJECT

 public:
  explicit RatePlot(Format format, QWidget* parent = nullptr);

  /// The cursor stays at its time.
  void set_history(RateHistory history, std::int64_t now_ms);
  /// How much of the time before now to show.
  void set_span(std::chrono::milliseconds span);
  const RateHistory& history() const { return history_; }
  /// What the cursor reads; empty where it is nowhere.
  QString reading() const;
  /// The plot as a picture, twice its size on the screen, without the cursor.
  QImage picture() const;

  QSize sizeHint() const override { return {560, 200}; }
  QSize minimumSizeHint() const override { return {240, 110}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  TimeRange range() const { return {now_ms_ - span_ms_, now_ms_}; }
  void move_cursor(std::optional<std::size_t> point);

  Format format_;
  RateHistory history_;
  std::int64_t now_ms_ = 0;
  std::int64_t span_ms_ = 15 * 60 * 1000;
  std::optional<std::size_t> cursor_;
};

}  // namespace gridtorrent::gui
