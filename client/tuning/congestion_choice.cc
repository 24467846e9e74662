#include "client/tuning/congestion_choice.h"

#include <algorithm>
#include <utility>

#include "client/tuning/bottleneck.h"
#include "client/tuning/lane_need.h"
#include "client/tuning/refinement.h"
#include "client/tuning/wording.h"

namespace gridtorrent::client::tuning {
namespace {

std::string resent_text(double now, double before) {
  return formatted("with BBR %.3g %% were sent again, before %.3g %%", 100 * now, 100 * before);
}

std::chrono::microseconds settles(const PathFigures& path) {
  return std::max<std::chrono::microseconds>(kBbrSettles, kBbrSettlesRoundTrips * path.least_round_trip);
}

}  // namespace

bool losses_call_for_bbr(const PathFigures& path, double limit_bits_per_s) {
  if (path.seconds < std::chrono::duration<double>(kWatched).count()) return false;
  if (path.random_events < std::max(kLeastEvents, kMostlyRandom * path.loss_events)) return false;
  const LaneNeed need = lane_need(path, limit_bits_per_s);
  return need.held_by == Limit::kLoss && need.least >= kLossLanes;
}

std::string CongestionChoice::step(MonoTime now, const CongestionFacts& facts) {
  if (asks() && facts.polite) {
    enter(State::kLeft, now);
    why_ = "no BBR where others go first";
  } else if (asks() && !facts.granted) {
    enter(State::kLeft, now);
    why_ = "the seeder no longer grants BBR";
  } else if (asks() && by_memory_ && !facts.remembered) {
    enter(State::kLeft, now);
    why_ = "no BBR on a path that is not as it was remembered";
  }
  switch (state_) {
    case State::kOwn:
      ask(now, facts);
      break;
    case State::kAsked:
      if (uses_bbr(facts.path)) {
        enter(State::kTried, now);
      } else if (now - since_ >= kAnswer) {
        give_up(now, "the seeder did not change to BBR");
      }
      break;
    case State::kTried:
      if (now - since_ >= settles(facts.path) + kTrial) judge(now, facts);
      break;
    case State::kKept:
      // By then nothing in these figures is from before, or from BBR's start.
      if (now - since_ >= kLossSpan && facts.path.resent > resent_before_ + kResentMore) {
        give_up(now, resent_text(facts.path.resent, resent_before_));
      }
      break;
    case State::kLeft:
      if (!uses_bbr(facts.path) || now - since_ >= kAnswer) enter(State::kOwn, now);
      break;
  }
  return asks() ? kBbrName : "";
}

void CongestionChoice::enter(State state, MonoTime now) {
  state_ = state;
  since_ = now;
}

void CongestionChoice::ask(MonoTime now, const CongestionFacts& facts) {
  if (!facts.granted || facts.polite || facts.others_try || now < not_before_) return;
  if (facts.seconds_left > 0 && facts.seconds_left < std::chrono::duration<double>(kBbrPays).count()) return;
  if (is_paced(facts.path)) return;  // its owner gives no more, with BBR or without
  if (uses_bbr(facts.path)) return;
  if (facts.remembered && facts.limit_bits_per_s <= 0 && !std::exchange(recalled_, true)) return ask_again(now, facts);
  if (!losses_call_for_bbr(facts.path, facts.limit_bits_per_s)) return;
  enter(State::kAsked, now);
  by_memory_ = false;
  rate_before_ = facts.recent.bits_per_s;
  resent_before_ = facts.path.resent;
  why_ = formatted("%.3g %% of packets lost at random: BBR is tried against %.3g Mbit/s",
                   100 * facts.path.random_events / facts.path.segments, mbit(rate_before_));
}

void CongestionChoice::ask_again(MonoTime now, const CongestionFacts& facts) {
  enter(State::kAsked, now);
  by_memory_ = true;
  const bool known = facts.recent.seconds >= std::chrono::duration<double>(kTrial).count();
  rate_before_ = known ? facts.recent.bits_per_s : 0;
  resent_before_ = *facts.remembered;
  why_ = "BBR is asked for, as before";
}

void CongestionChoice::judge(MonoTime now, const CongestionFacts& facts) {
  const std::string rates =
      formatted("BBR brought %.3g instead of %.3g Mbit/s", mbit(facts.recent.bits_per_s), mbit(rate_before_));
  const bool much_more = facts.recent.bits_per_s >= kMuchMore * rate_before_;
  if (facts.recent.resent > resent_before_ + (much_more ? kResentInTrial : kResentMore)) {
    give_up(now, resent_text(facts.recent.resent, resent_before_));
  } else if (facts.recent.bits_per_s < kAsMuch * rate_before_) {
    give_up(now, rates);
  } else {
    enter(State::kKept, now);
    if (rate_before_ > 0) why_ = rates;
  }
}

void CongestionChoice::give_up(MonoTime now, std::string why) {
  enter(State::kLeft, now);
  not_before_ = now + wait_;
  wait_ = std::min(2 * wait_, kLongestRuledOut);
  why_ = std::move(why);
}

}  // namespace gridtorrent::client::tuning
