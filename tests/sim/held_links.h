#pragma once

#include <vector>

#include "tests/sim/random_links.h"

namespace gridtorrent::sim {

/// Links on which a first number of lanes is too small, though neither random losses nor a receive window tell so
/// plainly; one seeder each. Of the window model alone.
///
/// shaped: each connection has a rate and a queue of its own, as behind a provider's shaper; sndbuf: the sender's
/// buffer is small; jitter: single packets are late, as on a radio link; windows: few bytes, and windows that hold
/// lanes up; near: losses on a short path.
std::vector<RandomLink> held_links();

}  // namespace gridtorrent::sim
