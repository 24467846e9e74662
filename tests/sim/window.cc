#include "tests/sim/window.h"

#include <algorithm>
#include <cmath>

namespace gridtorrent::sim {
namespace {

// RFC 9438, 4.1 and 4.3.
constexpr double kC = 0.4, kBeta = 0.7, kRenoFriendly = 3 * (1 - kBeta) / (1 + kBeta);
// RFC 9406, 4.3.
constexpr double kLeastRise = 0.004, kMostRise = 0.016, kRiseDivisor = 8, kConservativeGrowth = 1.25;
constexpr int kConservativeRounds = 5;
// BBR: startup's gain (2/ln 2), the rounds of its maximum, its cycle, and how startup ends (less than a quarter more in
// three rounds).
constexpr double kBbrStartup = 2.885, kBbrProbe = 1.25, kBbrDrain = 0.75;
constexpr int kBbrRateRounds = 10, kBbrCycle = 8, kBbrFlatRounds = 3;

constexpr double kLeastWindow = 2;

}  // namespace

double Window::segments() const {
  if (control_ != Control::kBbr || bbr_rate_ <= 0) return cwnd_;
  double gain = 1;
  if (!bbr_started_) {
    gain = kBbrStartup;
  } else if (bbr_round_ % kBbrCycle == 0) {
    gain = kBbrProbe;
  } else if (bbr_round_ % kBbrCycle == 1) {
    gain = kBbrDrain;
  }
  return std::max(gain * bbr_rate_ * bbr_least_, 4.0);
}

void Window::advance(double now, double seconds, double round_trip, double delivered_per_s, bool limited) {
  if (reduce_at_ >= 0 && now >= reduce_at_) reduce(now, round_trip);
  if (control_ == Control::kBbr) return measure_rate(now, round_trip, delivered_per_s);
  round_least_ = std::min(round_least_, round_trip);
  if (now < recovered_) return;
  if (limited) {
    epoch_ += seconds;
    return;
  }
  switch (phase_) {
    case Phase::kSlowStart:
    case Phase::kConservative:
      return grow_slow_start(now, seconds, round_trip);
    case Phase::kAvoidance:
      if (control_ == Control::kReno) {
        cwnd_ += std::min(seconds / round_trip, 1.0);
      } else {
        grow_cubic(now, seconds, round_trip);
      }
  }
}

void Window::grow_slow_start(double now, double seconds, double round_trip) {
  const double rounds = std::min(seconds / round_trip, 1.0);
  cwnd_ *= phase_ == Phase::kSlowStart ? std::exp2(rounds) : std::pow(kConservativeGrowth, rounds);
  if (now < round_end_) return;
  end_round(round_trip);
  round_end_ = now + round_trip;
  if (phase_ == Phase::kAvoidance) {
    threshold_ = cwnd_;
    begin_epoch(now, cwnd_);
    w_max_ = cwnd_;
    k_ = 0;
  }
}

void Window::end_round(double round_trip) {
  const double least = round_least_, before = last_least_;
  last_least_ = least;
  round_least_ = round_trip;
  if (phase_ == Phase::kSlowStart) {
    if (before > 1e8 || least < before + std::clamp(before / kRiseDivisor, kLeastRise, kMostRise)) return;
    phase_ = Phase::kConservative;
    conservative_base_ = least;
    conservative_rounds_ = 0;
  } else if (least < conservative_base_) {
    phase_ = Phase::kSlowStart;
  } else if (++conservative_rounds_ >= kConservativeRounds) {
    phase_ = Phase::kAvoidance;
  }
}

void Window::begin_epoch(double now, double prior) {
  epoch_ = now;
  cwnd_prior_ = prior;
  w_est_ = cwnd_;
}

void Window::grow_cubic(double now, double seconds, double round_trip) {
  const double rounds = std::min(seconds / round_trip, 1.0);
  w_est_ += (w_est_ < cwnd_prior_ ? kRenoFriendly : 1.0) * rounds;
  const double after = now - epoch_ + round_trip - k_;
  const double target = std::clamp(kC * after * after * after + w_max_, cwnd_, 1.5 * cwnd_);
  cwnd_ = std::max(cwnd_ + (target - cwnd_) * rounds, w_est_);
}

bool Window::lose(double now, double round_trip) {
  if (reduce_at_ >= 0) return false;
  reduce_at_ = now + round_trip;
  return true;
}

/// Growth begins when fast recovery is over, a round trip later (RFC 6675, 5; RFC 9438, 4.2).
void Window::reduce(double now, double round_trip) {
  reduce_at_ = -1;
  if (control_ == Control::kBbr) return;
  phase_ = Phase::kAvoidance;
  const double prior = cwnd_;
  const bool cubic = control_ == Control::kCubic;
  cwnd_ = threshold_ = std::max(prior * (cubic ? kBeta : 0.5), kLeastWindow);
  w_max_ = prior < w_max_ ? prior * (1 + kBeta) / 2 : prior;  // fast convergence, RFC 9438, 4.7
  k_ = std::cbrt((w_max_ - cwnd_) / kC);
  recovered_ = now + round_trip;
  begin_epoch(recovered_, prior);
}

void Window::measure_rate(double now, double round_trip, double delivered_per_s) {
  bbr_least_ = std::min(bbr_least_, round_trip);
  bbr_recent_ = std::max(bbr_recent_, delivered_per_s);
  bbr_rate_ = std::max(bbr_recent_, bbr_before_);
  if (now < bbr_round_end_) return;
  bbr_round_end_ = now + round_trip;
  ++bbr_round_;
  if (bbr_round_ % (kBbrRateRounds / 2) == 0) {
    bbr_before_ = bbr_recent_;
    bbr_recent_ = 0;
  }
  if (bbr_started_) return;
  if (bbr_rate_ < 1.25 * bbr_full_) {
    if (++bbr_flat_ >= kBbrFlatRounds) bbr_started_ = true;
  } else {
    bbr_flat_ = 0;
    bbr_full_ = bbr_rate_;
  }
}

}  // namespace gridtorrent::sim
