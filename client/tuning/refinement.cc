#include "client/tuning/refinement.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "client/tuning/diagnosis.h"
#include "client/tuning/lane_need.h"
#include "client/tuning/wording.h"

namespace gridtorrent::client::tuning {
namespace {

/// Of sources that change together, as many as a line of log has room for.
constexpr std::size_t kSourcesTold = 3;

const char* reader_text(Limit reader) {
  if (reader == Limit::kReceiverCpu) return "this node lacks processor time, so fewer are tried";
  if (reader == Limit::kDisk) return "this node's disk takes no more, so fewer are tried";
  return "more lanes brought nothing, so fewer are tried";
}

int in_all(const std::map<NodeId, int>& lanes) {
  int all = 0;
  for (const auto& [node, number] : lanes) all += number;
  return all;
}

std::string why_text(const LaneNeed& need, const PathFigures& path) {
  const double best = mbit(path.best_bits_per_s);
  switch (need.held_by) {
    case Limit::kLoss:
      return formatted("%.3g %% of packets lost: a lane comes to %.3g of %.3g Mbit/s",
                       100 * path.random_events / path.segments, mbit(need.lane_bits_per_s), best);
    case Limit::kWindow:
      return formatted("windows hold a lane at %.3g of %.3g Mbit/s", mbit(need.lane_bits_per_s), best);
    default:
      return formatted("next to none of %.0f packets lost: a lane can carry more than %.3g Mbit/s", path.segments,
                       best / std::max(need.most, 1));
  }
}

/// What each source brings of `rate`.
std::map<NodeId, double> parts_of(double rate, const std::vector<RefinedSource>& sources) {
  double sum = 0;
  for (const auto& source : sources) sum += source.path.bits_per_s;
  std::map<NodeId, double> parts;
  for (const auto& source : sources) parts[source.node] = sum > 0 ? rate * source.path.bits_per_s / sum : 0;
  return parts;
}

/// Its node has left, or it brings nothing while others do.
bool is_lost(const NodeId& node, const std::vector<RefinedSource>& sources) {
  const auto found = std::ranges::find(sources, node, &RefinedSource::node);
  if (found == sources.end()) return true;
  const auto brings = [](const RefinedSource& source) { return source.path.bits_per_s > 0; };
  return !brings(*found) && std::ranges::any_of(sources, brings);
}

/// Whether lanes may end.
bool past_start(const PathFigures& path) {
  const std::chrono::duration<double> whole = kWatched, least = kLeastWatched;
  const std::chrono::duration<double> needed =
      path.full() ? std::clamp<std::chrono::duration<double>>(kSlowStart * path.least_round_trip, least, whole) : whole;
  return path.seconds >= needed.count();
}

}  // namespace

Limit reader_limit(const HostLoad& load) {
  if (load.busiest_thread > kNeverRests || load.held_by_quota > kHeldByQuota) return Limit::kReceiverCpu;
  return load.held_by_disk > kHeldByDisk ? Limit::kDisk : Limit::kUnknown;
}

Refined Refinement::step(MonoTime now, const std::vector<RefinedSource>& sources, const RefinementFacts& facts) {
  facts_ = facts;
  if (now >= floors_.until) floor_.clear();
  if (now >= ceilings_.until) ceiling_.clear();
  if (now >= broken_.until && !collapse_) broke_.clear();
  set_proof(sources);
  expect_no_more_than_is_given(sources);
  expect_nothing_of_lost(sources);
  accept_proof(now, facts.bits_per_s);
  const bool waits = changed_ && now - *changed_ < pause(sources);
  judge_collapse(now, facts.bits_per_s);
  judge_taken_back(now, facts.bits_per_s);
  if (!undo_collapse(now, sources, facts.bits_per_s) && !take_back(now, sources, facts.bits_per_s) && !waits) {
    change(now, sources);
  }
  Refined refined;
  for (const auto& source : sources) {
    const auto held = lanes_.find(source.node);
    refined.lanes.push_back(held == lanes_.end() ? source.start : held->second);
  }
  refined.why = told_.empty() ? why_ : told_text(sources);
  refined.held_by = held_by_;
  return refined;
}

void Refinement::Belief::failed(MonoTime now) {
  if (now < until) return;  // that one follows from the other
  until = now + next;
  next = std::min(2 * next, most);
}

void Refinement::interrupted() {
  before_.reset();
  worse_since_.reset();
  alone_since_.reset();
  collapse_.reset();
  taken_back_.reset();
  grown_.clear();
}

/// Which of several sources the last change was about, as far as they are still there.
std::string Refinement::told_text(const std::vector<RefinedSource>& sources) const {
  std::string text;
  std::size_t left = 0, shown = 0;
  for (const Told& one : told_) {
    if (std::ranges::find(sources, one.node, &RefinedSource::node) == sources.end()) continue;
    if (sources.size() == 1) return one.why;
    if (shown == kSourcesTold) {
      ++left;
      continue;
    }
    ++shown;
    text += (text.empty() ? "" : "; ") + one.node.str() + formatted(" %d → %d: ", one.before, one.lanes) + one.why;
  }
  return left == 0 ? text : text + "; " + std::to_string(left) + " more";
}

/// Where their owners give less than before, no number of lanes has broken anything.
void Refinement::expect_no_more_than_is_given(const std::vector<RefinedSource>& sources) {
  if (!std::ranges::all_of(sources, is_paced, &RefinedSource::path)) return;
  double given = 0;
  for (const auto& source : sources) given += source.path.paced_bits_per_s;
  for (auto& growth : grown_) growth.rate = std::min(growth.rate, given);
  if (!before_) return;
  if (before_->more()) before_.reset();  // nothing more can be proved
  if (before_) before_->rate = std::min(before_->rate, given);
}

/// What a source brought that was lost meanwhile, no number of lanes to the others could bring.
void Refinement::expect_nothing_of_lost(const std::vector<RefinedSource>& sources) {
  if (!before_) return;
  std::erase_if(before_->parts, [&](const auto& part) {
    const bool lost = part.second > 0 && is_lost(part.first, sources);
    if (lost) before_->rate -= part.second;
    return lost;
  });
}

void Refinement::set_proof(const std::vector<RefinedSource>& sources) {
  proof_ = kProof;
  for (const auto& source : sources) {
    if (source.path.bits_per_s <= 0) continue;
    proof_ = std::max<std::chrono::duration<double>>(proof_, kProofRoundTrips * source.path.round_trip);
  }
  proof_ = std::min<std::chrono::duration<double>>(proof_, kLongestProof);
}

std::chrono::duration<double> Refinement::pause(const std::vector<RefinedSource>& sources) const {
  if (before_ && before_->more()) return proof();
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
  if (!before.more()) {
    double least = ceiling_.empty() && !reader_busy() ? kWorse : kWorseForReader;
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

void Refinement::accept_proof(MonoTime now, double rate) {
  if (!before_ || !before_->more() || before_->step == Step::kGreedy || now - *changed_ < kSettle) return;
  const bool brought = rate >= before_->rate * shared(*before_, kShared) || is_reached(facts_.limit, rate);
  if (before_->step == Step::kTried && brought) {
    floor_ = lanes_;
    floors_.until = std::max(floors_.until, now + floors_.next);
    before_.reset();
  } else if (rate >= with_more(*before_, kProved)) {
    ceilings_.next = kBelieve;
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
  const auto has_bbr = [](const RefinedSource& source) { return source.path.congestion_control.starts_with("bbr"); };
  if (std::ranges::any_of(sources, has_bbr) && now - *worse_since_ < kSettle) return true;
  if (falls_alone(now, before_->parts, sources)) return true;
  go_back(now, rate);
  return true;
}

bool Refinement::falls_alone(MonoTime now, const std::map<NodeId, double>& parts,
                             const std::vector<RefinedSource>& sources) {
  std::ptrdiff_t fall = 0;
  for (const auto& source : sources) {
    const auto part = parts.find(source.node);
    fall += part != parts.end() && source.path.bits_per_s < kWorse * part->second ? 1 : 0;
  }
  if (fall == 0 || fall == std::ssize(sources)) {
    alone_since_.reset();
    return false;
  }
  if (!alone_since_) alone_since_ = now;
  return now - *alone_since_ < kWindowSpan;
}

void Refinement::go_back(MonoTime now, double rate) {
  const Before before = *std::exchange(before_, std::nullopt);
  const bool more = before.more(), some = before.step == Step::kWindows && rate >= kSomeGain * before.rate;
  told_.clear();
  why_ = formatted("%s lanes brought %.3g instead of %.3g Mbit/s%s", more ? "more" : "fewer", mbit(rate),
                   mbit(before.rate), some ? ", for which fewer will do" : "");
  if (!more) taken_back_ = TakenBack{now, before.rate, floor_};
  if (!more && before.rate > missed_) {
    missed_ = before.rate;
    missed_lanes_ = before.lanes_at_rate;
  }
  const std::map<NodeId, int> back = some ? enough(before, rate) : more ? before.lanes : missed(before, rate);
  const std::map<NodeId, int> after = std::exchange(lanes_, back);
  if (some || !more) {
    floor_ = lanes_;
    floors_.failed(now);
  }
  // That more lanes to one source brought nothing says nothing of the others.
  for (const auto& [node, lanes] : before.lanes) {
    const auto grown = after.find(node);
    if (more && grown != after.end() && grown->second > lanes) ceiling_[node] = lanes_[node];
  }
  if (more) ceilings_.failed(now);
  if (more) std::erase_if(grown_, [&](const Growth& one) { return one.at == *changed_; });
  worse_since_.reset();
  changed_ = now;
}

/// Several steps for fewer led here, and the rate is missed since the first: as many as it takes if each lane carries
/// what it carries now, no more than there were, and no fewer than before the last step.
std::map<NodeId, int> Refinement::missed(const Before& before, double rate) const {
  std::map<NodeId, int> lanes = before.lanes;
  for (auto& [node, number] : lanes) {
    const auto now = lanes_.find(node), then = before.lanes_of_rate.find(node);
    if (now == lanes_.end() || then == before.lanes_of_rate.end() || then->second <= number) continue;
    const double takes = std::ceil(now->second * before.rate / std::max(rate, 1.0));
    number = static_cast<int>(std::clamp<double>(takes, number, then->second));
  }
  return lanes;
}

/// Of the lanes that windows hold up, as many as bring this rate if each carries what it did before there were more.
std::map<NodeId, int> Refinement::enough(const Before& before, double rate) const {
  std::map<NodeId, int> lanes = lanes_;
  for (auto& [node, number] : lanes) {
    const auto held = before.lanes.find(node);
    if (held == before.lanes.end()) continue;
    number = std::min(number, static_cast<int>(std::ceil(held->second * rate / before.rate)));
  }
  return lanes;
}

/// More lanes than some number broke something: that number is remembered, and the transfer goes back to what it had
/// before the first of the steps that led there.
bool Refinement::undo_collapse(MonoTime now, const std::vector<RefinedSource>& sources, double rate) {
  std::erase_if(grown_, [&](const Growth& growth) {
    // Without one of its sources the rate falls for another reason.
    const bool any_lost = std::ranges::any_of(
        growth.parts, [&](const auto& part) { return part.second > 0 && is_lost(part.first, sources); });
    return now - growth.at > kMayBreak || any_lost;
  });
  if (grown_.empty() || now - grown_.back().at < kSettle) return false;
  if (reader_busy() || is_held_back(rate)) return false;
  const auto from = std::ranges::find_if(
      grown_, [&](const Growth& one) { return in_all(lanes_) > in_all(one.lanes) && rate < kCollapse * one.rate; });
  if (from == grown_.end()) return false;
  if (falls_alone(now, from->parts, sources)) return false;
  collapse_ = Collapse{now, from->rate, broke_};
  broken_.failed(now);
  for (const auto& [node, lanes] : lanes_) {
    const auto held = from->lanes.find(node);
    if (held != from->lanes.end() && lanes > held->second) broke_[node] = lanes;
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

/// Where the lanes before do not bring the rate back either, it did not fall for the lanes' sake.
void Refinement::judge_collapse(MonoTime now, double rate) {
  if (!collapse_ || now - collapse_->at < proof()) return;
  if (rate < kCollapse * collapse_->rate) broke_ = std::move(collapse_->broke);
  collapse_.reset();
}

/// The same for lanes that were missed: where they do not bring the rate back, fewer are not ruled out.
void Refinement::judge_taken_back(MonoTime now, double rate) {
  if (!taken_back_ || now - taken_back_->at < proof()) return;
  if (rate < kWorse * taken_back_->rate) floor_ = std::move(taken_back_->floor);
  taken_back_.reset();
}

int Refinement::greedy_lanes(const RefinedSource& source, int lanes) const {
  if (!facts_.greedy || !source.path.full() || ceiling_.contains(source.node) || reader_busy()) return lanes;
  return std::min(static_cast<int>(std::ceil(lanes * kGreedyStep)), kMaxLanesPerPeer);
}

int Refinement::tried_lanes(const RefinedSource& source, int lanes) const {
  const PathFigures& path = source.path;
  const bool can_tell = path.full_queue >= kTellingQueue || path.loss_events < kLeastEvents ||
                        path.random_events + path.doubtful_events < kMostlyRandom * path.loss_events;
  const bool short_of_time =
      path.seconds < std::chrono::duration<double>(kWatched).count() ||
      (facts_.seconds_left > 0 && facts_.seconds_left < std::chrono::duration<double>(kEndsSoon).count());
  if (can_tell || short_of_time || facts_.polite || reader_busy() || ceiling_.contains(source.node)) return lanes;
  return std::min(kTryTimes * lanes, kMaxLanesPerPeer);
}

int Refinement::lanes_of(const RefinedSource& source) const {
  const auto held = lanes_.find(source.node);
  return held == lanes_.end() ? source.start : held->second;
}

Refinement::Change Refinement::change_of(const RefinedSource& source) const {
  const PathFigures& path = source.path;
  const double rate = facts_.bits_per_s, limit = facts_.limit;
  const int lanes = lanes_of(source);
  const Change none{.lanes = lanes};
  if (source.stays) return none;
  if (path.segments <= 0 || path.seconds < std::chrono::duration<double>(kFirstLook).count()) return none;
  // Each source's part of the limit is what it brings of the whole.
  const double share = limit > 0 && rate > 0 ? limit * std::min(path.bits_per_s / rate, 1.0) : 0;
  const LaneNeed need = lane_need(path, share);
  Change change{.lanes = next_lanes(source, lanes, need), .held_by = need.held_by};
  change.why = reader_limits(source, need) ? reader_text(facts_.reader) : why_text(need, path);
  change.step = need.held_by == Limit::kWindow ? Step::kWindows : Step::kLosses;
  const bool may_try = limit <= 0 || (!facts_.no_fewer && !is_reached(limit, rate));
  if (change.lanes <= lanes && may_try) {
    if (const int greedy = greedy_lanes(source, lanes); greedy > lanes) {
      change = {greedy, Step::kGreedy, "the path is full: more lanes may have a greater part of it", need.held_by};
    } else if (const int tried = tried_lanes(source, lanes); tried > lanes) {
      change = {tried, Step::kTried, "packets get lost, and the queue is too short to tell why: more are tried",
                need.held_by};
    }
  }
  if (const auto broke = broke_.find(source.node); broke != broke_.end()) {
    change.lanes = std::min(change.lanes, std::max(broke->second - 1, 1));
  }
  // Its owner gives no more, to however many lanes.
  if (change.lanes == lanes || (change.lanes > lanes && is_paced(path))) return none;
  if (change.lanes < lanes) change.step = Step::kDown;
  // Losses and windows hold each lane up by itself, whoever else is there.
  const bool by_itself = change.step == Step::kLosses || change.step == Step::kWindows;
  return facts_.others_try && !by_itself ? none : change;
}

Refinement::Step Refinement::to_prove(const std::vector<Change>& changes) {
  const auto any = [&](Step step) { return std::ranges::find(changes, step, &Change::step) != changes.end(); };
  for (const Step step : {Step::kDown, Step::kTried, Step::kGreedy}) {
    if (any(step)) return step;
  }
  return any(Step::kWindows) && !any(Step::kLosses) ? Step::kWindows : Step::kNone;
}

void Refinement::fit(std::map<NodeId, int>& wanted, const std::map<NodeId, int>& now) const {
  const auto more = [&](const auto& one) { return one.second - now.at(one.first); };
  for (int over = in_all(wanted) - facts_.most_lanes; over > 0; --over) {
    const auto most = std::ranges::max_element(wanted, {}, more);
    if (more(*most) <= 0) return;
    --most->second;
  }
}

void Refinement::change(MonoTime now, const std::vector<RefinedSource>& sources) {
  std::vector<Change> changes;
  for (const auto& source : sources) changes.push_back(change_of(source));
  const Step step = to_prove(changes);
  Before before{.step = step, .rate = facts_.bits_per_s};
  before.parts = parts_of(before.rate, sources);
  std::map<NodeId, int> wanted;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const int lanes = lanes_of(sources[i]);
    before.lanes[sources[i].node] = wanted[sources[i].node] = lanes;
    const Change& one = changes[i];
    // What is tried has to prove itself, which it cannot beside fewer lanes to another source.
    const bool later = step == Step::kDown && (one.step == Step::kGreedy || one.step == Step::kTried);
    if (one.step != Step::kNone && !later) wanted[sources[i].node] = one.lanes;
  }
  fit(wanted, before.lanes);
  bool changed = false, more = false;
  std::vector<Told> told;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const int lanes = before.lanes[sources[i].node], next = wanted[sources[i].node];
    if (next == lanes) continue;
    changed = true;
    more = more || next > lanes;
    told.push_back({sources[i].node, lanes, next, changes[i].why});
    held_by_ = changes[i].held_by;
  }
  if (!changed) return;
  why_.clear();
  told_ = std::move(told);
  before.lanes_at_rate = in_all(before.lanes);
  before.lanes_of_rate = before.lanes;
  // Several steps for fewer are compared with the best rate that came before or between them.
  if (before.rate < kWorse * missed_) missed_ = 0;  // the path is another one
  if (step == Step::kDown && before.rate < missed_) {
    before.rate = missed_;
    before.lanes_at_rate = missed_lanes_;
    before.parts = parts_of(before.rate, sources);
  }
  if (step == Step::kDown && before_ && !before_->more() && before_->rate > before.rate) {
    before.rate = before_->rate;
    before.lanes_at_rate = before_->lanes_at_rate;
    before.lanes_of_rate = before_->lanes_of_rate;
    before.parts = before_->parts;
  }
  before_.reset();
  worse_since_.reset();
  if (more) grown_.push_back({now, facts_.bits_per_s, before.lanes, before.parts});
  if (step != Step::kNone) before_ = std::move(before);
  lanes_ = std::move(wanted);
  changed_ = now;
}

bool Refinement::reader_limits(const RefinedSource& source, const LaneNeed& need) const {
  return need.held_by == Limit::kWindow && (reader_busy() || ceiling_.contains(source.node));
}

int Refinement::shrunk(const PathFigures& path, int lanes, bool reader) {
  int next = static_cast<int>(std::floor(lanes * kShrink));
  // Who reads, or shares its uplink, is what limits there, and BBR takes up at once what others leave: no queue has to
  // bridge anything.
  const bool bbr = path.congestion_control.starts_with("bbr");
  if (!reader && !bbr && path.round_trip.count() > 0 && path.paced_bits_per_s <= 0) {
    const double bridged =
        static_cast<double>(path.least_round_trip.count()) / static_cast<double>(path.round_trip.count());
    next = std::max(lanes / 2, static_cast<int>(std::ceil(lanes * std::min(bridged, 1.0))));
  }
  return std::min(lanes - 1, next);
}

int Refinement::next_lanes(const RefinedSource& source, int lanes, const LaneNeed& need) const {
  const bool reader = reader_limits(source, need), by_losses = need.held_by == Limit::kLoss;
  const bool watched = source.path.seconds >= std::chrono::duration<double>(kWatched).count();
  // In slow start each second brings more by itself, which would prove any number of lanes.
  if (lanes < need.least && !reader && (by_losses || watched)) {
    return reader_busy() ? lanes : std::min(need.least, (by_losses ? kGrowByLosses : kGrowByWindows) * lanes);
  }
  const int most = reader ? 1 : need.most;
  const bool ends = facts_.seconds_left > 0 && facts_.seconds_left < std::chrono::duration<double>(kEndsSoon).count();
  const bool holds = facts_.no_fewer || (facts_.greedy && source.path.full());
  if (lanes <= most || !past_start(source.path) || ends || holds) return lanes;
  int next = std::max(most, shrunk(source.path, lanes, reader));
  if (const auto floor = floor_.find(source.node); floor != floor_.end()) next = std::max(next, floor->second);
  return std::min(next, lanes);
}

}  // namespace gridtorrent::client::tuning
