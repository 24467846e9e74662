#include "common/base32.h"

namespace gridtorrent {

namespace {
constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz234567";
}

std::string base32_encode(std::span<const std::uint8_t> bytes) {
  std::string text;
  std::uint32_t buffer = 0;
  int bits = 0;
  for (const std::uint8_t byte : bytes) {
    buffer = (buffer << 8 | byte) & 0xFFFF;
    for (bits += 8; bits >= 5; bits -= 5) text += kAlphabet[buffer >> (bits - 5) & 31];
  }
  if (bits > 0) text += kAlphabet[buffer << (5 - bits) & 31];
  return text;
}

std::optional<std::array<std::uint8_t, 16>> base32_decode_16(std::string_view text) {
  if (text.size() != 26) return std::nullopt;
  std::array<std::uint8_t, 16> bytes{};
  std::size_t filled = 0;
  std::uint32_t buffer = 0;
  int bits = 0;
  for (const char c : text) {
    const std::size_t digit = kAlphabet.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    buffer = (buffer << 5 | static_cast<std::uint32_t>(digit)) & 0xFFFF;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes[filled++] = static_cast<std::uint8_t>(buffer >> bits);
    }
  }
  if ((buffer & ((1U << bits) - 1)) != 0) return std::nullopt;
  return bytes;
}

}  // namespace gridtorrent
