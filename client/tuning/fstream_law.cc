#include "client/tuning/fstream_law.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gridtorrent::client::tuning {

bool is_small(double file_bytes, double link_bits_per_s) {
  return link_bits_per_s > 0 && 8 * file_bytes / link_bits_per_s < kSmallFileS;
}

bool is_far_from_wanted(double bits_per_s, double link_bits_per_s) {
  const double wanted = kWantedOfLink * link_bits_per_s;
  return bits_per_s > 0 && std::abs(bits_per_s - wanted) > kNearWanted * wanted;
}

std::optional<int> profiled_channels(double bits_per_s, double link_bits_per_s, int channels, int most) {
  if (!is_far_from_wanted(bits_per_s, link_bits_per_s)) return std::nullopt;
  const double required = kWantedOfLink * link_bits_per_s / bits_per_s * channels;
  const double next = required > channels ? std::min({std::ceil(required), 2.0 * channels, 1.0 * most})
                                          : std::min(std::floor(required), 1.0 * most);
  return std::max(1, static_cast<int>(next));
}

TargetStep step_to_target(double bits_per_s, double target_bits_per_s, int channels, int most) {
  const double error = std::abs(bits_per_s - target_bits_per_s) / target_bits_per_s;
  const bool below = bits_per_s < target_bits_per_s;
  const int sign = below ? 1 : -1;
  TargetStep step{channels, 0};
  if (error > 0.5) {
    step.channels = below ? 2 * channels : channels / 2;
  } else if (error > 0.2) {
    step.channels = channels + 2 * sign;
  } else if (error > 0.1) {
    step.channels = channels + sign;
  } else if (error > 0.05) {
    step.finer = sign;
  }
  step.channels = std::clamp(step.channels, 1, std::max(most, 1));
  return step;
}

void ProfileHistory::put(ProfileReport report) {
  reports_.push_front(std::move(report));
  if (reports_.size() > kMost) reports_.pop_back();
}

std::optional<ProfileReport> ProfileHistory::find(const std::vector<NodeId>& seeders, double mean_file,
                                                  bool small) const {
  const ProfileReport* same_kind = nullptr;
  for (const auto& report : reports_) {
    if (report.seeders != seeders) continue;
    if (report.mean_file <= 2 * mean_file && mean_file <= 2 * report.mean_file) return report;
    if (same_kind == nullptr && report.small == small) same_kind = &report;
  }
  return same_kind == nullptr ? std::nullopt : std::optional(*same_kind);
}

}  // namespace gridtorrent::client::tuning
