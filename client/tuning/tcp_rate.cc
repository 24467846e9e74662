#include "client/tuning/tcp_rate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "client/tuning/bottleneck.h"

namespace gridtorrent::client::tuning {

double long_run_bits_per_s(const LossyPath& path, std::string_view congestion_control) {
  const double round_trip = std::chrono::duration<double>(path.round_trip).count();
  const double losses = path.loss_events_per_segment;
  if (losses <= 0 || round_trip <= 0 || is_bbr(congestion_control)) {
    return std::numeric_limits<double>::infinity();
  }
  double window = 1.22 / std::sqrt(losses);
  if (congestion_control == "cubic") window = std::max(window, 1.054 * std::pow(round_trip / losses, 0.75));
  return std::max(window, 1.0) * path.segment_bytes * 8 / round_trip;
}

}  // namespace gridtorrent::client::tuning
