#pragma once

#include <string>

namespace gridtorrent::client::tuning {

/// As printf writes it: figures in the reasons that tuners give. Nothing of it comes from outside.
[[gnu::format(printf, 1, 2)]] std::string formatted(const char* format, ...);

/// Mbit/s of bits a second.
constexpr double mbit(double bits_per_s) {
  return bits_per_s / 1e6;
}

}  // namespace gridtorrent::client::tuning
