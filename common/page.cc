#include "common/page.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "common/hex.h"
#include "common/text.h"

namespace gridtorrent {

namespace {

/// Names are at most 64 bytes, ids 28: what is longer was not made here.
constexpr std::size_t kMaxTokenBytes = 1024;

Error wrong_token(std::string_view token) {
  return {Code::kInvalid, "page \"" + escape_for_display(token.substr(0, 100)) +
                              "\" is none that this list returned; start again from the first page"};
}

}  // namespace

std::string encode_page_token(std::string_view list, const PageKey& key) {
  std::string plain(list);
  for (const std::string& field : key) (plain += '\0') += field;
  return hex_encode(as_bytes(plain));
}

Result<PageKey> parse_page_token(std::string_view list, std::size_t fields, std::string_view token) {
  if (token.empty()) return PageKey{};
  const auto plain = token.size() <= kMaxTokenBytes ? hex_decode(token) : std::nullopt;
  if (!plain || !is_valid_utf8(*plain)) return wrong_token(token);
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= plain->size();) {
    const std::size_t end = std::min(plain->find('\0', begin), plain->size());
    parts.push_back(plain->substr(begin, end - begin));
    begin = end + 1;
  }
  if (parts.size() != fields + 1 || parts.front() != list) return wrong_token(token);
  parts.erase(parts.begin());
  return parts;
}

Result<std::int64_t> page_number(const std::string& field) {
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(field.data(), field.data() + field.size(), number);
  if (failure != std::errc() || end != field.data() + field.size()) return wrong_token(field);
  return number;
}

}  // namespace gridtorrent
