#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gridtorrent::crypto {

/// Fills with bytes of OpenSSL's generator; aborts if it has none (there is no way on without).
void random_bytes(std::span<std::uint8_t> out);

/// So many characters of 0-9A-Za-z, uniformly: 43 of them carry 256 bits.
std::string random_base62(std::size_t characters);

/// Whether both are equal, in a time that depends on the lengths alone. For secrets.
bool equal_in_constant_time(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b);

}  // namespace gridtorrent::crypto
