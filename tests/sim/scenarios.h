#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/sim/world.h"

namespace gridtorrent::sim {

/// A world, and what happens to it.
struct Scenario {
  std::string name;
  World world;
  /// Edits the world at these seconds, in rising order; `phase` counts them from 0.
  std::vector<double> events{};
  std::function<void(int phase, World& world)> change{};
};

/// The worlds before the first event and after each.
std::vector<World> phases(const Scenario& scenario);

/// Ten that follow published testbeds; no numbers of them are claims about these. Rates in Mbit/s, round trips in ms:
/// gtf_lan, gtf_wan: GridTorrent's measurements in one building and between two universities (windows of 34 KiB);
/// futuregrid, xsede, aws: networks of the papers on tuning GridFTP (disks of 3,980 and 928); lossy, bbr: 0.1 % of
/// random loss, under CUBIC and under BBR; esnet: six seeders over three paths; hetero: unlike seeders;
/// change: of twelve seeders six die after 100 s, and the path's rate halves after 200 s.
std::vector<Scenario> scenarios();

/// One seeder, 940 Mbit/s, 50 ms, 0.005 % of random loss: measured as `long-6GB`.
Scenario long_link();

/// More lanes bring nothing: one seeder, 300 Mbit/s, 2 ms; and one that sends by BBR over 100 Mbit/s, 60 ms, 0.1 %.
std::vector<Scenario> no_gain_links();

}  // namespace gridtorrent::sim
