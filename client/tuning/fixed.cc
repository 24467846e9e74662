#include "client/tuning/fixed.h"

#include "client/tuning/sources.h"

namespace gridtorrent::client::tuning {

Plan even_plan(const ControllerInput& input, const std::string& name) {
  Plan plan;
  const auto sources = choose_sources(input);
  const int lanes = even_lanes(input.lanes_wish, sources.size());
  for (const auto* source : sources) plan.peers.push_back({.node = source->node, .lanes = lanes});
  plan.reason.text =
      name + ": " +
      (sources.empty() ? "no peer has data"
                       : describe_even(lanes, sources.size()) + (input.lanes_wish > 0 ? ", as asked" : ""));
  return plan;
}

Plan FixedController::plan(const ControllerInput& input) {
  return even_plan(input, "fixed");
}

}  // namespace gridtorrent::client::tuning
