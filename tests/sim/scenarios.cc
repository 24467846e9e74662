#include "tests/sim/scenarios.h"

#include <array>

namespace gridtorrent::sim {
namespace {

constexpr double kMbit = 1e6, kMs = 1e-3, kKiB = 1024, kMiB = 1'048'576;

std::vector<Seeder> alike(std::size_t count, const Seeder& seeder) {
  return std::vector<Seeder>(count, seeder);
}

Scenario plain(const char* name, std::vector<Seeder> seeders, double path, const Receiver& receiver) {
  return {.name = name, .world = {.seeders = std::move(seeders), .paths = {{.rate = path}}, .receiver = receiver}};
}

Scenario esnet() {
  constexpr Receiver kReceiver{9900 * kMbit, .3, 40};
  World world{.paths = {{5230 * kMbit}, {1900 * kMbit}, {5460 * kMbit}}, .receiver = kReceiver};
  for (const auto& seeder : {Seeder{5600 * kMbit, 57 * kMs, 6 * kMiB, 0, Control::kCubic, 0},
                             Seeder{2100 * kMbit, 80 * kMs, 6 * kMiB, 0, Control::kCubic, 1},
                             Seeder{5600 * kMbit, 48 * kMs, 6 * kMiB, 0, Control::kCubic, 2}}) {
    world.seeders.insert(world.seeders.end(), 2, seeder);
  }
  return {.name = "esnet", .world = world};
}

Scenario unlike() {
  constexpr std::array kUplinks{400, 200, 100, 50, 50, 25, 25, 10};
  constexpr std::array kRoundTrips{30, 50, 80, 20, 120, 40, 90, 150};
  std::vector<Seeder> seeders;
  for (std::size_t i = 0; i < kUplinks.size(); ++i) {
    seeders.push_back({.uplink = kUplinks[i] * kMbit, .round_trip = kRoundTrips[i] * kMs, .window_bytes = 512 * kKiB});
  }
  return plain("hetero", std::move(seeders), 1000 * kMbit, {1000 * kMbit, .3, 48});
}

Scenario changing() {
  Scenario scenario =
      plain("change", alike(12, {100 * kMbit, 50 * kMs, 256 * kKiB}), 800 * kMbit, {1000 * kMbit, .3, 48});
  scenario.events = {100, 200};
  scenario.change = [](int phase, World& world) {
    if (phase == 1) world.paths[0].rate /= 2;
    for (std::size_t i = 0; phase == 0 && i < 6; ++i) world.seeders[i].alive = false;
  };
  return scenario;
}

}  // namespace

std::vector<World> phases(const Scenario& scenario) {
  std::vector<World> worlds{scenario.world};
  for (std::size_t i = 0; i < scenario.events.size(); ++i) {
    worlds.push_back(worlds.back());
    scenario.change(static_cast<int>(i), worlds.back());
  }
  return worlds;
}

std::vector<Scenario> scenarios() {
  const Seeder lossy{100 * kMbit, 60 * kMs, 4 * kMiB, 1e-3};
  Seeder bbr = lossy;
  bbr.control = Control::kBbr;
  return {
      plain("gtf_lan", alike(16, {857 * kMbit, 1 * kMs, 512 * kKiB, 0, Control::kReno}), 857 * kMbit,
            {95 * kMbit, .3, 8}),
      plain("gtf_wan", alike(16, {118 * kMbit, 35 * kMs, 34 * kKiB, 0, Control::kReno}), 165 * kMbit,
            {1000 * kMbit, .25, 40}),
      plain("futuregrid", alike(4, {1000 * kMbit, 76 * kMs, 1 * kMiB}), 1000 * kMbit, {1000 * kMbit, .3, 32}),
      plain("xsede", alike(8, {1500 * kMbit, 50 * kMs, 4 * kMiB}), 10'000 * kMbit, {3980 * kMbit, .3, 24}),
      plain("aws", alike(4, {1000 * kMbit, 100 * kMs, 1 * kMiB}), 10'000 * kMbit, {928 * kMbit, .3, 32}),
      plain("lossy", alike(6, lossy), 100 * kMbit, {1000 * kMbit, .3, 64}),
      plain("bbr", alike(6, bbr), 100 * kMbit, {1000 * kMbit, .3, 16}),
      esnet(),
      unlike(),
      changing(),
  };
}

std::vector<Scenario> no_gain_links() {
  return {plain("near", {{.uplink = 1e10, .round_trip = 2 * kMs}}, 300 * kMbit, {}),
          plain("bbr", {{.uplink = 1e10, .round_trip = 60 * kMs, .loss = 1e-3, .control = Control::kBbr}}, 100 * kMbit,
                {})};
}

Scenario long_link() {
  return plain("long", {{.uplink = 1e10, .round_trip = 50 * kMs, .window_bytes = 32 * kMiB, .loss = 5e-5}}, 940 * kMbit,
               {});
}

}  // namespace gridtorrent::sim
