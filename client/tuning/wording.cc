#include "client/tuning/wording.h"

#include <cstdarg>
#include <cstddef>
#include <cstdio>

namespace gridtorrent::client::tuning {

std::string formatted(const char* format, ...) {
  std::va_list figures;
  va_start(figures, format);
  std::va_list again;
  va_copy(again, figures);
  const int length = std::vsnprintf(nullptr, 0, format, figures);
  va_end(figures);
  std::string text(length > 0 ? static_cast<std::size_t>(length) : 0, '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  return text;
}

std::string size_text(double bytes) {
  if (bytes >= 1e9) return formatted("%.1f GB", bytes / 1e9);
  if (bytes >= 1e8) return formatted("%.0f MB", bytes / 1e6);
  if (bytes >= 1e6) return formatted("%.1f MB", bytes / 1e6);
  return formatted("%.0f kB", bytes / 1e3);
}

std::string counted(std::int64_t number, const char* noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

}  // namespace gridtorrent::client::tuning
