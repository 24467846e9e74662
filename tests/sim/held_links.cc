#include "tests/sim/held_links.h"

#include <utility>

namespace gridtorrent::sim {
namespace {

constexpr double kMbit = 1e6, kMs = 1e-3, kKiB = 1024, kMiB = 1'048'576;
constexpr std::uint64_t kMB = 1'000'000;

RandomLink link(const char* name, double rate, Seeder seeder, std::uint64_t bytes) {
  RandomLink link;
  seeder.uplink = 1e10;
  link.scenario.name = link.text = name;
  link.scenario.world.seeders = {seeder};
  link.scenario.world.paths.front().rate = rate;
  link.task.bytes = bytes;
  return link;
}

}  // namespace

std::vector<RandomLink> held_links() {
  constexpr Control kBbr = Control::kBbr;
  return {
      link("shaped, near", 1000 * kMbit, {.round_trip = 2 * kMs, .lane_rate = 50 * kMbit}, 1200 * kMB),
      link("shaped, BBR", 1000 * kMbit, {.round_trip = 60 * kMs, .control = kBbr, .lane_rate = 50 * kMbit}, 1200 * kMB),
      link("shaped, few bytes", 300 * kMbit, {.round_trip = 40 * kMs, .lane_rate = 20 * kMbit}, 90 * kMB),
      link("shaped, many bytes", 300 * kMbit, {.round_trip = 40 * kMs, .lane_rate = 20 * kMbit}, 900 * kMB),
      link("sndbuf, BBR", 1000 * kMbit, {.round_trip = 100 * kMs, .control = kBbr, .send_buffer_bytes = 4 * kMiB},
           1200 * kMB),
      link("sndbuf, BBR, long", 1000 * kMbit, {.round_trip = 200 * kMs, .control = kBbr, .send_buffer_bytes = 4 * kMiB},
           1200 * kMB),
      link("sndbuf, few bytes", 1000 * kMbit, {.round_trip = 100 * kMs, .send_buffer_bytes = 1 * kMiB}, 90 * kMB),
      link("jitter, losses, few bytes", 200 * kMbit, {.round_trip = 60 * kMs, .loss = 1e-2, .delays = 6 * kMs},
           50 * kMB),
      link("jitter, losses", 200 * kMbit, {.round_trip = 60 * kMs, .loss = 1e-3, .delays = 6 * kMs}, 300 * kMB),
      link("jitter, windows", 1000 * kMbit, {.round_trip = 100 * kMs, .window_bytes = 512 * kKiB, .delays = 8 * kMs},
           300 * kMB),
      link("jitter, windows, BBR", 1000 * kMbit,
           {.round_trip = 100 * kMs, .window_bytes = 6 * kMiB, .control = kBbr, .delays = 8 * kMs}, 1200 * kMB),
      link("windows, BBR", 1000 * kMbit, {.round_trip = 200 * kMs, .window_bytes = 6 * kMiB, .control = kBbr},
           1200 * kMB),
      link("windows, few bytes", 1000 * kMbit, {.round_trip = 100 * kMs, .window_bytes = 256 * kKiB}, 90 * kMB),
      link("near, losses", 1000 * kMbit, {.round_trip = 4.5 * kMs, .loss = 1e-3}, 1200 * kMB),
      link("near, losses, few bytes", 1000 * kMbit, {.round_trip = 4.5 * kMs, .loss = 1e-3}, 300 * kMB),
  };
}

}  // namespace gridtorrent::sim
