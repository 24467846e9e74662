#include "client/tuning/pace.h"

#include <algorithm>
#include <cmath>

namespace gridtorrent::client::tuning {
namespace {

/// The band that is promised is judged over so long, so the limiter is set by it.
constexpr std::chrono::seconds kWindow{5};
/// Of the error of the last seconds, so much is put right each second: all of it within some five.
constexpr double kGain = 0.2;
/// A limiter that would have to be set further off than this is not what holds the rate.
constexpr double kLeastCorrection = 0.97, kMostCorrection = 1.03;
constexpr double kLeastMean = 0.95;
/// No packet waits any more: so much above what was brought, the pace holds nothing back.
constexpr double kFree = 2;
/// A pace above this is none: no network is as fast.
constexpr double kNoPace = 1e13;

}  // namespace

PaceFacts polite_facts(const PathFigures& path, double bits_per_s) {
  PaceFacts facts{.bits_per_s = bits_per_s, .queue = path.standing_queue};
  facts.full_queue = path.full_queue - std::min(path.full_queue, path.delays);
  facts.is_queue = path.is_queue(path.standing_queue);
  return facts;
}

double Pace::step(MonoTime now, const Goal& goal, const PaceFacts& facts) {
  double pace = goal.target > 0 ? hold(now, goal.target, facts.bits_per_s) : 0;
  if (!goal.polite) {
    allowed_.reset();
    return pace;
  }
  if (const double allowed = give_way(now, facts); allowed > 0) {
    const double polite = std::max({allowed, goal.floor * kAboveFloor, kLeastPace});
    if (polite < kNoPace) pace = pace > 0 ? std::min(pace, polite) : polite;
  }
  return pace;
}

double Pace::hold(MonoTime now, double target, double rate) {
  if (target != target_) {
    target_ = target;
    correction_ = 1;
    seconds_.clear();
  }
  seconds_.push_back({now, rate});
  while (now - seconds_.front().at > kWindow) seconds_.pop_front();
  double mean = 0;
  for (const auto& second : seconds_) mean += second.bits_per_s / static_cast<double>(seconds_.size());
  // A rate far below is not the limiter's doing: what it would make up for would come all at once later.
  if (mean >= kLeastMean * target) {
    correction_ = std::clamp(correction_ + kGain * (1 - mean / target), kLeastCorrection, kMostCorrection);
  }
  return target * correction_;
}

double Pace::give_way(MonoTime now, const PaceFacts& facts) {
  const auto most = std::min<std::chrono::microseconds>(kPoliteQueue, facts.full_queue / 2);
  const bool waits = facts.is_queue && facts.queue > most;
  best_ = std::max(best_, facts.bits_per_s);
  if (!waits) waited_ = 0;
  // The figures are a second old, and what was given up takes a round trip to show.
  if (now - gave_up_ < kGiveUpAgain) return allowed_.value_or(0);
  if (waits) {
    const double rate = std::max(facts.bits_per_s, kLeastPace);
    // The first queue is that of slow start, and its rate is not what the path has for this transfer.
    waited_at_ = allowed_ ? rate : 0;
    allowed_ = (waited_++ == 0 ? kGiveUp : kGiveUpMore) * std::min(allowed_.value_or(rate), rate);
    gave_up_ = now;
  } else if (allowed_) {
    const bool around = std::abs(*allowed_ - waited_at_) <= kAround * waited_at_;
    allowed_ = *allowed_ * (around ? kTakeBackSlowly : kTakeBack);
    if (*allowed_ > kFree * facts.bits_per_s) allowed_.reset();
  }
  if (allowed_) allowed_ = std::max({*allowed_, kLeastPace, kLeastPart * best_});
  return allowed_.value_or(0);
}

}  // namespace gridtorrent::client::tuning
