#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>

#include "client/plan/reason.h"
#include "common/clock.h"
#include "common/ids.h"

namespace gridtorrent::client {

/// What one transfer has found out about the path from one node, after its lanes had settled.
struct PathFacts {
  NodeId node;                              ///< the seeder
  std::string network{};                    ///< of this end, as PeerSample has it; empty: not known
  std::string congestion_control{};         ///< of the sender; empty: it has not said
  std::chrono::microseconds round_trip{0};  ///< the least
  double loss_events_per_segment = 0;       ///< of losses that no full queue explains; 0: none seen
  bool long_transfer = false;               ///< the class of size: 100 MB or more
  int lanes = 0;                            ///< to this node, as the tuner held them last
  int sources = 1;                          ///< that the transfer fetched from at the same time, this one included
  std::uint64_t bits_per_s = 0;             ///< payload from this node, mean over the settled time
  std::uint64_t best_bits_per_s = 0;        ///< payload of the whole transfer, its best second
  std::uint64_t total_bits_per_s = 0;       ///< payload of the whole transfer, mean over the settled time
  std::uint64_t lane_bits_per_s = 0;        ///< what one lane comes to at these losses; 0: no losses seen
  Limit limit = Limit::kUnknown;            ///< what held the path
  bool asked = false;                       ///< the sender used its congestion control since this node had asked for it
  friend bool operator==(const PathFacts&, const PathFacts&) = default;
};

/// Transfers whose paths have equal keys are kept as one record.
struct PathKey {
  NodeId node;
  std::string network{}, congestion_control{};
  int round_trip_log2 = 0;  ///< of microseconds
  int loss_decade = 0;      ///< of loss events a segment: -4 for 0.01 %
  bool long_transfer = false;
  friend auto operator<=>(const PathKey&, const PathKey&) = default;
};

/// What the figures of PathFacts mean. Records of another meaning are not read, so it grows when they change.
inline constexpr int kPathLaw = 1;

/// A row of the node's history.
struct PathRecord {
  PathKey key{};
  PathFacts facts{};
  int transfers = 1;  ///< that it was made from
  WallTime last{};    ///< when the last of them ended
  friend bool operator==(const PathRecord&, const PathRecord&) = default;
};

/// What a tuner is told of a path that was used before. Where a transfer begins, not how it must go on.
struct PathMemory {
  PathFacts facts{};
  int transfers = 0;                 ///< that ended; 0: it stems from one of this node's that fetches now
  std::chrono::milliseconds age{0};  ///< since the last of them ended
  friend bool operator==(const PathMemory&, const PathMemory&) = default;
};

}  // namespace gridtorrent::client
