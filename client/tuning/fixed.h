#pragma once

#include "client/plan/controller.h"

namespace gridtorrent::client::tuning {

/// Measures nothing: at most 32 lanes over as many peers as have data, at most 4 to each, or what a person asked for.
class FixedController final : public TransferController {
 public:
  Plan plan(const ControllerInput& input) override;
  void removed(const TransferId&) override {}
};

/// The same plan under another name, for a controller that leaves a case to it.
Plan even_plan(const ControllerInput& input, const std::string& name);

}  // namespace gridtorrent::client::tuning
