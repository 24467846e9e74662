#pragma once

#include <cstdint>
#include <map>

#include "client/plan/controller.h"
#include "client/tuning/path_meter.h"
#include "client/tuning/refinement.h"
#include "client/tuning/start.h"

namespace gridtorrent::client::tuning {

/// The tuner that a person gets who chooses nothing. It starts as the first handshake tells (start.h); where all
/// sources are complete, it then follows what their TCP tells of losses and windows (refinement.h). Where a person
/// asked for a number of lanes, that is the plan.
///
/// It remembers, until `removed`: how many bytes a transfer began with, what each path showed first, and the last half
/// minute of each source's figures. A path that turned out to be near or to carry BBR stays so for the transfer: what a
/// busy machine adds to a round trip must not open and close lanes.
class AutoController final : public TransferController {
 public:
  Plan plan(const ControllerInput& input) override;
  void removed(const TransferId& transfer) override { transfers_.erase(transfer); }

 private:
  struct Source {
    Path path;
    PathMeter meter;
  };
  struct Known {
    std::uint64_t bytes = 0;  ///< the most that was ever left
    std::map<NodeId, Source> sources;
    Refinement refinement;
  };
  std::map<TransferId, Known> transfers_;
};

/// What is known of a path, from what was known before and what is seen now.
Path learn(const Path& known, const Path& seen);

}  // namespace gridtorrent::client::tuning
