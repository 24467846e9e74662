#pragma once

#include <QVariant>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gridtorrent::gui {

/// One column of a table.
struct ColumnSpec {
  std::string_view key;  ///< its name in what is saved; never translated, never used for another column later
  const char* title;     ///< source text, for translation
  bool number;           ///< numbers stand right
  int width;             ///< in average characters, where nothing was saved
};

/// How the cells of a column are aligned, for Qt::TextAlignmentRole.
QVariant alignment(const ColumnSpec& spec);
/// What the header of a column says in a role; `title` is translated.
QVariant header_data(const ColumnSpec& spec, const QString& title, int role);

/// How a person has arranged one column.
struct ColumnPlace {
  int column = 0;  ///< logical
  int width = 0;   ///< pixels; 0: none saved
  bool hidden = false;
  friend bool operator==(const ColumnPlace&, const ColumnPlace&) = default;
};

/// "name:240 state:90 -up:80", in the order of the screen, `-` before what is hidden. Pure.
std::string write_columns(std::span<const ColumnSpec> specs, std::span<const ColumnPlace> places);

/// Reads what `write_columns` wrote, also in another version: names that are unknown here are passed over, columns that
/// are not named follow at the end, and a width that is no number, or below 16 or above 4000 pixels, counts as none
/// saved. Each column stands in the answer once; the first is never hidden. Pure.
std::vector<ColumnPlace> read_columns(std::span<const ColumnSpec> specs, std::string_view text);

}  // namespace gridtorrent::gui
