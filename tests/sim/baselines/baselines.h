#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/sim/baselines/script.h"
#include "tests/sim/scenarios.h"

namespace gridtorrent::sim {

/// What the papers' tuners are told of a path before they start; `auto` is not. The data are files of 300 MB.
struct PathFacts {
  double bits_per_s = 0, round_trip = 0, buffer_bytes = 0, file_bytes = 300e6;
  int most_channels = 10;
  double product() const { return bits_per_s / 8 * round_trip; }
};
/// The path of the first seeder, and what all paths together bring to the receiver.
PathFacts path_facts(const World& world);

/// Ten settings of Globus's service by the files' mean size; they never change.
Script globus(PathFacts facts);
/// Channels and streams by formulas, once (Yildirim and others, TPDS 2012; Arslan and Kosar, 1708.05425).
Script heuristic(PathFacts facts);
/// The same, then twice as many channels each ten seconds while that brings 5 % more (Nine and Kosar, JPDC 2018).
Script adaptive_cc(PathFacts facts);
/// A polynomial through what earlier transfers over similar paths brought (Arslan and others, SC 2016). Its past are
/// the closed forms of the scenarios, this one's included: more than it would have.
Script harp(PathFacts facts);
/// SPSA over channels and streams (Yun and others, ToN 27(6), 2019).
Script prob_data(PathFacts facts, std::uint64_t seed);
/// Samples beside the present number of sockets, then a step up the slope (Rao and others, HPDC 2017).
Script d_w();
/// Falcon's gradient descent on T/1.02ⁿ − 10·T·L (Arifuzzaman and Arslan, SC 2021).
Script falcon();

/// Their names in the table.
std::vector<std::string> baseline_names();
/// One of these, or a tuner of client/tuning; null where neither has that name.
std::unique_ptr<client::TransferController> make_controller(const std::string& name, const World& world,
                                                            std::uint64_t seed);

}  // namespace gridtorrent::sim
