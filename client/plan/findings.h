#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/plan/reason.h"
#include "common/clock.h"
#include "common/ids.h"

namespace gridtorrent::client {

/// What a person can do about a limit. `command` is a line to type, empty where there is none.
struct Advice {
  std::string text, command{};
  friend bool operator==(const Advice&, const Advice&) = default;
};

/// What the last seconds of measurements say of one source.
struct SourceFindings {
  NodeId node;
  int lanes = 0;                                                 ///< that are open and answer
  std::chrono::microseconds round_trip{0}, least_round_trip{0};  ///< median of the lanes; least ever seen
  std::string congestion_control{};                              ///< of the sender; empty: it has not said
  std::uint64_t bits_per_s = 0;                                  ///< payload
  double loss_events_per_segment = 0;                            ///< of what the sender sent; 0: none seen
  std::uint64_t long_run_lane_bits_per_s = 0;     ///< one lane comes to at these losses; 0: no losses seen
  double window_limited = 0, buffer_limited = 0;  ///< shares of the time that the sender had data, 0 to 1
  std::uint64_t paced_bits_per_s = 0;             ///< as its owner shares the uplink; 0: it does not pace
  Limit held_by = Limit::kUnknown;
  friend bool operator==(const SourceFindings&, const SourceFindings&) = default;
};

/// Whether what a person asked of the tuner is kept: a rate that is held, a least rate, or a time to be done by.
struct TargetState {
  enum class Kind : std::uint8_t { kTarget, kFloor, kDeadline } kind = Kind::kTarget;
  bool held = false;             ///< it is kept, or will be as far as the last seconds tell
  double wanted_bits_per_s = 0;  ///< payload, that it takes
  double shortfall = 0;          ///< part of that which lacks, 0 to 1
  std::string text{};            ///< one sentence with the figures
  friend bool operator==(const TargetState&, const TargetState&) = default;
};

/// The kind as it stands in JSON.
constexpr std::string_view target_kind_name(TargetState::Kind kind) {
  switch (kind) {
    case TargetState::Kind::kTarget:
      return "target";
    case TargetState::Kind::kFloor:
      return "floor";
    case TargetState::Kind::kDeadline:
      return "deadline";
  }
  return "target";
}

/// What limits a transfer, and by which figures. For people; it decides nothing.
struct Findings {
  MonoTime at{};
  std::uint64_t bits_per_s = 0, best_bits_per_s = 0;  ///< payload; the best second so far
  Limit limit = Limit::kUnknown;
  std::string detail{};  ///< one sentence with the figures behind the word; empty: nothing is known
  Advice advice{};
  std::vector<SourceFindings> sources{};  ///< those that lanes stand to
  std::optional<TargetState> target{};    ///< nothing: nothing was asked for, or nothing is known yet
  friend bool operator==(const Findings&, const Findings&) = default;
};

}  // namespace gridtorrent::client
