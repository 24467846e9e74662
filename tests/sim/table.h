#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/optimum.h"

namespace gridtorrent::sim {

/// How a run compares with the optimum.
struct Score {
  double first = 0, whole = 0;  ///< of the optimum over the first 120 s and the whole run, 1: as good
  int t90 = -1;                 ///< second from which each five seconds bring 90 %, in the first phase; -1: never
  int sockets = 0;              ///< median of the last 30 seconds
};
Score score(const Scenario& scenario, const Run& run, const Optimum& optimum);
/// Medians of runs with the seeds 1 to `seeds`; what never holds 90 % counts as the whole first phase.
Score median_score(Model model, const Scenario& scenario, const std::string& controller, const Optimum& optimum,
                   int seeds);

/// For a person: what `tests/sim/README.md` describes. The exit code.
int print_table(const std::vector<std::string_view>& arguments);

}  // namespace gridtorrent::sim
