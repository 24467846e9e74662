#include "client/tuning/demand.h"

#include <algorithm>
#include <cmath>

#include "client/tuning/goal.h"

namespace gridtorrent::client::tuning {
namespace {

constexpr double kMostWished = 1e6;  ///< far more lanes than there can be, and still an int
/// A rate that falls later than this after a lane was given up falls for another reason.
constexpr std::chrono::seconds kWatchedAfter{10};

}  // namespace

int Demand::step(MonoTime now, const DemandFacts& facts) {
  if (facts.wanted <= 0) {
    *this = Demand();
    return 0;
  }
  // A deadline's rate moves a little each second; another target is another question.
  if (facts.wanted > 1.5 * wanted_ || facts.wanted < wanted_ / 1.5) {
    *this = Demand();
    wanted_ = facts.wanted;
  }
  if (facts.bits_per_s >= kHeld * facts.wanted) {
    low_since_.reset();
    in_vain_ = false;
    if (!held_since_) held_since_ = now;
    grown_.reset();
    shrink(now);
  } else {
    held_since_.reset();
    if (!low_since_) low_since_ = now;
    grow(now, facts);
  }
  return least_;
}

void Demand::grow(MonoTime now, const DemandFacts& facts) {
  if (facts.lanes <= 0 || now - *low_since_ < kTooLow || now - changed_ < kNewLanes) return;
  if (given_up_ && now - changed_ <= kWatchedAfter) {
    least_ = *given_up_;
    given_up_.reset();
    kept_until_ = now + kept_;
    kept_ *= 2;
    changed_ = now;
    return;
  }
  given_up_.reset();
  if (grown_) {
    const double more = static_cast<double>(facts.lanes) / grown_->lanes - 1;
    if (facts.bits_per_s < grown_->bits_per_s * (1 + kBroughtNothing * std::max(more, 0.0))) {
      least_ = grown_->lanes;
      in_vain_ = true;
      not_before_ = now + try_again_;
      try_again_ *= 2;
      changed_ = now;
      grown_.reset();
      return;
    }
  }
  if (now < not_before_) return;
  const double lack = facts.wanted / std::max(facts.bits_per_s, facts.wanted / 8);
  const double wished = std::min(std::ceil(kMoreThanInProportion * facts.lanes * lack), kMostWished);
  const int next = std::min({std::max(facts.lanes + 1, static_cast<int>(wished)), 2 * facts.lanes, facts.most});
  in_vain_ = next <= facts.lanes;
  if (in_vain_) return;
  grown_ = Grown{now, facts.bits_per_s, facts.lanes};
  least_ = next;
  changed_ = now;
}

void Demand::shrink(MonoTime now) {
  if (least_ == 0 || now - *held_since_ < kHeldFor || now - changed_ < kHeldFor || now < kept_until_) return;
  given_up_ = least_;
  --least_;
  changed_ = now;
}

}  // namespace gridtorrent::client::tuning
