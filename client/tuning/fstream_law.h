#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "common/ids.h"

/// The laws of FStream, a master's thesis on tuning transfers of files that come as a stream: its algorithms 2 and 3
/// and its section 3.5. Pure. Its algorithm 1 is file_rules.h.
namespace gridtorrent::client::tuning {

/// Of the link, what is to be reached: rho.
inline constexpr double kWantedOfLink = 0.8;
/// So far from it nothing is changed: x.
inline constexpr double kNearWanted = 0.15;
/// Channels in all, as in its experiments, and where a rate is to be held.
inline constexpr int kMostFstreamChannels = 10;
inline constexpr int kMostFstreamChannelsForTarget = 20;
/// A file that takes less than this over the whole link is small.
inline constexpr double kSmallFileS = 0.4;

bool is_small(double file_bytes, double link_bits_per_s);

/// Online profiling (algorithm 2): the number of channels after an interval that brought so much. Nothing: that is near
/// enough, or nothing came.
std::optional<int> profiled_channels(double bits_per_s, double link_bits_per_s, int channels, int most);
/// The same interval is so far from what is wanted that history may be asked.
bool is_far_from_wanted(double bits_per_s, double link_bits_per_s);

/// Its rule for a rate that is to be held (algorithm 3).
struct TargetStep {
  int channels = 1;
  int finer = 0;  ///< 1, −1: one more or less, of pipelining for small files, of parallelism for large ones
  friend bool operator==(const TargetStep&, const TargetStep&) = default;
};
TargetStep step_to_target(double bits_per_s, double target_bits_per_s, int channels, int most);

/// What an interval of an earlier transfer came to.
struct ProfileReport {
  std::vector<NodeId> seeders;  ///< sorted: another path tells nothing
  double mean_file = 0;
  bool small = false;
  int channels = 1;
  double bits_per_s = 0;
};

/// The reports of one node, for as long as it runs. Not thread-safe.
class ProfileHistory {
 public:
  static constexpr std::size_t kMost = 200;  ///< an hour and more of intervals
  void put(ProfileReport report);
  /// From the same seeders: the newest of about the same mean size (within a factor of two), else the newest of the
  /// same kind, else nothing.
  std::optional<ProfileReport> find(const std::vector<NodeId>& seeders, double mean_file, bool small) const;

 private:
  std::deque<ProfileReport> reports_;  ///< the newest first
};

}  // namespace gridtorrent::client::tuning
