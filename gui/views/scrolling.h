#pragma once

#include <QScrollArea>

namespace gridtorrent::gui {

/// An area without a frame that shows `content`, which it owns, and scrolls it up and down where there is too little
/// room for it. GUI thread only.
QScrollArea* scrolling(QWidget* content);

}  // namespace gridtorrent::gui
