#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/plan/controller.h"

namespace gridtorrent::client::tuning {

/// What a node uses where nobody chose a tuner.
inline constexpr char kDefaultTuner[] = "auto";

/// The names of client/plan/tuners.h, the default one first. A new tuner is a new line there, and one in registry.cc.
std::vector<std::string> tuner_names();

/// Null where no tuner has that name. `seed`: of all its randomness.
std::unique_ptr<TransferController> make_tuner(const std::string& name, std::uint64_t seed);

}  // namespace gridtorrent::client::tuning
