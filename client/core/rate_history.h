#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "client/core/tuning_record.h"
#include "common/clock.h"
#include "common/ids.h"

/// What a transfer received and sent over time, as it is kept and shown. For people; it decides nothing.
namespace gridtorrent::client {

/// What a transfer received and sent over the `span` up to `at`.
struct RatePoint {
  WallTime at;
  std::chrono::milliseconds span{0};
  std::uint64_t down_bits_per_s = 0, up_bits_per_s = 0;  ///< payload
  int lanes = 0, sources = 0;                            ///< open ones; nodes that sent something lately
  WallTime from() const { return at - span; }
  bool idle() const { return down_bits_per_s == 0 && up_bits_per_s == 0; }
  friend bool operator==(const RatePoint&, const RatePoint&) = default;
};

/// Points of about a second are kept for so long, points of 15 s for so long.
inline constexpr std::chrono::minutes kSecondsKept{15};
inline constexpr std::chrono::hours kRatesKept{24};

/// Points that follow each other, as they are kept together. A time without payload is one point, however long.
struct RateBlock {
  TransferId transfer;
  bool seconds = false;           ///< of about a second; else of 15 s
  std::vector<RatePoint> points;  ///< at least one, in the order of time; the first one's `at` names the block
  friend bool operator==(const RateBlock&, const RateBlock&) = default;
};
/// So many blocks of each kind are kept on disk; the oldest go first. The seconds of some thousand transfers that move,
/// or the 15 s of some hundred that do so all day.
inline constexpr std::size_t kRateBlocks = 32'768;

/// What a transfer received and sent, and what its tuner decided meanwhile.
struct RateHistory {
  std::vector<RatePoint> points;          ///< in the order of time
  std::vector<TuningDecision> decisions;  ///< `at` since `decisions_from`
  WallTime decisions_from;
};

/// What is known of one transfer at `now`: seconds where there are any, else 15 s, of what ended after `from`. Pure.
/// `kept`: on disk; `held`: in memory, in place of blocks of the same name.
std::vector<RatePoint> joined_points(std::vector<RateBlock> kept, std::vector<RateBlock> held, WallTime from,
                                     WallTime now);

}  // namespace gridtorrent::client
