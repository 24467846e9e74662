#pragma once

#include <QProxyStyle>

namespace gridtorrent::gui {

/// The desktop's style. Where that is Fusion with a dark palette, boxes and radio buttons that are not chosen have an
/// outline that can be seen: Fusion draws it darker than the window, which is black on black there. GUI thread only.
class DarkStyle final : public QProxyStyle {
  Q_OBJECT

 public:
  void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget = nullptr) const override;
};

}  // namespace gridtorrent::gui
