#pragma once

#include <memory>
#include <vector>

#include "tests/sim/scenarios.h"
#include "tests/sim/transfer.h"

namespace gridtorrent::sim {

enum class Model : std::uint8_t { kWindows, kRates };
const char* model_name(Model model);
std::unique_ptr<Network> make_network(Model model, const World& world, std::uint64_t seed);

/// One transfer, until it is done, and so many seconds at most.
Run run(Model model, const Scenario& scenario, client::TransferController& controller, std::uint64_t seed,
        int seconds = 300, const Task& task = {});

/// Several transfers of other nodes at once, each with a controller of its own, none of which ends. They share the
/// receiver of the world.
std::vector<Run> run_together(Model model, const Scenario& scenario,
                              const std::vector<client::TransferController*>& controllers, std::uint64_t seed,
                              int seconds);

}  // namespace gridtorrent::sim
