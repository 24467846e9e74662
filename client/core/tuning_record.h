#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "client/plan/findings.h"
#include "client/plan/reason.h"
#include "client/plan/wish.h"
#include "common/clock.h"
#include "common/ids.h"

/// What is kept of how a transfer was tuned, in memory and in the node's database. For people; it decides nothing.
namespace gridtorrent::client {

/// One second of a transfer.
struct TuningSample {
  std::chrono::milliseconds at{0};  ///< since the first look at the transfer
  std::uint64_t bits_per_s = 0;     ///< payload
  int lanes = 0, sources = 0;       ///< that are open and answer; nodes that they lead to
  Limit limit = Limit::kUnknown;
  std::uint64_t revision = 0;           ///< of the record, when this was added
  std::uint64_t limit_bits_per_s = 0;   ///< the lowest limit then, a person's or the tuner's; 0: none
  std::uint64_t target_bits_per_s = 0;  ///< the rate to be held then; 0: none
  friend bool operator==(const TuningSample&, const TuningSample&) = default;
};

/// A tuner has come to another plan.
struct TuningDecision {
  int number = 0;                                     ///< from 1
  std::chrono::milliseconds at{0};                    ///< since the first look at the transfer
  int lanes_before = 0, lanes = 0;                    ///< in all, as planned
  std::uint64_t bits_per_s = 0;                       ///< payload, over the three seconds before
  std::string reason;                                 ///< Reason::text
  Limit limit = Limit::kUnknown;                      ///< what limited the transfer then
  std::optional<std::uint64_t> brought_bits_per_s{};  ///< over the last three of the five seconds after it
  std::uint64_t revision = 0;                         ///< of the record, when this was last changed
  WallTime decided{};                                 ///< {}: by a node from before this was kept
  friend bool operator==(const TuningDecision&, const TuningDecision&) = default;
};

/// All that is kept of one transfer.
struct TuningRecord {
  static constexpr std::size_t kSamples = 600, kDecisions = 500;

  TransferId transfer;
  std::string name;                  ///< owner/name
  std::string tuner;                 ///< as its last reason names it
  std::optional<TuningMode> mode{};  ///< as it was last asked for; nothing: the tuner heeds none, or an older node
  bool running = true;
  std::chrono::milliseconds elapsed{0};  ///< from the first to the last look, without the time between two processes
  Findings findings;                     ///< the newest; Findings::at is of this process only
  std::deque<TuningSample> samples;      ///< the last kSamples
  std::deque<TuningDecision> decisions;  ///< the last kDecisions
  std::uint64_t revision = 0;            ///< grows with every look; not kept on disk, as those above
  std::uint64_t sequence = 0;            ///< of beginnings and ends on this node: the one that came later has more
};

/// Of so many transfers that ended the records are kept, in memory and on disk.
inline constexpr std::size_t kEndedTunings = 100;

}  // namespace gridtorrent::client
