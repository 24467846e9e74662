#pragma once

#include <QString>
#include <string_view>

namespace gridtorrent::gui {

/// What others wrote (names, paths, messages), made safe to show: one line of plain text. Line breaks, control and bidi
/// characters, bytes that are no UTF-8, and the backslash become escapes, as in the command line's output. Markup stays
/// as it is written: widgets that show the result must take plain text (`PlainLabel`, item views); where Qt would guess
/// the format, use `tooltip`. Pure, any thread.
QString shown(std::string_view bytes);

/// For tooltips, of which Qt guesses the format: the same text, marked up so that it reads as it is. Pure, any thread.
QString tooltip(const QString& plain);

}  // namespace gridtorrent::gui
