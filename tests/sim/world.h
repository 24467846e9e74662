#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

/// What a simulated transfer runs over: who sends, over which links, to which machine. Rates are payload, bits a
/// second; times are seconds.
namespace gridtorrent::sim {

/// Of IPv4 over Ethernet with TCP's timestamps: 1500 − 20 − 32.
inline constexpr double kSegmentBytes = 1448;

enum class Control : std::uint8_t { kCubic, kReno, kBbr };
/// As Linux calls it.
constexpr const char* control_name(Control control) {
  return control == Control::kCubic ? "cubic" : control == Control::kReno ? "reno" : "bbr";
}

/// One node that has all data.
struct Seeder {
  double uplink = 1e9;
  double round_trip = 0.05;           ///< of the empty path
  double window_bytes = 16'777'216;   ///< the most that one lane has in flight: the smaller of both ends' buffers
  double loss = 0;                    ///< part of the packets that get lost at random
  Control control = Control::kCubic;  ///< of its kernel
  int path = 0;                       ///< the link that it shares with others
  bool alive = true;
  // Of the window model alone:
  double lane_rate = 0;             ///< each connection is shaped to so much, by a queue of its own; 0: none is
  double send_buffer_bytes = 1e12;  ///< the most that one lane has in flight by its sender's buffer
  double delays = 0;                ///< seconds that single packets are late, in the mean, as on a radio link
};

/// A link that several seeders share, with a queue that drops what does not fit.
struct Path {
  double rate = 1e9;
  int rivals = 0;        ///< flows of others that never end, each a lane like those of the path's first seeder
  double queue_bdp = 1;  ///< what the queue holds, in products of the rate and the path's least round trip
};

/// So many segments a queue holds at least, however short the path.
inline constexpr double kLeastQueue = 100;
/// Seconds that a packet waits in a link's full queue, whose least round trip that is.
inline double full_queue_wait(const Path& path, double round_trip) {
  return std::max(round_trip * path.queue_bdp, kLeastQueue * kSegmentBytes * 8 / path.rate);
}

/// Who fetches. It slows senders down by their windows; it drops nothing.
struct Receiver {
  double rate = 1e10;  ///< the lower one of network card and disk
  /// Each socket past `free_sockets` costs time: the rate is divided by 1 + socket_cost·(n − free)/free.
  double socket_cost = 0;
  int free_sockets = 32;
};

struct World {
  std::vector<Seeder> seeders{};
  std::vector<Path> paths{Path{}};
  Receiver receiver{};
  double noise = 0;  ///< standard deviation of what half a second brings, relative; the second model adds it
};

}  // namespace gridtorrent::sim
