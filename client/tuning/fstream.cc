#include "client/tuning/fstream.h"

#include <algorithm>
#include <cmath>

#include "client/tuning/file_rules.h"

namespace gridtorrent::client::tuning {
namespace {

std::string channels_text(int channels) {
  return std::to_string(channels) + (channels == 1 ? " channel" : " channels");
}

int most_channels(const SearchInput& input) {
  return input.target_bits_per_s > 0 ? kMostFstreamChannelsForTarget : kMostFstreamChannels;
}

std::vector<NodeId> sorted(std::vector<NodeId> nodes) {
  std::ranges::sort(nodes);
  return nodes;
}

}  // namespace

SearchPlan FstreamSearch::step(const SearchInput& input) {
  const bool measured = input.round_trip_s > 0;
  if (clusters_.empty() || (measured && !round_trip_known_)) start(input);
  round_trip_known_ = round_trip_known_ || measured;
  const auto shares = dealt();
  std::vector<int> lanes;
  for (std::size_t i = 0; i < clusters_.size(); ++i) lanes.push_back(shares[i] * clusters_[i].lanes);
  take_off(left_, lanes, input.received_bytes - received_);
  received_ = input.received_bytes;
  if (received_ <= 0) interval_ = input.now;  // an interval begins with the first bytes
  if (const double seconds = seconds_between(interval_, input.now); seconds >= kFstreamIntervalS) {
    interval(input, (received_ - interval_bytes_) * 8 / seconds);
    interval_ = input.now;
    interval_bytes_ = received_;
  }
  SearchPlan plan;
  plan.why = why_;
  const auto now = dealt();
  for (std::size_t i = 0; i < clusters_.size(); ++i) {
    const Cluster& cluster = clusters_[i];
    const Channel channel{cluster.lanes, lane_blocks(cluster.pipelining, cluster.mean(), bdp_, cluster.lanes)};
    plan.channels.insert(plan.channels.end(), static_cast<std::size_t>(now[i]), channel);
  }
  return plan;
}

void FstreamSearch::start(const SearchInput& input) {
  link_bits_per_s_ = input.link_bits_per_s();
  bdp_ = bdp_bytes(link_bits_per_s_, input.round_trip());
  mean_file_ = input.total_bytes() / static_cast<double>(input.file_sizes.size());
  clusters_.clear();
  left_.clear();
  for (const std::uint64_t size : input.file_sizes) {
    const bool small = is_small(static_cast<double>(size), link_bits_per_s_);
    if (clusters_.empty() || clusters_.back().small != small) clusters_.push_back({.small = small});
    ++clusters_.back().files;
    clusters_.back().bytes += static_cast<double>(size);
  }
  channels_ = 0;
  const double part = input.bytes_left / std::max(input.total_bytes(), 1.0);
  for (auto& cluster : clusters_) {
    cluster.pipelining = queued_files(bdp_, cluster.mean());
    cluster.lanes = parallel_lanes(bdp_, cluster.mean(), input.buffer_bytes);
    cluster.channels =
        concurrent_channels(bdp_, cluster.mean(), places_for_channels(cluster.bytes), most_channels(input));
    channels_ += cluster.channels;
    left_.push_back(cluster.bytes * part);
  }
  channels_ = std::min(channels_, most_channels(input));
  why_ = channels_text(channels_) + ", the heuristic start; " + clusters_text();
}

std::vector<int> FstreamSearch::dealt() const {
  const bool any_left = std::ranges::any_of(left_, [](double bytes) { return bytes > 0; });
  std::vector<int> dealt(clusters_.size(), 0);
  // One by one to the cluster that has the least of what the heuristic would give it.
  for (int i = 0; i < channels_; ++i) {
    std::size_t next = clusters_.size();
    for (std::size_t k = 0; k < clusters_.size(); ++k) {
      if (any_left && left_[k] <= 0) continue;
      if (next == clusters_.size() || dealt[k] * clusters_[next].channels < dealt[next] * clusters_[k].channels)
        next = k;
    }
    ++dealt[next];
  }
  return dealt;
}

void FstreamSearch::interval(const SearchInput& input, double bits_per_s) {
  link_bits_per_s_ = std::max(link_bits_per_s_, input.link_bits_per_s(bits_per_s));
  if (input.target_bits_per_s > 0) {
    approach(input, bits_per_s);
  } else {
    profile(input, bits_per_s);
  }
}

void FstreamSearch::profile(const SearchInput& input, double bits_per_s) {
  const auto seeders = sorted(input.seeders);
  const bool small = is_small(mean_file_, link_bits_per_s_);
  const int before = channels_;
  std::string from;
  if (is_far_from_wanted(bits_per_s, link_bits_per_s_)) {
    const auto report = asked_history_ ? std::nullopt : history_->find(seeders, mean_file_, small);
    asked_history_ = true;
    if (report) {
      channels_ = std::clamp(report->channels, 1, kMostFstreamChannels);
      from = ", as an earlier transfer had, which brought " + rate_text(report->bits_per_s);
    } else {
      channels_ = profiled_channels(bits_per_s, link_bits_per_s_, channels_, kMostFstreamChannels).value_or(channels_);
    }
  }
  history_->put({seeders, mean_file_, small, before, bits_per_s});
  if (channels_ == before) return;
  why_ = channels_text(channels_) + from + ": " + std::to_string(before) + " brought " + rate_text(bits_per_s) +
         " of " + rate_text(kWantedOfLink * link_bits_per_s_) + " wanted; " + clusters_text();
}

void FstreamSearch::approach(const SearchInput& input, double bits_per_s) {
  const TargetStep step = step_to_target(bits_per_s, input.target_bits_per_s, channels_, kMostFstreamChannelsForTarget);
  if (step == TargetStep{channels_, 0}) return;
  const int before = channels_;
  channels_ = step.channels;
  for (auto& cluster : clusters_) {
    int& knob = cluster.small ? cluster.pipelining : cluster.lanes;
    knob = std::clamp(knob + step.finer, 1, cluster.small ? kMostQueuedFiles : kMaxLanesPerPeer);
  }
  why_ = channels_text(channels_) + ": " + std::to_string(before) + " brought " + rate_text(bits_per_s) + " of " +
         rate_text(input.target_bits_per_s) + " asked for; " + clusters_text();
}

std::string FstreamSearch::clusters_text() const {
  std::string text;
  const auto shares = dealt();
  for (std::size_t i = 0; i < clusters_.size(); ++i) {
    const Cluster& cluster = clusters_[i];
    text += (text.empty() ? "" : ", ") + std::string(cluster.small ? "small" : "large") +
            " files: " + channels_text(shares[i]) + ", parallelism " + std::to_string(cluster.lanes) + ", pipelining " +
            std::to_string(cluster.pipelining);
  }
  return text;
}

}  // namespace gridtorrent::client::tuning
