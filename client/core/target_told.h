#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "client/plan/findings.h"
#include "common/clock.h"

namespace gridtorrent::client {

/// What a transfer's log says of the rate, floor or time that a person asked for, so that it is known early also where
/// nobody looks on (`get --detach`, `get --node`). A value: no thread, no clock.
class TargetTold {
 public:
  /// Missed for so long it is said. New lanes have shown by then what they bring.
  static constexpr std::chrono::seconds kMissedFor{10};
  /// It is said no more often than this.
  static constexpr std::chrono::seconds kAgain{60};
  /// Looks further apart: the transfer was paused, and has to get up speed again.
  static constexpr std::chrono::seconds kPause{3};

  struct Line {
    bool held = false;  ///< it is kept again
    std::string text;
    friend bool operator==(const Line&, const Line&) = default;
  };
  /// About once a second. A line where one is due.
  std::optional<Line> look(MonoTime now, const std::optional<TargetState>& state);

 private:
  void begin_anew_where_another(MonoTime now, const TargetState& state);

  std::optional<MonoTime> missed_since_, told_;
  MonoTime looked_{};
  TargetState::Kind kind_ = TargetState::Kind::kTarget;
  double wanted_ = 0;
  bool told_missed_ = false;
};

}  // namespace gridtorrent::client
