#include "gui/views/dropped.h"

#include <QMimeData>
#include <QUrl>

namespace gridtorrent::gui {

QStringList dropped_paths(const QMimeData& data) {
  QStringList paths;
  for (const QUrl& url : data.urls())
    if (url.isLocalFile()) paths.append(url.toLocalFile());
  return paths;
}

}  // namespace gridtorrent::gui
