#pragma once

#include <string>
#include <string_view>

namespace gridtorrent::gui {

/// What the window keeps from one start to the next. 0 and empty: the window's own choice.
struct WindowSettings {
  int width = 0;  ///< pixels
  int height = 0;
  bool maximized = false;
  std::string page;               ///< key of the page that was shown
  std::string folder;             ///< for fetched data, bytes
  std::string transfers_columns;  ///< as `write_columns`
  std::string found_columns;      ///< as `write_columns`
  friend bool operator==(const WindowSettings&, const WindowSettings&) = default;
};

/// A first line that names format and version, then a line a setting: name, space, value; a '%' and what would break a
/// line are percent-encoded. Pure.
std::string write_settings(const WindowSettings& settings);

/// Reads what any version wrote: names that are unknown here are passed over, a value that makes no sense counts as
/// none. A text that begins in another way gives the defaults. Pure.
WindowSettings read_settings(std::string_view text);

}  // namespace gridtorrent::gui
