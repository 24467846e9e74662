#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/clock.h"
#include "common/result.h"

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
  std::string tuner{};                  ///< by name; empty: the node's
  std::optional<TuningMode> mode{};     ///< nothing: the node's
  std::uint64_t target_bits_per_s = 0;  ///< payload, to be held; 0: none
  std::uint64_t floor_bits_per_s = 0;   ///< payload, not to fall below while the path gives it; 0: none
  std::optional<WallTime> by{};         ///< when it is to be done
  friend bool operator==(const TuningWish&, const TuningWish&) = default;
};

/// What somebody gives anew of a wish, as callers and tasks write it; what is not there stays as it is.
struct WishChange {
  std::optional<std::string> tuner{}, mode{};                            ///< by name; empty: the node's
  std::optional<std::uint64_t> target_bits_per_s{}, floor_bits_per_s{};  ///< 0: none
  std::optional<WallTime> by{};                                          ///< {}: none
  friend bool operator==(const WishChange&, const WishChange&) = default;
};

/// The wish with the change. kInvalid names the modes where there is none of that name.
Result<TuningWish> changed(TuningWish wish, const WishChange& change);

// Each check is kInvalid with one line that names the options.

/// What contradicts itself, whichever tuner it is for. `limit_bits_per_s`: of the transfer; 0: none.
Status check_wish(const TuningWish& wish, std::uint64_t limit_bits_per_s);
/// A tuner that is not there, or that keeps none of what is asked. `usual`: the node's tuner.
Status check_tuner(const TuningWish& wish, std::string_view usual);
/// The wish with the change, where both checks find nothing. The tuner is looked at only where something changes: what
/// was asked of another version, or of a node with another tuner, stays.
Result<TuningWish> changed_and_checked(const TuningWish& wish, const WishChange& change, std::uint64_t limit_bits_per_s,
                                       std::string_view usual);
/// When something is to be done lies ahead, by a year at most.
Status check_deadline(WallTime by, WallTime now);

}  // namespace gridtorrent::client
