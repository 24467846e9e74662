#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/plan/controller.h"
#include "client/tuning/byte_meter.h"
#include "client/tuning/search.h"

namespace gridtorrent::client::tuning {

/// A seeder that was wanted for so long without a lane that stands makes room for the next one.
inline constexpr std::chrono::seconds kStandsWithin{10};

/// Runs a published tuner's search for each transfer.
///
/// The search sees complete seeders alone. A node that still fetches has one lane, outside of the search: the papers
/// know of none. Where no seeder is complete, or a person asked for a number of lanes, the plan is that of `fixed`.
class SearchController final : public TransferController {
 public:
  using Make = std::function<std::unique_ptr<TransferSearch>()>;
  SearchController(std::string name, Make make) : name_(std::move(name)), make_(std::move(make)) {}

  Plan plan(const ControllerInput& input) override;
  void removed(const TransferId& transfer) override { transfers_.erase(transfer); }

 private:
  struct Seeder {
    NodeId node;
    MonoTime stood{};  ///< last, or since when it is waited for
    bool used = false;
    double round_trip_s = 0;  ///< the least; 0: not known
  };
  struct Known {
    std::unique_ptr<TransferSearch> search;
    MonoTime planned{};                     ///< when it was last asked
    MonoTime clock{std::chrono::hours(1)};  ///< the search's own, which stands still while the transfer is paused
    ByteMeter meter;
    std::vector<Seeder> seeders;  ///< their order stays, so that lanes do not move from one to another
  };
  static void update(std::vector<Seeder>& known, const std::vector<const PeerSample*>& seen, MonoTime now);

  std::string name_;
  Make make_;
  std::map<TransferId, Known> transfers_;
};

}  // namespace gridtorrent::client::tuning
