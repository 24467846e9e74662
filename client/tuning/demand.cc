#include "client/tuning/demand.h"

#include <algorithm>
#include <cmath>

#include "client/tuning/goal.h"

namespace gridtorrent::client::tuning {
namespace {

/// A rate that falls later than this after lanes were given up falls for another reason.
constexpr std::chrono::seconds kWatchedAfter{10};
/// A deadline's rate moves a little each second. One that differs by more than this is another question.
constexpr double kAnother = 1.5;

}  // namespace

int Demand::step(MonoTime now, const DemandFacts& facts) {
  if (facts.wanted <= 0) {
    *this = Demand();
    return 0;
  }
  if (facts.wanted > kAnother * wanted_ || facts.wanted < wanted_ / kAnother) want(facts.wanted);
  if (!begun_) begun_ = now;
  best_ = std::max(best_, facts.bits_per_s);
  if (facts.exact && lanes_ == 0) lanes_ = facts.lanes;
  if (facts.exact && lanes_ < std::min(facts.least, facts.most)) change(now, std::min(facts.least, facts.most));
  if (facts.held_back) low_since_ = held_since_ = met_since_ = std::nullopt;
  if (now - *begun_ < kBegun || facts.held_back) return lanes_;
  if (facts.bits_per_s >= kHeld * facts.wanted) {
    low_since_.reset();
    grown_.reset();
    in_vain_ = false;
    if (!held_since_) held_since_ = now;
    if (!met_since_) met_since_ = now;
    if (now - *met_since_ >= kHeldFor) {  // what was in vain is past
      try_again_ = kTryAgain;
      not_before_ = {};
    }
    shrink(now, facts);
    grow_at_floor(now, facts);
  } else {
    held_since_.reset();
    met_since_.reset();
    if (!low_since_) low_since_ = now;
    grow(now, facts);
  }
  return lanes_;
}

void Demand::want(double bits_per_s) {
  Demand anew;
  anew.wanted_ = bits_per_s;
  anew.lanes_ = lanes_;
  anew.begun_ = begun_;
  anew.changed_ = changed_;
  anew.grown_ = grown_;
  anew.best_ = best_;
  if (bits_per_s > wanted_) anew.low_since_ = low_since_;
  if (bits_per_s < wanted_) anew.grown_at_floor_ = grown_at_floor_;
  *this = anew;
}

void Demand::interrupted() {
  begun_.reset();
  low_since_.reset();
  held_since_.reset();
  met_since_.reset();
  grown_.reset();
}

void Demand::change(MonoTime now, int lanes) {
  lanes_ = lanes;
  changed_ = now;
}

bool Demand::others_took_it(const DemandFacts& facts) const {
  return facts.full && best_ >= kHeld * facts.wanted;
}

void Demand::grow(MonoTime now, const DemandFacts& facts) {
  const int lanes = facts.exact ? lanes_ : std::max(facts.lanes, lanes_);
  const std::chrono::microseconds shows =
      std::clamp<std::chrono::microseconds>(kNewLanesRoundTrips * facts.round_trip, kNewLanes, kLongestNewLanes);
  if (lanes <= 0 || now - *low_since_ < kTooLow || now - changed_ < shows) return;
  if (given_up_ && now - changed_ <= std::max<std::chrono::microseconds>(kWatchedAfter, 2 * shows)) {
    change(now, *given_up_);
    given_up_.reset();
    kept_until_ = now + kept_;
    kept_ *= 2;
    return;
  }
  given_up_.reset();
  if (grown_) {
    const double more = static_cast<double>(lanes) / grown_->lanes - 1;
    if (facts.bits_per_s < grown_->bits_per_s * (1 + kBroughtNothing * std::max(more, 0.0))) {
      if (!others_took_it(facts) || try_again_ == kMostTryAgain) change(now, grown_->lanes);
      in_vain_ = true;
      not_before_ = now + try_again_;
      try_again_ = std::min(2 * try_again_, kMostTryAgain);
      grown_.reset();
      return;
    }
  }
  if (now < not_before_) return;
  const int next = std::min(wished(lanes, facts), facts.most);
  in_vain_ = next <= lanes;
  if (in_vain_) return;
  grown_ = Grown{facts.bits_per_s, lanes};
  change(now, next);
}

void Demand::grow_at_floor(MonoTime now, const DemandFacts& facts) {
  if (!facts.at_floor || !facts.full || grown_at_floor_) return;
  grown_at_floor_ = true;
  given_up_.reset();
  const int lanes = std::max(facts.lanes, lanes_), next = std::min(kAtFloor * lanes, facts.most);
  if (next > lanes) change(now, next);
}

int Demand::wished(int lanes, const DemandFacts& facts) const {
  const double lack = facts.wanted / std::max(facts.bits_per_s, 1.0);
  const int most = (lack > 2 ? kGrowFarBelow : kGrowAtMost) * lanes;
  const double more = facts.paced && others_took_it(facts) ? kGrowAtMost : kMoreThanInProportion;
  return std::clamp(static_cast<int>(std::ceil(more * lanes * std::min<double>(lack, kGrowFarBelow))), lanes + 1,
                    std::max(most, lanes + 1));
}

void Demand::shrink(MonoTime now, const DemandFacts& facts) {
  if (!facts.exact && lanes_ <= facts.lanes) lanes_ = 0;
  if (facts.full) held_since_ = now;
  if (now - *held_since_ >= kHeldFor) grown_at_floor_ = false;
  const int least = std::max(facts.least, 1);
  if (lanes_ <= least || now - *held_since_ < kHeldFor || now - changed_ < kHeldFor || now < kept_until_) return;
  given_up_ = lanes_;
  change(now, std::max(static_cast<int>(std::floor(lanes_ * kFewer)), least));
}

}  // namespace gridtorrent::client::tuning
