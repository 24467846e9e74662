#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/optimum.h"

namespace gridtorrent::sim {

inline constexpr int kNever = 300;
/// From second `from` on, until three seconds on end bring so much on average; kNever.
int seconds_until(const Run& run, double bits_per_s, int from = 0);

/// How a run compares with the optimum.
struct Score {
  double first = 0, whole = 0;  ///< of the optimum over the first 120 s and the whole run, 1: as good
  int t90 = 0;                  ///< seconds until three on end bring 90 % of the first phase's best; kNever
  int sockets = 0;              ///< median of the last 30 seconds
};
Score score(const Run& run, const Optimum& optimum);
Score median_score(const std::vector<Run>& runs, const Optimum& optimum);

/// For a person: what `tests/sim/README.md` describes. The exit code.
int print_table(const std::vector<std::string_view>& arguments);

}  // namespace gridtorrent::sim
