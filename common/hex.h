#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gridtorrent {

/// Lower-case hexadecimal.
std::string hex_encode(std::span<const std::uint8_t> bytes);
/// Nothing if the text is no even number of hexadecimal digits (either case).
std::optional<std::string> hex_decode(std::string_view text);

/// The bytes of a string, and the other way round; no copy.
inline std::span<const std::uint8_t> as_bytes(std::string_view s) {
  return {reinterpret_cast<const std::uint8_t*>(s.data()), s.size()};
}
inline std::string_view as_chars(std::span<const std::uint8_t> s) {
  return {reinterpret_cast<const char*>(s.data()), s.size()};
}

}  // namespace gridtorrent
