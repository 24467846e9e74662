#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/result.h"

namespace gridtorrent {

/// "1.5GiB", "25MB", "300" → bytes. Decimal (kB, MB, GB, TB, PB) and binary (KiB … PiB) suffixes, case ignored.
Result<std::uint64_t> parse_bytes(std::string_view text);
/// "200Mbit" → bits per second; "25MB" (bytes per second) → 200,000,000. "/s" may follow; "0" or "unlimited" is 0.
Result<std::uint64_t> parse_bits_per_s(std::string_view text);
/// "15m", "48h", "7d", "90s", "500ms" → a duration.
Result<std::chrono::milliseconds> parse_duration(std::string_view text);

/// For people: "1.5 GB", three significant digits, decimal units.
std::string format_bytes(std::uint64_t bytes);
/// For people: "843 Mbit/s".
std::string format_bits_per_s(std::uint64_t bits_per_s);
/// For people: "3 s", "4 min 10 s", "2 h 5 min".
std::string format_duration(std::chrono::milliseconds duration);

}  // namespace gridtorrent
