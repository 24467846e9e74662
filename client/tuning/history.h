#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/plan/memory.h"
#include "client/tuning/path_meter.h"

/// What a node remembers of the paths that its transfers used, how that ages, and when it is not believed. Pure.
namespace gridtorrent::client::tuning {

/// A record counts for e^(-age/7 d): links and the machines at their ends change from week to week.
inline constexpr std::chrono::hours kHistoryFades{24 * 7};
/// Older ones are deleted, and the oldest ones above this number. 10,000 rows of some 200 bytes are 2 MB.
inline constexpr std::chrono::hours kHistoryKept{24 * 90};
inline constexpr std::size_t kHistoryRows = 10'000;
/// A new transfer counts for no less than a fifth of what a record then holds, so that a path that has changed shows.
inline constexpr double kMostCounted = 4;
/// A round trip that was remembered is another one from these factors on, and where it differs by more than `kNoQueue`.
inline constexpr double kRoundTripLonger = 1.5, kRoundTripShorter = 0.67;
/// Losses rarer than this are not told from none: CUBIC then carries 138 Mbit/s a lane at 60 ms (RFC 9438, 5.1).
inline constexpr double kRareLoss = 1e-5;

/// The records of a node, by key.
using PathRecords = std::map<PathKey, PathRecord>;

PathKey key_of(const PathFacts& facts);

/// From 1 for now to 0; a time in the future counts as now.
double history_weight(WallTime last, WallTime now);

/// A record with one more transfer in it: rates and losses are weighed means, all else is the newest. `before`: the
/// record with the same key, if there is one.
PathRecord with_transfer(const std::optional<PathRecord>& before, const PathFacts& facts, WallTime now);

/// The keys of the records that are to be deleted: those too old, and the oldest ones above `most` rows.
std::vector<PathKey> outdated(const PathRecords& records, WallTime now, std::size_t most = kHistoryRows);

/// What is asked before any lane to the node stands.
struct PathQuery {
  NodeId node;
  std::string network{};  ///< of this end; empty: not known yet
  bool long_transfer = false;
};
/// The newest record that fits, of the first of these that has any: same network and class of size; same network; same
/// node. Nothing where the node is unknown or all are too old.
std::optional<PathMemory> recall(const PathRecords& records, const PathQuery& query, WallTime now);

/// "as on 3 transfers before, the last 2 days ago: 187 Mbit/s, limited by loss".
std::string remembered_text(const PathMemory& memory);
/// "2 days", "1 hour", "0 minutes".
std::string age_text(std::chrono::milliseconds age);

/// The path is another one than was remembered: another congestion control sends by itself, the round trip is more
/// than 1.5 or less than 0.67 times as long, or losses are of another decade with certainty (95 %, Poisson). What is
/// not known yet contradicts nothing.
bool contradicts(const PathFacts& remembered, const PathFigures& seen);

}  // namespace gridtorrent::client::tuning
