#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gridtorrent::gui {

/// What a transfer received and sent over the `span_ms` up to `at_ms` (wall clock, milliseconds since 1970).
struct RatePoint {
  std::int64_t at_ms = 0;
  std::int64_t span_ms = 1000;
  std::uint64_t bits_per_s = 0;  ///< received
  std::uint32_t lanes = 0;
  std::uint64_t sent_bits_per_s = 0;
};

/// One change that the tuner made.
struct LaneDecision {
  std::int64_t at_ms = 0;
  std::uint32_t lanes_before = 0;
  std::uint32_t lanes = 0;
  std::optional<std::uint64_t> brought_bits_per_s;  ///< some seconds later; nothing: not known yet
  std::string reason;                               ///< bytes that the node wrote
};

/// A transfer's past, both parts in the order of time. Where points do not join, nothing is known of the time between.
struct RateHistory {
  std::vector<RatePoint> points;
  std::vector<LaneDecision> decisions;
};

/// What so many lanes came to.
struct LanesRate {
  std::uint32_t lanes = 0;
  std::uint32_t seconds = 0;  ///< over which this was seen
  std::uint64_t least_bits_per_s = 0;
  std::uint64_t median_bits_per_s = 0;
  std::uint64_t most_bits_per_s = 0;
};

/// The curve, by lanes, and how many there are now.
struct LanesCurve {
  std::vector<LanesRate> points;
  std::uint32_t lanes_now = 0;
};

}  // namespace gridtorrent::gui
