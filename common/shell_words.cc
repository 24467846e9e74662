#include "common/shell_words.h"

#include <algorithm>

#include "common/text.h"

namespace gridtorrent {

namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-_./:,+@%").find(c) != std::string_view::npos;
}

std::string with_each(std::string_view text, char from, std::string_view to) {
  std::string out;
  for (const char c : text) out += c == from ? std::string(to) : std::string(1, c);
  return out;
}

}  // namespace

std::string shell_word(std::string_view bytes) {
  if (!bytes.empty() && std::ranges::all_of(bytes, is_plain)) return std::string(bytes);
  const std::string escaped = escape_for_display(bytes);
  if (escaped == with_each(bytes, '\\', "\\\\")) return "'" + with_each(bytes, '\'', "'\\''") + "'";
  return "$'" + with_each(escaped, '\'', "\\'") + "'";
}

std::string shell_arguments(std::initializer_list<std::string_view> arguments) {
  const bool dashed = std::ranges::any_of(arguments, [](std::string_view word) { return word.starts_with('-'); });
  std::string text = dashed ? "--" : "";
  for (const std::string_view word : arguments) text += (text.empty() ? "" : " ") + shell_word(word);
  return text;
}

}  // namespace gridtorrent
