#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gridtorrent {

/// At most so many bytes of UTF-8, no character cut through, with "…" for what is left out. `most_bytes`: at least 3.
inline std::string cut_text(std::string text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return text;
  constexpr std::string_view kMark = "…";
  std::size_t end = most_bytes - kMark.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  text.resize(end);
  return text.append(kMark);
}

}  // namespace gridtorrent
