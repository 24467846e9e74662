#pragma once

#include <vector>

#include "tests/sim/runner.h"

namespace gridtorrent::sim {

/// The best of many fixed plans over the same time: so many lanes to each of the first so many living seeders, by
/// uplink and then round trip. In the window model each is run with the same seed; in the rate model it is the closed
/// form without noise, over water-filling plans as well.
struct Optimum {
  std::vector<double> bits_per_s{};  ///< of each phase of the scenario, in its last three quarters
  double first = 0, whole = 0;       ///< means over the first 120 s and over the whole run
  int sockets = 0;                   ///< the least within 2 % of the best, in the last phase
};
Optimum find_optimum(Model model, const Scenario& scenario, std::uint64_t seed, int seconds = 300);

/// A controller with the same lanes for ever, in the seeders' order.
class FixedLanes final : public client::TransferController {
 public:
  explicit FixedLanes(std::vector<int> lanes) : lanes_(std::move(lanes)) {}
  client::Plan plan(const client::ControllerInput& input) override;
  void removed(const TransferId&) override {}

 private:
  std::vector<int> lanes_;
};

/// The best plan that gives `per_seeder` lanes to each of `seeders` living ones.
std::vector<int> even_lanes_to(const World& world, int seeders, int per_seeder);

}  // namespace gridtorrent::sim
