#include "client/tuning/refinement.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "client/tuning/lane_need.h"

namespace gridtorrent::client::tuning {
namespace {

double mbit(double bits_per_s) {
  return bits_per_s / 1e6;
}

std::string why_text(const LaneNeed& need, const PathFigures& path) {
  std::array<char, 160> text{};
  const double best = mbit(path.best_bits_per_s);
  switch (need.held_by) {
    case Limit::kLoss:
      std::snprintf(text.data(), text.size(), "%.3g %% of packets lost: a lane comes to %.3g of %.3g Mbit/s",
                    100 * path.random_events / path.segments, mbit(need.lane_bits_per_s), best);
      break;
    case Limit::kWindow:
      std::snprintf(text.data(), text.size(), "windows hold a lane at %.3g of %.3g Mbit/s", mbit(need.lane_bits_per_s),
                    best);
      break;
    default:
      std::snprintf(text.data(), text.size(),
                    "next to none of %.0f packets lost: a lane can carry more than %.3g Mbit/s", path.segments,
                    best / std::max(need.most, 1));
  }
  return text.data();
}

}  // namespace

Refined Refinement::step(MonoTime now, const std::vector<RefinedSource>& sources, double rate, double limit) {
  if (now >= floor_until_) floor_.clear();
  if (!take_back(now, rate) && (!changed_ || now - *changed_ >= kSettle)) change(now, sources, rate, limit);
  Refined refined;
  for (const auto& source : sources) {
    const auto held = lanes_.find(source.node);
    refined.lanes.push_back(held == lanes_.end() ? source.start : held->second);
  }
  refined.why = why_;
  refined.held_by = held_by_;
  return refined;
}

bool Refinement::take_back(MonoTime now, double rate) {
  if (!shrunk_ || !changed_) return false;
  const auto since = now - *changed_;
  if (since >= kWatch) shrunk_.reset();
  if (!shrunk_ || since < kSettle || rate >= kWorse * shrunk_->rate) return false;
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), "fewer lanes brought %.3g instead of %.3g Mbit/s", mbit(rate),
                mbit(shrunk_->rate));
  why_ = text.data();
  lanes_ = floor_ = shrunk_->lanes;
  floor_until_ = now + believe_;
  believe_ *= 2;
  changed_ = now;
  shrunk_.reset();
  return true;
}

void Refinement::change(MonoTime now, const std::vector<RefinedSource>& sources, double rate, double limit) {
  std::map<NodeId, int> wanted;
  bool fewer = false, changes = false;
  for (const auto& source : sources) {
    const auto held = lanes_.find(source.node);
    const int lanes = held == lanes_.end() ? source.start : held->second;
    wanted[source.node] = lanes;
    const PathFigures& path = source.path;
    if (path.segments <= 0 || path.seconds < std::chrono::duration<double>(kSettle).count()) continue;
    // Each source's part of the limit is what it brings of the whole.
    const double share = limit > 0 && rate > 0 ? limit * std::min(path.bits_per_s / rate, 1.0) : 0;
    const LaneNeed need = lane_need(path, share);
    int next = lanes;
    if (lanes < need.least) next = std::min(need.least, 2 * lanes);
    if (lanes > need.most && path.seconds >= std::chrono::duration<double>(kWatched).count()) {
      next = std::max(need.most, static_cast<int>(std::floor(lanes * kShrink)));
      if (const auto floor = floor_.find(source.node); floor != floor_.end()) next = std::max(next, floor->second);
      next = std::min(next, lanes);
    }
    if (next == lanes) continue;
    changes = true;
    fewer = fewer || next < lanes;
    wanted[source.node] = next;
    why_ = why_text(need, path);
    held_by_ = need.held_by;
  }
  if (!changes) return;
  if (fewer) {
    Shrunk before{shrunk_ ? shrunk_->rate : rate, {}};
    for (const auto& source : sources) {
      const auto held = lanes_.find(source.node);
      before.lanes[source.node] = held == lanes_.end() ? source.start : held->second;
    }
    shrunk_ = std::move(before);
  } else {
    shrunk_.reset();
  }
  lanes_ = std::move(wanted);
  changed_ = now;
}

}  // namespace gridtorrent::client::tuning
