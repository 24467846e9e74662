#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/clock.h"

namespace gridtorrent::client {

/// How much a transfer takes from others on a path that it shares with them.
enum class TuningMode : std::uint8_t {
  kBalanced,    ///< as much as fills the path, with no more lanes than that takes
  kGreedy,      ///< more lanes where that takes a greater part of a full path
  kBackground,  ///< what others leave: it slows down where packets wait
};

inline constexpr std::array kTuningModes{TuningMode::kBalanced, TuningMode::kGreedy, TuningMode::kBackground};

/// The name of a mode as it stands in options, JSON and the node's database.
constexpr std::string_view mode_name(TuningMode mode) {
  switch (mode) {
    case TuningMode::kBalanced:
      return "balanced";
    case TuningMode::kGreedy:
      return "greedy";
    case TuningMode::kBackground:
      return "background";
  }
  return "balanced";
}
/// Nothing where no mode has that name.
constexpr std::optional<TuningMode> mode_of(std::string_view name) {
  for (const TuningMode mode : kTuningModes) {
    if (mode_name(mode) == name) return mode;
  }
  return std::nullopt;
}

/// What a person asks of the tuner of one transfer, beside lanes, seeders and a limit.
struct TuningWish {
  std::string tuner{};  ///< by name; empty: the node's
  TuningMode mode = TuningMode::kBalanced;
  std::uint64_t target_bits_per_s = 0;  ///< payload, to be held; 0: none
  std::uint64_t floor_bits_per_s = 0;   ///< payload, not to fall below while the path gives it; 0: none
  std::optional<WallTime> by{};         ///< when it is to be done
  friend bool operator==(const TuningWish&, const TuningWish&) = default;
};

}  // namespace gridtorrent::client
