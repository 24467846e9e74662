#include "client/tuning/file_rules.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "client/plan/controller.h"
#include "client/tuning/start.h"

namespace gridtorrent::client::tuning {
namespace {

constexpr double kBlockBytes = 16'384;

/// A number of any size as an integer between two others.
int whole(double number, int least, int most) {
  return static_cast<int>(std::clamp(number, static_cast<double>(least), static_cast<double>(most)));
}

}  // namespace

double bdp_bytes(double bits_per_s, double round_trip_s) {
  return bits_per_s * round_trip_s / 8;
}

int queued_files(double bdp, double mean_file) {
  return mean_file > 0 ? whole(std::round(bdp / mean_file), 1, kMostQueuedFiles) : kMostQueuedFiles;
}

int parallel_lanes(double bdp, double mean_file, double buffer) {
  const double each = buffer > 0 ? buffer : kUsualBufferBytes;
  return whole(std::min(std::ceil(bdp / each), std::ceil(mean_file / each)), 1, kMaxLanesPerPeer);
}

int concurrent_channels(double bdp, double mean_file, double files, int most) {
  const double filling = mean_file > 0 ? std::round(bdp / mean_file) : most;
  return whole(std::min(std::max(filling, 2.0), files), 1, std::max(most, 1));
}

int lane_blocks(int queued, double mean_file, double bdp, int lanes) {
  if (mean_file >= bdp) return 0;
  const double blocks = (queued + 1.0) * mean_file / kBlockBytes / std::max(lanes, 1);
  return whole(std::ceil(blocks) + 1, 2, kMostBlocks);
}

double places_for_channels(double bytes) {
  return std::max(1.0, std::ceil(bytes / static_cast<double>(kLeastBytesPerLane)));
}

void take_off(std::vector<double>& left, const std::vector<int>& lanes, double bytes) {
  double all = 0;
  for (std::size_t i = 0; i < left.size(); ++i) all += left[i] > 0 ? lanes[i] : 0;
  for (std::size_t i = 0; i < left.size() && all > 0; ++i) {
    if (left[i] > 0) left[i] = std::max(0.0, left[i] - bytes * lanes[i] / all);
  }
}

}  // namespace gridtorrent::client::tuning
