#pragma once

#include <optional>

#include "gui/models/format.h"
#include "gui/models/rate_history.h"
#include "gui/plots/cursor_plot.h"

namespace gridtorrent::gui {

/// "Lanes 12: median 842 Mbit/s, 700 Mbit/s to 900 Mbit/s, seen for 40 s, now". Pure, translated.
QString lanes_text(const LanesCurve& curve, std::size_t point, const Format& format);

/// Paints what each number of lanes came to: a bar from the least to the most, a dot at the median, and a mark below
/// the number of now.
void paint_lanes_curve(QPainter& painter, const QRect& whole, const LanesCurve& curve,
                       std::optional<std::size_t> cursor, const QPalette& palette, const Format& format);

/// The rate by lanes. GUI thread only.
class LanesPlot final : public CursorPlot {
  Q_OBJECT

 public:
  explicit LanesPlot(Format format, QWidget* parent = nullptr);
  void set_curve(LanesCurve curve);
  QSize sizeHint() const override { return {260, 200}; }
  QSize minimumSizeHint() const override { return {180, 110}; }

 protected:
  QString text_of(std::size_t point) const override;
  std::optional<std::size_t> point_near(const QPoint& place) const override;
  std::optional<std::size_t> after(Step step) const override;
  void paint(QPainter& painter) const override;

 private:
  Format format_;
  LanesCurve curve_;
};

}  // namespace gridtorrent::gui
