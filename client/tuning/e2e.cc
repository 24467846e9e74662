#include "client/tuning/e2e.h"

#include <algorithm>

#include "client/tuning/wording.h"

namespace gridtorrent::client::tuning {
namespace {

/// "1: 22.1, 2: 41.0 Mbit/s"
std::string samples_text(const std::vector<StreamSample>& samples) {
  std::string text;
  for (const auto& sample : samples) {
    text += formatted("%s%.0f: %.1f", text.empty() ? "" : ", ", sample.n, mbit(sample.bits_per_s));
  }
  return text + " Mbit/s";
}

/// "a 1.2e-16, b -3.4e-17, c 5.6e-15", with Th in bits a second.
std::string model_text(const std::vector<StreamSample>& samples) {
  const auto model = fit_second_order(samples);
  if (!model) return "too few for the model";
  return formatted("a %.3g, b %.3g, c %.3g", model->a, model->b, model->c);
}

}  // namespace

SearchPlan E2eSearch::step(const SearchInput& input) {
  if (why_.empty()) explain();
  if (stage_ != Stage::kHold && measured(input)) next(input);
  const int nodes = std::clamp(nodes_, 1, static_cast<int>(input.seeders.size()));
  return {std::vector<Channel>(static_cast<std::size_t>(nodes), Channel{streams_, 0}), why_};
}

void E2eSearch::begin(MonoTime now) {
  settled_ = now;
  waits_ = true;
  explain();
}

bool E2eSearch::measured(const SearchInput& input) {
  if (input.received_bytes <= 0) return false;
  if (settled_ == MonoTime{}) settled_ = input.now;
  if (waits_) {
    if (seconds_between(settled_, input.now) < kE2eSettleS) return false;
    waits_ = false;
    since_ = input.now;
    bytes_at_start_ = input.received_bytes;
    return false;
  }
  const double seconds = seconds_between(since_, input.now), bytes = input.received_bytes - bytes_at_start_;
  const double enough = std::min(kE2eSampleBytes, input.total_bytes() / 10);
  if (seconds < kE2eLeastS || (bytes < enough && seconds < kE2eMostS)) return false;
  if (stage_ != Stage::kWarmUp) samples_.push_back({static_cast<double>(value_), bytes * 8 / seconds});
  return true;
}

bool E2eSearch::goes_on(const SearchInput& input, int most) const {
  const double last = samples_.back().bits_per_s;
  if (samples_.size() > 1 && last < samples_[samples_.size() - 2].bits_per_s) return false;
  return last < kFullLink * input.link_bits_per_s(last) && 2 * value_ <= most;
}

void E2eSearch::next(const SearchInput& input) {
  const int most_streams = std::min(kMaxLanesPerPeer, input.most_lanes);
  const int most_nodes = std::min(static_cast<int>(input.seeders.size()), input.most_channels(streams_));
  if (stage_ == Stage::kWarmUp) {
    stage_ = Stage::kStreams;
  } else if (stage_ == Stage::kStreams && goes_on(input, most_streams)) {
    streams_ = value_ *= 2;
  } else if (stage_ == Stage::kStreams) {
    streams_ = best_number(samples_, most_streams);
    found_ = samples_text(samples_) + " (" + model_text(samples_) + ")";
    samples_.clear();
    nodes_ = value_ = 1;
    stage_ = input.seeders.size() > 1 ? Stage::kNodes : Stage::kHold;
  } else if (goes_on(input, most_nodes)) {
    nodes_ = value_ *= 2;
  } else {
    nodes_ = best_number(samples_, most_nodes);
    stage_ = Stage::kHold;
  }
  begin(input.now);
}

void E2eSearch::explain() {
  const std::string plan = std::to_string(streams_) + " streams to " + std::to_string(nodes_) + " nodes";
  switch (stage_) {
    case Stage::kWarmUp:
      why_ = plan + ", a first sample that is thrown away";
      return;
    case Stage::kStreams:
      why_ = plan + (samples_.empty() ? ", the first sample" : "; " + samples_text(samples_));
      return;
    case Stage::kNodes:
      why_ = plan + "; streams " + found_;
      if (!samples_.empty()) why_ += "; nodes " + samples_text(samples_);
      return;
    case Stage::kHold:
      why_ = plan + ", the best by the model; streams " + found_;
      if (!samples_.empty()) why_ += "; nodes " + samples_text(samples_) + " (" + model_text(samples_) + ")";
  }
}

}  // namespace gridtorrent::client::tuning
