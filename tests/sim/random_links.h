#pragma once

#include <cstdint>
#include <string>

#include "tests/sim/runner.h"

namespace gridtorrent::sim {

/// A transfer over a link that nobody chose.
struct RandomLink {
  Scenario scenario;
  Task task;
  bool rivals = false;  ///< from the start or later
  std::string text;     ///< one line for people
};

/// Drawn from these ranges, evenly on a logarithmic scale where they span more than a decade:
///
/// rate 5 Mbit/s to 2.5 Gbit/s; round trip 0.3 to 300 ms; random loss 0.0001 to 0.3 %, a third of the links without;
/// queue 0.1 to 2 bandwidth-delay products; windows 64 kB to 16 MB, half of the links without; 1 to 8 seeders, whose
/// round trips are 0.5 to 2 times the link's and of which half have an uplink of 0.05 to 2 times its rate; a tenth
/// sends by BBR and a twentieth by Reno; a fifth of the links has 1 to 3 rivals; on a quarter the rate, the loss, the
/// rivals or a seeder changes once; as many bytes as the link carries in 4 to 300 s.
RandomLink random_link(std::uint64_t seed);

/// A transfer is looked at for so long, if it is not done before: 60 s, or 12,000 of its shortest round trips, and 15 s
/// at least. TCP's windows move in round trips.
int link_seconds(const RandomLink& link);

/// The best fixed plan of lanes × seeders: the same transfer over the same link, with the same seed. Where others use
/// the link, it is the plan with the fewest lanes within 2 % of what is best without them: more lanes would bring more,
/// but only what they take from the others.
struct BestFixed {
  double bits_per_s = 0;
  int seeders = 0, lanes = 0;  ///< to each
};
BestFixed best_fixed(Model model, const RandomLink& link, std::uint64_t seed);

/// A transfer by a controller beside the best fixed plan's.
struct LinkRow {
  double ratio = 0;
  bool rivals = false;
  std::string text{};  ///< for people; many lines where the plans were asked for
};
LinkRow compare_link(Model model, const std::string& controller, const RandomLink& link, std::uint64_t seed,
                     bool plans = false);
/// Of the links with these seeds. `plans`: with each plan of the controller, and the rate of each second.
std::vector<LinkRow> compare_links(Model model, const std::string& controller, int first, int last, bool plans = false);

/// For a person: the worst first, and the mean, in which more than the best fixed plan's counts as 1.
void print_links(Model model, const std::string& controller, int first, int last);

}  // namespace gridtorrent::sim
