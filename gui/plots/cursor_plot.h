#pragma once

#include <QWidget>
#include <optional>

#include "gui/plots/cursor.h"

namespace gridtorrent::gui {

/// A plot whose points a person can read. The mouse reads values; with the focus, arrow keys go from point to point,
/// Page Up and Page Down far at once, Home and End to the ends, Escape takes the cursor away. The accessible
/// description is what the cursor reads. GUI thread only.
class CursorPlot : public QWidget {
  Q_OBJECT

 public:
  /// `name`: for screen readers.
  explicit CursorPlot(const QString& name, QWidget* parent = nullptr);
  /// What the cursor reads; empty where it is nowhere.
  QString reading() const { return cursor_ ? text_of(*cursor_) : QString(); }

 protected:
  virtual QString text_of(std::size_t point) const = 0;
  /// The point that the mouse means there; nothing where there is none.
  virtual std::optional<std::size_t> point_near(const QPoint& place) const = 0;
  /// Where a step leads from the cursor; nothing where there are no points.
  virtual std::optional<std::size_t> after(Step step) const = 0;
  virtual void paint(QPainter& painter) const = 0;

  std::optional<std::size_t> cursor() const { return cursor_; }
  void move_cursor(std::optional<std::size_t> point);

  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  std::optional<std::size_t> cursor_;
};

}  // namespace gridtorrent::gui
