#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/clock.h"
#include "common/result.h"

namespace gridtorrent::client {

/// Of the whole node, in bits of payload a second; 0: none.
struct NodeLimits {
  std::uint64_t send_bits_per_s = 0, receive_bits_per_s = 0;
  friend bool operator==(const NodeLimits&, const NodeLimits&) = default;
};
/// Lower ones are refused: a block (16 KiB) on each of a few dozen lanes would take longer than peers wait for it.
inline constexpr std::uint64_t kLeastNodeLimit = 1'000'000;
/// kInvalid names the option ("upload-limit", "download-limit").
Status check_limits(const NodeLimits& limits);

/// What makes the limits that hold: "configuration", "hours 08:00-18:00 mon-fri" or "hand"; empty where there is none.
struct LimitsWhy {
  std::string send, receive;
  std::optional<WallTime> until;  ///< the next change by hours; nothing: none within a week
  friend bool operator==(const LimitsWhy&, const LimitsWhy&) = default;
};

}  // namespace gridtorrent::client
