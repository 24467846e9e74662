#pragma once

#include <chrono>

#include "client/core/transfer_book.h"

/// Which transfers a round looks at: pure functions of values. A node may hold tens of thousands, of which few move.
namespace gridtorrent::client {

/// So often all transfers are looked at, those that rest among them. 20,000 that rest beside one that is fetched took
/// 7.8 % of a core when each round looked at all, and 2.1 % with this (bench/moving_node.cc).
inline constexpr std::chrono::milliseconds kLookAtAll{1000};

/// It takes no step by itself but at a time of its own: it is held, failed or paused.
bool rests(const Transfer& transfer);

/// So often each of them takes its step, also where nothing of it is due: what is shown of one that sleeps follows what
/// holds for all of them after that time at the latest.
inline constexpr std::chrono::seconds kStepAll{10};

/// Held outside of the engine, with nothing due, nothing to be read again and nothing to be said: a step would do
/// nothing.
bool sleeps_on(const Transfer& transfer, MonoTime now);

/// Whether a round at `by` has to look at it, be it one that leaves out what rests.
bool look_due(const Transfer& transfer, MonoTime by);

}  // namespace gridtorrent::client
