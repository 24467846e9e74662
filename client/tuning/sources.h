#pragma once

#include <vector>

#include "client/plan/controller.h"

namespace gridtorrent::client::tuning {

/// Lanes where nobody asked for a number: to a peer, and in all over a transfer. Measured on `long-*`, `swarm-8` and
/// `swarm-30` (docs/decisions/2026-11-22-many-neighbours-one-lane-each.md).
inline constexpr int kEvenLanesPerPeer = 4;
inline constexpr int kEvenLanesInAll = 32;

/// The nodes that data may come from, at most as many as a person asked for, else as many as the lanes in all allow.
/// Those that lanes stand to come first, then complete ones. Ties fall differently for each node and equally for each
/// call, so that a swarm spreads over its seeders.
std::vector<const PeerSample*> choose_sources(const ControllerInput& input);

/// Equal parts for all sources: what a person asked for, else at most 4 to each and 32 in all; at least 1.
int even_lanes(int lanes_wish, std::size_t sources);

/// "4 lanes to each of 3 peers", "1 lane to each of 1 peer".
std::string describe_even(int lanes, std::size_t sources);

}  // namespace gridtorrent::client::tuning
