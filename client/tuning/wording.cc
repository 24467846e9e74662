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

}  // namespace gridtorrent::client::tuning
