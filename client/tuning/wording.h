#pragma once

#include <cstdint>
#include <string>

namespace gridtorrent::client::tuning {

/// As printf writes it: figures in the reasons that tuners give. Nothing of it comes from outside.
[[gnu::format(printf, 1, 2)]] std::string formatted(const char* format, ...);

/// "1.2 GB", "160 MB", "1.5 MB", "16 kB".
std::string size_text(double bytes);
/// "1 lane", "3 lanes".
std::string counted(std::int64_t number, const char* noun);

/// Mbit/s of bits a second.
constexpr double mbit(double bits_per_s) {
  return bits_per_s / 1e6;
}

}  // namespace gridtorrent::client::tuning
