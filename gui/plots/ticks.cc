#include "gui/plots/ticks.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gridtorrent::gui {

namespace {

constexpr std::array<std::int64_t, 20> kTimeSteps_s{1,   2,    5,    10,   15,    30,    60,    120,   300,    600,
                                                    900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800};

std::vector<double> ticks_of(double step, double highest) {
  std::vector<double> ticks;
  const auto count = static_cast<int>(std::ceil(highest / step - 1e-9));
  for (int i = 0; i <= count; ++i) ticks.push_back(step * i);
  return ticks;
}

double round_step(double highest, int most_ticks) {
  const double least = highest / std::max(most_ticks, 1);
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (power * factor >= least * (1 - 1e-9)) return power * factor;
  return power * 10;
}

}  // namespace

std::vector<double> value_ticks(double highest, int most_ticks) {
  if (!(highest > 0) || !std::isfinite(highest)) return {0, 1};
  return ticks_of(round_step(highest, most_ticks), highest);
}

std::vector<double> whole_ticks(std::uint32_t highest, int most_ticks) {
  if (highest == 0) return {0, 1};
  return ticks_of(std::max(1.0, round_step(highest, most_ticks)), highest);
}

TimeTicks time_ticks(TimeRange range, int most_ticks, std::int64_t zone_offset_ms) {
  const std::int64_t length = range.to_ms - range.from_ms;
  if (length <= 0 || most_ticks < 1) return {};
  const auto fits = [&](std::int64_t step_s) { return length / (step_s * 1000) < most_ticks; };
  const auto found = std::ranges::find_if(kTimeSteps_s, fits);
  if (found == kTimeSteps_s.end()) return {};
  TimeTicks ticks{{}, *found * 1000};
  const std::int64_t local = range.from_ms + zone_offset_ms;
  std::int64_t at = (local + ticks.step_ms - 1) / ticks.step_ms * ticks.step_ms - zone_offset_ms;
  for (; at < range.to_ms; at += ticks.step_ms) ticks.at_ms.push_back(at);
  return ticks;
}

}  // namespace gridtorrent::gui
