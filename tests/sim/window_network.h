#pragma once

#include <map>
#include <random>
#include <vector>

#include "tests/sim/network.h"
#include "tests/sim/window.h"

namespace gridtorrent::sim {

/// The window model: each lane has a congestion window (window.h), each link a queue that drops what does not fit.
///
/// Time goes on in steps of half the least round trip (0.5 to 25 ms). In a step the windows are given; the queues
/// (of the seeder's uplink, of the path, before the receiver) take the lengths at which what enters a link is what it
/// carries. What a full queue cannot hold is lost, and so is a random part of all packets; who is hit is drawn. A
/// shaper by connection comes before all of these.
class WindowNetwork final : public Network {
 public:
  WindowNetwork(const World& world, std::uint64_t seed);
  int open(int seeder, int transfer) override;
  void close(int lane) override;
  void limit(int transfer, double bits_per_s) override;
  void advance(double seconds) override;
  LaneFigures figures(int lane) const override;

 private:
  struct Lane {
    int number = 0, seeder = 0, path = 0, transfer = 0;
    bool rival = false;
    Window window;
    double base = 0;            ///< the round trip without queues
    double round_trip = 0;      ///< with the queue of its own shaper
    double shaped = 0;          ///< part of what it sends that this queue drops
    double in_flight = 0;       ///< segments
    double asked = 1;           ///< below 1: of what it could carry, so much is asked for under a limit
    double rate = 0;            ///< segments a second, as sent in this step
    double until_lost = 0;      ///< expected losses until the next one: drawn from an exponential distribution
    double sent = 0, lost = 0;  ///< segments
    double received = 0;
    double events = 0, event_us = 0, busy_us = 0, window_us = 0, buffer_us = 0, seen_us = 0;
  };
  struct Link {
    double capacity = 0;   ///< segments a second
    double most_wait = 0;  ///< seconds that the full queue takes
    double wait = 0;
    double wanted = 0, slope = 0;  ///< sum of rates, and of rates over round trips
    double dropped = 0;            ///< part of what comes
  };
  void step(double seconds);
  void set_links();
  void match_rivals();
  void give_windows();
  void settle_receiver();
  void shape(Lane& lane) const;
  void settle(std::vector<Link>& links, int Lane::* member, bool counts_rivals);
  double wait_before(const Lane& lane) const;
  void send(Lane& lane, double seconds);
  double late(const Lane& lane);
  void lose(Lane& lane, double segments, double round_trip);
  double step_seconds() const;

  const World& world_;
  std::mt19937_64 random_;
  std::vector<Lane> lanes_;
  std::vector<Link> uplinks_, paths_;
  std::map<int, double> limits_;  ///< segments a second
  Link receiver_;
  double now_ = 0;
  int next_ = 1;
};

}  // namespace gridtorrent::sim
