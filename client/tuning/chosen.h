#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "client/plan/controller.h"

namespace gridtorrent::client::tuning {

/// Hands each transfer to the tuner that a person chose for it, and to the node's where nobody did. Transfers that have
/// the same tuner share one object of it. A transfer that changes its tuner is forgotten by the one before.
class ChosenController final : public TransferController {
 public:
  /// `usual`: the node's tuner, a name that the registry knows. `seed`: of the tuners' randomness.
  ChosenController(std::string usual, std::uint64_t seed) : usual_(std::move(usual)), seed_(seed) {}

  /// A name that no tuner has means the node's: a transfer may stem from a later version.
  Plan plan(const ControllerInput& input) override;
  void removed(const TransferId& transfer) override;

 private:
  std::string usual_;
  std::uint64_t seed_;
  std::map<std::string, std::unique_ptr<TransferController>> tuners_;
  std::map<TransferId, std::string> chosen_;
};

}  // namespace gridtorrent::client::tuning
