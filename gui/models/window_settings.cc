#include "gui/models/window_settings.h"

#include <algorithm>
#include <charconv>

namespace gridtorrent::gui {

namespace {

constexpr std::string_view kFormat = "gridtorrent-window ";
constexpr std::string_view kVersion = "1";
constexpr int kMostPixels = 20'000;
constexpr std::string_view kHexDigits = "0123456789ABCDEF";

std::string encoded(std::string_view value) {
  std::string line;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && c != '%') {
      line += c;
      continue;
    }
    line += '%';
    line += kHexDigits[byte >> 4U];
    line += kHexDigits[byte & 0xFU];
  }
  return line;
}

std::string decoded(std::string_view line) {
  std::string value;
  for (std::size_t i = 0; i < line.size(); ++i) {
    unsigned byte = 0;
    const char* const end = line.data() + std::min(line.size(), i + 3);
    if (line[i] == '%' && std::from_chars(line.data() + i + 1, end, byte, 16).ptr == line.data() + i + 3) {
      value += static_cast<char>(byte);
      i += 2;
    } else {
      value += line[i];
    }
  }
  return value;
}

int pixels(std::string_view value) {
  int number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool good = error == std::errc() && end == value.data() + value.size() && number > 0 && number <= kMostPixels;
  return good ? number : 0;
}

void take(WindowSettings& settings, std::string_view name, std::string_view value) {
  if (name == "width") settings.width = pixels(value);
  if (name == "height") settings.height = pixels(value);
  if (name == "maximized") settings.maximized = value == "yes";
  if (name == "page") settings.page = decoded(value);
  if (name == "folder") settings.folder = decoded(value);
  if (name == "columns-transfers") settings.transfers_columns = decoded(value);
  if (name == "columns-found") settings.found_columns = decoded(value);
}

/// The text up to the next line break, which is taken off `text`.
std::string_view next_line(std::string_view& text) {
  const auto end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

}  // namespace

std::string write_settings(const WindowSettings& settings) {
  std::string text = std::string(kFormat) + std::string(kVersion) + "\n";
  const auto add = [&text](std::string_view name, const std::string& value) {
    if (!value.empty()) text += std::string(name) + " " + encoded(value) + "\n";
  };
  if (settings.width > 0) add("width", std::to_string(settings.width));
  if (settings.height > 0) add("height", std::to_string(settings.height));
  if (settings.maximized) add("maximized", "yes");
  add("page", settings.page);
  add("folder", settings.folder);
  add("columns-transfers", settings.transfers_columns);
  add("columns-found", settings.found_columns);
  return text;
}

WindowSettings read_settings(std::string_view text) {
  WindowSettings settings;
  if (!next_line(text).starts_with(kFormat)) return settings;
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (const auto space = line.find(' '); space != std::string_view::npos)
      take(settings, line.substr(0, space), line.substr(space + 1));
  }
  return settings;
}

}  // namespace gridtorrent::gui
