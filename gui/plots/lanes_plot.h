#pragma once

#include <QImage>
#include <QWidget>
#include <optional>

#include "gui/models/format.h"
#include "gui/models/rate_history.h"

namespace gridtorrent::gui {

/// "Lanes 12: median 842 Mbit/s, 700 Mbit/s to 900 Mbit/s, seen for 40 s, now". Pure, translated.
QString lanes_text(const LanesCurve& curve, std::size_t point, const Format& format);

/// Paints what each number of lanes came to: a bar from the least to the most, a dot at the median, and a mark below
/// the number of now.
void paint_lanes_curve(QPainter& painter, const QRect& whole, const LanesCurve& curve,
                       std::optional<std::size_t> cursor, const QPalette& palette, const Format& format);

/// The rate by lanes. Mouse and arrow keys read the values, as in `RatePlot`. GUI thread only.
class LanesPlot final : public QWidget {
  Q_OBJECT

 public:
  explicit LanesPlot(Format format, QWidget* parent = nullptr);
  void set_curve(LanesCurve curve);
  QString reading() const;
  QSize sizeHint() const override { return {260, 200}; }
  QSize minimumSizeHint() const override { return {180, 110}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void move_cursor(std::optional<std::size_t> point);

  Format format_;
  LanesCurve curve_;
  std::optional<std::size_t> cursor_;
};

}  // namespace gridtorrent::gui
