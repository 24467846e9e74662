#pragma once

#include <QStringList>

class QMimeData;

namespace gridtorrent::gui {

/// The paths of what is dragged, as far as it lies on this computer.
QStringList dropped_paths(const QMimeData& data);

}  // namespace gridtorrent::gui
