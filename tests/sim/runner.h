#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/plan/controller.h"
#include "tests/sim/network.h"
#include "tests/sim/scenarios.h"

namespace gridtorrent::sim {

enum class Model : std::uint8_t { kWindows, kRates };
const char* model_name(Model model);
std::unique_ptr<Network> make_network(Model model, const World& world, std::uint64_t seed);

/// What a transfer did under a controller, second by second.
struct Run {
  std::vector<double> bits_per_s{};                ///< payload of each second
  std::vector<int> sockets{};                      ///< at the end of each second
  std::vector<std::vector<int>> seeder_sockets{};  ///< the same for each seeder
  std::vector<std::string> log{};                  ///< each plan that differs from the one before: when, lanes, why
  /// Over the seconds from `from` to `to`.
  double mean(int from, int to) const;
};

/// One transfer that never ends, over the real interface: samples each 250 ms; gt_stats of a lane as its handshake is
/// over, each 250 ms in its first 5 s, each second after; a plan each second, and when a first lane to a seeder stands.
/// Lanes of a plan are dialled one after another 0.1 to 1 s later, and stand after 1.5 round trips. A lane that is no
/// longer wanted, the youngest first, drains for a round trip and then closes. Lanes to a seeder that died close at
/// once; its node leaves the swarm's list five seconds later.
Run run(Model model, const Scenario& scenario, client::TransferController& controller, std::uint64_t seed,
        int seconds = 300);

}  // namespace gridtorrent::sim
