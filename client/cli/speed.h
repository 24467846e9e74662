#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

#include "common/clock.h"

namespace gridtorrent::client::cli {

/// How fast something goes; zero and nothing where that is not known yet.
struct Speed {
  std::uint64_t bytes_per_s = 0;
  std::optional<std::chrono::seconds> eta;
};

/// The speed of what only says how far it is: over the last ten seconds, from the first full one on. Used from one
/// thread.
class SpeedMeter {
 public:
  Speed note(MonoTime now, std::uint64_t done, std::uint64_t total);

 private:
  struct Point {
    MonoTime at;
    std::uint64_t done = 0;
  };
  std::deque<Point> points_;
};

}  // namespace gridtorrent::client::cli
