#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gridtorrent {

/// RFC 4648 base32 in lower case without padding, most significant bits first.
std::string base32_encode(std::span<const std::uint8_t> bytes);

/// The 16 bytes that 26 lower-case base32 characters stand for; nothing for any other text, a non-canonical last
/// character among them, so that every value has exactly one spelling.
std::optional<std::array<std::uint8_t, 16>> base32_decode_16(std::string_view text);

}  // namespace gridtorrent
