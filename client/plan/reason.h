#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gridtorrent::client {

/// What keeps a transfer from being faster, in one word.
enum class Limit : std::uint8_t {
  kUnknown,      ///< nothing measured says it
  kWindow,       ///< a socket's buffer at one of the two ends
  kLoss,         ///< packets lost on the path, to which TCP answers by sending less
  kSeeder,       ///< what the seeder's machine or its owner gives
  kPath,         ///< the link is full
  kReceiverCpu,  ///< a core of this machine
  kDisk,         ///< this machine's disk
  kTarget,       ///< the rate that a person asked for, or what a deadline takes
  kCap,          ///< what a person allows at most: a limit, lanes, seeders
};

/// The word as it stands in logs and JSON.
constexpr std::string_view limit_word(Limit limit) {
  switch (limit) {
    case Limit::kUnknown:
      return "unknown";
    case Limit::kWindow:
      return "window";
    case Limit::kLoss:
      return "loss";
    case Limit::kSeeder:
      return "seeder";
    case Limit::kPath:
      return "path";
    case Limit::kReceiverCpu:
      return "receiver-cpu";
    case Limit::kDisk:
      return "disk";
    case Limit::kTarget:
      return "target";
    case Limit::kCap:
      return "cap";
  }
  return "unknown";
}

/// The other way round; what is no word means unknown.
constexpr Limit limit_of(std::string_view word) {
  for (int limit = 0; limit <= static_cast<int>(Limit::kCap); ++limit) {
    if (limit_word(static_cast<Limit>(limit)) == word) return static_cast<Limit>(limit);
  }
  return Limit::kUnknown;
}

/// Why a controller decided as it did. `text` begins with the controller's name. It names the numbers that the decision
/// rests on, and changes only when the decision does: a plan with another reason is another plan.
struct Reason {
  Limit limit = Limit::kUnknown;
  std::string text;
  friend bool operator==(const Reason&, const Reason&) = default;
};

}  // namespace gridtorrent::client
