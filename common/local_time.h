#pragma once

#include <string>

#include "common/clock.h"

namespace gridtorrent {

/// For people: "2026-11-20 20:15 CET", by a clock of this machine's zone (TZ), with the zone's name. Thread-safe.
std::string local_time_text(WallTime t);

}  // namespace gridtorrent
