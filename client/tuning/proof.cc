#include <algorithm>
#include <cmath>
#include <utility>

#include "client/tuning/bottleneck.h"
#include "client/tuning/refinement.h"
#include "client/tuning/start.h"
#include "client/tuning/wording.h"

// What the steps of a refinement are compared with, and what follows where they brought less.
namespace gridtorrent::client::tuning {
namespace {

/// Its node has left, or it brings nothing while others do.
bool is_lost(const NodeId& node, const std::vector<RefinedSource>& sources) {
  const auto found = std::ranges::find(sources, node, &RefinedSource::node);
  if (found == sources.end()) return true;
  const auto brings = [](const RefinedSource& source) { return source.path.bits_per_s > 0; };
  return !brings(*found) && std::ranges::any_of(sources, brings);
}

}  // namespace

int Refinement::in_all(const std::map<NodeId, int>& lanes) {
  int all = 0;
  for (const auto& [node, number] : lanes) all += number;
  return all;
}

std::map<NodeId, double> Refinement::parts_of(double rate, const std::vector<RefinedSource>& sources) {
  double sum = 0;
  for (const auto& source : sources) sum += source.path.bits_per_s;
  std::map<NodeId, double> parts;
  for (const auto& source : sources) parts[source.node] = sum > 0 ? rate * source.path.bits_per_s / sum : 0;
  return parts;
}

void Refinement::RuledOut::failed(MonoTime now) {
  if (now < until) return;  // that one follows from the other
  until = now + next;
  next = std::min(2 * next, longest);
}

void Refinement::RuledOut::expire(MonoTime now) {
  if (now >= until) lanes.clear();
}

void Refinement::interrupted() {
  if (before_) {  // what has not proved itself
    lanes_ = before_->more() ? before_->lanes : before_->lanes_of_rate;
    if (before_->step == Step::kShaped) widest_ = before_->lanes;  // what it was to show is not known
    told_.clear();
    why_.clear();
  }
  own_rates_ = false;
  if (collapse_) broke_ = std::move(collapse_->before);
  if (taken_back_) floor_ = std::move(taken_back_->before);
  before_.reset();
  worse_since_.reset();
  alone_since_.reset();
  collapse_.reset();
  taken_back_.reset();
  grown_.clear();
}

/// Where their owners give less than before, no number of lanes has broken anything.
void Refinement::expect_no_more_than_is_given(const std::vector<RefinedSource>& sources) {
  bool any = false;
  double given = 0;
  for (const auto& source : sources) {
    if (source.path.bits_per_s <= 0) continue;  // tells nothing
    if (!is_paced(source.path)) return;
    any = true;
    given += source.path.paced_bits_per_s;
  }
  if (!any) return;
  for (auto& growth : grown_) growth.rate = std::min(growth.rate, given);
  if (!before_) return;
  if (before_->more()) before_.reset();  // nothing more can be proved
  if (before_) before_->rate = std::min(before_->rate, given);
}

/// What a source brought that was lost meanwhile, no number of lanes to the others could bring.
void Refinement::expect_nothing_of_lost(const std::vector<RefinedSource>& sources) {
  const auto forget = [&](double& rate, std::map<NodeId, double>& parts) {
    std::erase_if(parts, [&](const auto& part) {
      const bool lost = part.second > 0 && is_lost(part.first, sources);
      if (lost) rate -= part.second;
      return lost;
    });
  };
  if (before_) forget(before_->rate, before_->parts);
  if (missed_) forget(missed_->rate, missed_->parts);
  for (auto& growth : grown_) forget(growth.rate, growth.parts);
}

void Refinement::set_proof(const std::vector<RefinedSource>& sources) {
  proof_ = kProof;
  least_proof_ = kLeastSettle;
  for (const auto& source : sources) {
    if (source.path.bits_per_s <= 0) continue;
    proof_ = std::max<std::chrono::duration<double>>(proof_, kProofRoundTrips * source.path.round_trip);
    least_proof_ = std::max<std::chrono::duration<double>>(least_proof_, kSettleFull * source.path.least_round_trip);
  }
  least_proof_ = std::min<std::chrono::duration<double>>(least_proof_, kSettle);
  proof_ = std::min<std::chrono::duration<double>>(proof_, kLongestProof);
}

std::chrono::duration<double> Refinement::pause(const std::vector<RefinedSource>& sources) const {
  if (before_ && before_->more()) return proof();
  if (!before_ && own_rates_) return least_proof_;
  // Losses that prove it need nothing else, and on a near path what they tell is new after a second.
  const auto is_near = [](const RefinedSource& source) { return source.path.least_round_trip < kNearBelow; };
  if (!before_ && by_losses_ && std::ranges::all_of(sources, is_near)) return kFirstLook;
  // What looks as if fewer lanes brought less is for take_back to judge.
  if (!before_ || worse(*before_, facts_.bits_per_s, /*full=*/true)) return kSettle;
  std::chrono::duration<double> settle = kLeastSettle;
  for (const auto& source : sources) {
    if (source.path.bits_per_s <= 0) continue;
    if (!source.path.full()) return kSettle;
    settle = std::max<std::chrono::duration<double>>(settle, kSettleFull * source.path.least_round_trip);
  }
  return std::min<std::chrono::duration<double>>(settle, kSettle);
}

bool Refinement::worse(const Before& before, double rate, bool full) const {
  if (is_held_back(rate)) return false;
  if (before.step == Step::kGreedy) return rate < kGreedyGain * before.rate;
  if (before.step == Step::kTried) return rate < before.rate * shared(before, kShared);
  if (before.step == Step::kShaped) return rate < before.rate * shared(before, kSharedByFewer);
  if (!before.more()) {
    double least = ceiling_.lanes.empty() && !reader_busy() ? kWorse : kWorseForReader;
    if (full) least = std::min(least, shared(before, kSharedByFewer));
    return rate < least * before.rate;
  }
  return rate < with_more(before, full ? kGainOfFull : kNoGain);
}

bool Refinement::is_held_back(double rate) const {
  return is_reached(facts_.limit, rate) || is_reached(facts_.pace, rate);
}

double Refinement::shared(const Before& before, double power) const {
  return std::pow(in_all(lanes_) / std::max<double>(before.lanes_at_rate, 1), power);
}

double Refinement::with_more(const Before& before, double part) const {
  double rate = before.rate;
  for (const auto& [node, brought] : before.parts) {
    const auto now = lanes_.find(node), then = before.lanes.find(node);
    if (now == lanes_.end() || then == before.lanes.end()) continue;
    rate += part * brought * (static_cast<double>(now->second) / std::max(then->second, 1) - 1);
  }
  return rate;
}

bool Refinement::shows_own_rates(MonoTime now) const {
  // A second alone varies by when its bytes were counted. The mean of two holds some of the seconds before the step.
  return before_->step == Step::kShaped && now - *changed_ >= least_proof_ &&
         facts_.last_second >= with_more(*before_, kProved) &&
         facts_.bits_per_s >= before_->rate * shared(*before_, kShared);
}

void Refinement::accept_proof(MonoTime now, double rate) {
  if (!before_ || !before_->more() || before_->step == Step::kGreedy) return;
  const bool own = shows_own_rates(now);
  if (!own && now - *changed_ < kSettle) return;
  const bool tried = before_->step == Step::kTried || before_->step == Step::kShaped;
  const double power = before_->step == Step::kShaped ? kSharedByFewer : kShared;
  if (tried && (own || rate >= before_->rate * shared(*before_, power) || is_reached(facts_.limit, rate))) {
    own_rates_ = own;
    floor_.lanes = lanes_;
    floor_.until = std::max(floor_.until, now + floor_.next);
    before_.reset();
  } else if (rate >= with_more(*before_, kProved)) {
    ceiling_.next = kRuledOut;
    before_.reset();
  }
}

bool Refinement::is_full(const std::vector<RefinedSource>& sources) const {
  // For fewer lanes a path counts as full if all are, for more lanes if one is to which there are more: in doubt, the
  // lanes are taken back. A source that brings nothing tells nothing.
  bool any = false, all = true;
  for (const auto& source : sources) {
    if (source.path.bits_per_s <= 0) continue;
    const auto then = before_->lanes.find(source.node);
    if (before_->more() && then != before_->lanes.end() && lanes_of(source) <= then->second) continue;
    any = any || source.path.full();
    all = all && source.path.full();
  }
  return before_->more() ? any : any && all;
}

bool Refinement::take_back(MonoTime now, const std::vector<RefinedSource>& sources, double rate) {
  if (!before_ || !changed_) return false;
  const std::chrono::duration<double> since = now - *changed_;
  const std::chrono::duration<double> watched = before_->more() ? proof() + kWatch - kProof : kWatch;
  if (since >= watched && !worse_since_) before_.reset();
  // More lanes have some time to show that they bring something; fewer may do harm at once.
  const std::chrono::duration<double> shows = before_ && before_->more() ? proof() : kSettle;
  if (!before_ || since < shows || !worse(*before_, rate, is_full(sources))) {
    worse_since_.reset();
    return false;
  }
  if (!worse_since_) worse_since_ = now;
  const auto has_bbr = [](const RefinedSource& source) { return uses_bbr(source.path); };
  if (std::ranges::any_of(sources, has_bbr) && now - *worse_since_ < kSettle) return true;
  if (falls_alone(now, before_->parts, sources)) return true;
  go_back(now, sources, rate);
  return true;
}

bool Refinement::falls_alone(MonoTime now, const std::map<NodeId, double>& parts,
                             const std::vector<RefinedSource>& sources) {
  int fall = 0, all = 0;
  for (const auto& source : sources) {
    const auto part = parts.find(source.node);
    if (part == parts.end() || part->second <= 0) continue;
    ++all;
    fall += source.path.bits_per_s < kWorse * part->second ? 1 : 0;
  }
  if (fall == 0 || fall == all) {
    alone_since_.reset();
    return false;
  }
  if (!alone_since_ || now - alone_asked_ > kSettle) alone_since_ = now;  // another fall
  alone_asked_ = now;
  return now - *alone_since_ < kWindowSpan;
}

void Refinement::go_back(MonoTime now, const std::vector<RefinedSource>& sources, double rate) {
  const Before before = *std::exchange(before_, std::nullopt);
  const bool more = before.more(), by_itself = std::exchange(own_rates_, false) || is_by_itself(before.step);
  const bool some = more && by_itself && rate >= kSomeGain * before.rate;
  told_.clear();
  why_ = formatted("%s lanes brought %.3g instead of %.3g Mbit/s%s", more ? "more" : "fewer", mbit(rate),
                   mbit(before.rate), some ? ", for which fewer will do" : "");
  if (!more) taken_back_ = Undone{now, before.rate, floor_};
  if (!more && (!missed_ || before.rate > missed_->rate)) missed_ = before;
  const std::map<NodeId, int> back = some ? enough(before, rate) : more ? before.lanes : missed(before, sources);
  const std::map<NodeId, int> after = std::exchange(lanes_, back);
  if (some || !more) {
    floor_.lanes = lanes_;
    floor_.failed(now);
  }
  // That more lanes to one source brought nothing says nothing of the others.
  for (const auto& [node, lanes] : before.lanes) {
    const auto grown = after.find(node);
    if (more && grown != after.end() && grown->second > lanes) ceiling_.lanes[node] = lanes_[node];
  }
  if (more) ceiling_.failed(now);
  if (more) std::erase_if(grown_, [&](const Growth& one) { return one.at == *changed_; });
  worse_since_.reset();
  changed_ = now;
}

void Refinement::keep_needed(MonoTime now, const std::map<NodeId, int>& by_losses) {
  if (!before_ || before_->more()) return;
  bool any = false;
  for (const auto& [node, lanes] : by_losses) {
    const auto held = lanes_.find(node), then = before_->lanes.find(node);
    if (held == lanes_.end() || then == before_->lanes.end()) continue;
    if (lanes <= held->second || then->second <= held->second) continue;
    floor_.lanes[node] = std::min(lanes, then->second);
    any = true;
  }
  if (!any) return;
  floor_.failed(now);
  floor_.until = std::max(floor_.until, now + kRuledOut);  // that of another source may end sooner
}

/// Several steps for fewer led here, and the rate is missed since the first: as many as each source takes for its part
/// if a lane carries what it carries now, no more than there were, and no fewer than before the last step.
std::map<NodeId, int> Refinement::missed(const Before& before, const std::vector<RefinedSource>& sources) const {
  std::map<NodeId, int> lanes = before.lanes;
  const std::map<NodeId, double> brought = parts_of(facts_.bits_per_s, sources);
  for (auto& [node, number] : lanes) {
    const auto now = lanes_.find(node), then = before.lanes_of_rate.find(node);
    if (now == lanes_.end() || then == before.lanes_of_rate.end() || then->second <= number) continue;
    const auto part = before.parts.find(node), own = brought.find(node);
    if (part == before.parts.end() || own == brought.end()) continue;
    const double takes = std::ceil(now->second * part->second / std::max(own->second, 1.0));
    number = static_cast<int>(std::clamp<double>(takes, number, then->second));
  }
  return lanes;
}

/// Of the lanes that something holds up each by itself, as many as bring this rate if each carries what it did before
/// there were more.
std::map<NodeId, int> Refinement::enough(const Before& before, double rate) const {
  std::map<NodeId, int> lanes = lanes_;
  for (auto& [node, number] : lanes) {
    const auto held = before.lanes.find(node);
    if (held == before.lanes.end()) continue;
    number = std::min(number, static_cast<int>(std::ceil(held->second * rate / before.rate)));
  }
  return lanes;
}

/// More lanes than some number broke something: how many there may be at most from now on is remembered, and the
/// transfer goes back to what it had before the first of the steps that led there.
bool Refinement::undo_collapse(MonoTime now, const std::vector<RefinedSource>& sources, double rate) {
  std::erase_if(grown_, [&](const Growth& growth) { return now - growth.at > kMayBreak; });
  if (grown_.empty() || now - grown_.back().at < kSettle) return false;
  if (is_held_back(rate)) return false;
  const auto from = std::ranges::find_if(
      grown_, [&](const Growth& one) { return in_all(lanes_) > in_all(one.lanes) && rate < kCollapse * one.rate; });
  if (from == grown_.end()) return false;
  if (falls_alone(now, from->parts, sources)) return false;
  collapse_ = Undone{now, from->rate, broke_};
  broke_.failed(now);
  for (const auto& [node, lanes] : lanes_) {
    const auto held = from->lanes.find(node);
    // One fewer would break again and again on the way from sixteen to what it bears.
    if (held != from->lanes.end() && lanes > held->second) broke_.lanes[node] = (held->second + lanes) / 2;
  }
  told_.clear();
  why_ = formatted("%d lanes brought %.3g Mbit/s, where %d had brought %.3g", in_all(lanes_), mbit(rate),
                   in_all(from->lanes), mbit(from->rate));
  lanes_ = from->lanes;
  changed_ = now;
  before_.reset();
  grown_.clear();
  return true;
}

void Refinement::judge(std::optional<Undone>& undone, RuledOut& ruled_out, double part, MonoTime now) const {
  if (!undone || now - undone->at < proof()) return;
  if (facts_.bits_per_s < part * undone->rate) ruled_out = std::move(undone->before);
  undone.reset();
}

}  // namespace gridtorrent::client::tuning
