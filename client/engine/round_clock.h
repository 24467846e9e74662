#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "common/clock.h"

namespace gridtorrent::client::engine {

/// How long the network thread may leave its sockets alone while data flows, as network cards moderate their
/// interrupts: on a long path a packet that waits an eighth of a round trip costs nothing, since requests are far ahead
/// of the data and it is acknowledged meanwhile (UnreadAcks), and one look at all sockets replaces a wake-up for each
/// packet or two. A plain value.
class RoundClock {
 public:
  using Rest = std::chrono::microseconds;

  /// A block came or was asked for, over a lane of that least round trip (0: not known). Whether to rest at all.
  bool data_flows(MonoTime now, std::uint32_t round_trip_us);
  /// After a look at all sockets: until the next one, an eighth of the shortest round trip that had data since the
  /// last, from one look to the next; 5 ms at most. Nothing: no data flows, or some flows from so near that resting
  /// would cost throughput; packets are to wake the thread again.
  std::optional<Rest> rest(MonoTime now);

 private:
  MonoTime flowed_{}, near_flowed_{}, looked_{};
  std::optional<Rest> shortest_;  ///< since the last look
  Rest round_{0};
};

}  // namespace gridtorrent::client::engine
