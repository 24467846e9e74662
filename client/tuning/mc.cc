#include "client/tuning/mc.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "client/tuning/file_rules.h"
#include "client/tuning/wording.h"

namespace gridtorrent::client::tuning {

SearchPlan McSearch::step(const SearchInput& input) {
  // The paper's round trip is known from the start; ours comes with the first handshake, and nothing was sent before.
  const bool measured = input.round_trip_s > 0;
  if (chunks_.empty() || (measured && !round_trip_known_)) divide(input);
  round_trip_known_ = round_trip_known_ || measured;
  progress(input);
  SearchPlan plan;
  plan.why = why_;
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    for (const int lanes : channels_[i]) plan.channels.push_back({lanes, settings_[i].blocks});
  }
  return plan;
}

McSearch::Setting McSearch::setting_of(const SearchInput& input, const MixChunk& chunk) const {
  Setting setting;
  setting.pipelining = queued_files(bdp_, chunk.mean());
  setting.lanes = parallel_lanes(bdp_, chunk.mean(), input.buffer_bytes);
  setting.blocks = lane_blocks(setting.pipelining, chunk.mean(), bdp_, setting.lanes);
  return setting;
}

void McSearch::divide(const SearchInput& input) {
  bdp_ = bdp_bytes(input.link_bits_per_s(), input.round_trip());
  chunks_ = divide_by_class(input.file_sizes, input.link_bits_per_s(), bdp_);
  settings_.clear();
  channels_.clear();
  left_.clear();
  etas_.assign(chunks_.size(), {});
  const double part = input.bytes_left / std::max(input.total_bytes(), 1.0);
  std::vector<double> places;
  for (const auto& chunk : chunks_) {
    settings_.push_back(setting_of(input, chunk));
    left_.push_back(chunk.bytes * part);
    places.push_back(places_for_channels(chunk.bytes));
  }
  const auto dealt = deal_channels(chunks_, places, kMostMcChannels);
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    channels_.emplace_back(static_cast<std::size_t>(dealt[i]), settings_[i].lanes);
  }
  received_ = period_bytes_ = input.received_bytes;
  period_ = input.now;
  explain();
}

std::vector<int> McSearch::lanes() const {
  std::vector<int> lanes;
  for (const auto& chunk : channels_) lanes.push_back(std::accumulate(chunk.begin(), chunk.end(), 0));
  return lanes;
}

void McSearch::progress(const SearchInput& input) {
  take_off(left_, lanes(), input.received_bytes - received_);
  received_ = input.received_bytes;
  const double seconds = seconds_between(period_, input.now);
  if (seconds >= kMcPeriodS) {
    const auto each = lanes();
    const double all = std::max(1, std::accumulate(each.begin(), each.end(), 0));
    const double rate = (input.received_bytes - period_bytes_) * 8 / seconds;
    for (std::size_t i = 0; i < etas_.size(); ++i) etas_[i].look(rate * each[i] / all);
    period_ = input.now;
    period_bytes_ = input.received_bytes;
  }
  move_channels();
}

void McSearch::move_channels() {
  bool moved = false;
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    if (left_[i] > 0) continue;
    while (!channels_[i].empty()) {
      std::vector<double> eta_s;
      for (std::size_t k = 0; k < chunks_.size(); ++k) {
        eta_s.push_back(etas_[k].seconds(left_[k], static_cast<int>(channels_[k].size())));
      }
      const auto to = slowest_chunk(left_, eta_s);
      if (!to) break;  // all is here but what came twice: nothing is left to move to
      const int had = channels_[i].back();
      channels_[i].pop_back();
      channels_[*to].push_back(std::abs(had - settings_[*to].lanes) > 1 ? settings_[*to].lanes : had);
      moved = true;
    }
  }
  if (moved) explain();
}

void McSearch::explain() {
  why_ = "BDP " + size_text(bdp_);
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    why_ += "; " + std::string(class_name(chunks_[i].kind)) + " (" + std::to_string(chunks_[i].files) +
            (chunks_[i].files == 1 ? " file, " : " files, ") + size_text(chunks_[i].bytes) +
            "): " + std::to_string(channels_[i].size()) + " channels, parallelism " +
            std::to_string(settings_[i].lanes) + ", pipelining " + std::to_string(settings_[i].pipelining);
    if (left_[i] <= 0) why_ += ", done";
  }
}

}  // namespace gridtorrent::client::tuning
