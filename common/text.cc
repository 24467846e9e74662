#include "common/text.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "common/ignorable.h"
#include "common/result.h"

namespace gridtorrent {

namespace {

struct Decoded {
  std::uint32_t code_point = 0;
  std::size_t length = 0;  // 0: not valid UTF-8 here
};

Decoded decode_utf8(std::string_view s) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(s[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || s.size() < length) return {};
  std::uint32_t value = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3F);
  }
  constexpr std::array<std::uint32_t, 5> kSmallest{0, 0, 0x80, 0x800, 0x10000};
  if (value < kSmallest[length] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return {};
  return {value, length};
}

/// What a terminal shows nothing for, or that changes how the text around it is shown. Emoji have the variation
/// selectors U+FE00 to U+FE0F; U+2028 and U+2029 separate lines, U+FFF9 to U+FFFB annotate.
bool is_unprintable(std::uint32_t c) {
  if (c >= 0xFE00 && c <= 0xFE0F) return false;
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 || (c >= 0xFFF9 && c <= 0xFFFB) ||
         is_default_ignorable(c);
}

void write_escape(std::array<char, 16>& out, std::uint32_t code_point) {
  const auto number = static_cast<unsigned>(code_point);
  if (code_point < 0x80) {
    std::snprintf(out.data(), out.size(), "\\x%02x", number);
  } else if (code_point <= 0xFFFF) {
    std::snprintf(out.data(), out.size(), "\\u%04x", number);
  } else {
    std::snprintf(out.data(), out.size(), "\\U%08x", number);
  }
}

}  // namespace

std::string escape_for_display(std::string_view bytes) {
  std::string out;
  std::array<char, 16> escape{};
  while (!bytes.empty()) {
    const Decoded d = decode_utf8(bytes);
    if (d.length == 0) {
      std::snprintf(escape.data(), escape.size(), "\\x%02x",
                    static_cast<unsigned>(static_cast<std::uint8_t>(bytes[0])));
      out += escape.data();
      bytes.remove_prefix(1);
      continue;
    }
    if (d.code_point == '\n') {
      out += "\\n";
    } else if (d.code_point == '\t') {
      out += "\\t";
    } else if (d.code_point == '\r') {
      out += "\\r";
    } else if (d.code_point == '\\') {
      out += "\\\\";
    } else if (is_unprintable(d.code_point)) {
      write_escape(escape, d.code_point);
      out += escape.data();
    } else {
      out += bytes.substr(0, d.length);
    }
    bytes.remove_prefix(d.length);
  }
  return out;
}

bool is_valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const Decoded d = decode_utf8(text);
    if (d.length == 0) return false;
    text.remove_prefix(d.length);
  }
  return true;
}

std::string to_lower_ascii(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::string errno_text(int error_number) {
  std::array<char, 128> buffer{};
  return strerror_r(error_number, buffer.data(), buffer.size());
}

std::string_view code_name(Code code) {
  switch (code) {
    case Code::kInvalid:
      return "invalid";
    case Code::kNotFound:
      return "not_found";
    case Code::kUnauthenticated:
      return "unauthenticated";
    case Code::kDenied:
      return "denied";
    case Code::kUnreachable:
      return "unreachable";
    case Code::kConflict:
      return "conflict";
    case Code::kCorrupt:
      return "corrupt";
    case Code::kDisk:
      return "disk";
    case Code::kTimeout:
      return "timeout";
    case Code::kCancelled:
      return "cancelled";
    case Code::kBusy:
      return "busy";
    case Code::kExhausted:
      return "exhausted";
    case Code::kUnsupported:
      return "unsupported";
    case Code::kInternal:
      return "internal";
  }
  return "internal";
}

}  // namespace gridtorrent
