#include "common/text.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

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

/// What a terminal shows nothing for, or that changes how the text around it is shown: control characters, separators
/// of lines, and Unicode's Default_Ignorable_Code_Point without the variation selectors U+FE00 to U+FE0F, which emoji
/// have.
constexpr std::array<std::pair<std::uint32_t, std::uint32_t>, 18> kUnprintable{{{0x00, 0x1F},
                                                                                {0x7F, 0x9F},
                                                                                {0xAD, 0xAD},
                                                                                {0x034F, 0x034F},
                                                                                {0x061C, 0x061C},
                                                                                {0x115F, 0x1160},
                                                                                {0x17B4, 0x17B5},
                                                                                {0x180B, 0x180F},
                                                                                {0x200B, 0x200F},
                                                                                {0x2028, 0x202E},
                                                                                {0x2060, 0x206F},
                                                                                {0x3164, 0x3164},
                                                                                {0xFEFF, 0xFEFF},
                                                                                {0xFFA0, 0xFFA0},
                                                                                {0xFFF0, 0xFFFB},
                                                                                {0x1BCA0, 0x1BCA3},
                                                                                {0x1D173, 0x1D17A},
                                                                                {0xE0000, 0xE0FFF}}};

bool is_unprintable(std::uint32_t c) {
  for (const auto& [first, last] : kUnprintable) {
    if (c <= last) return c >= first;
  }
  return false;
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
