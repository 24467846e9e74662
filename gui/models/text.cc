#include "gui/models/text.h"

#include <string>

#include "common/text.h"

namespace gridtorrent::gui {

QString shown(std::string_view bytes) {
  return QString::fromStdString(escape_for_display(bytes));
}

QString tooltip(const QString& plain) {
  if (plain.isEmpty()) return {};
  return QStringLiteral("<p style=\"white-space:pre-wrap\">") + plain.toHtmlEscaped() + QStringLiteral("</p>");
}

}  // namespace gridtorrent::gui
