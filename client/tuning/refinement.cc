#include "client/tuning/refinement.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "client/tuning/bottleneck.h"
#include "client/tuning/lane_need.h"
#include "client/tuning/start.h"
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

/// `filled`: slow start has filled the path, as far as one connection can.
bool past_start(const PathFigures& path, bool filled) {
  const std::chrono::duration<double> whole = kWatched, least = kLeastWatched;
  const std::chrono::duration<double> needed =
      filled ? std::clamp<std::chrono::duration<double>>(kSlowStart * path.least_round_trip, least, whole) : whole;
  return path.seconds >= needed.count();
}

/// Segments on the way, to and back, without a queue.
double in_flight(const PathFigures& path) {
  const double seconds = std::chrono::duration<double>(path.least_round_trip).count();
  return path.bits_per_s / 8 * seconds / path.segment_bytes;
}

}  // namespace

Refined Refinement::step(MonoTime now, const std::vector<RefinedSource>& sources, const RefinementFacts& facts) {
  facts_ = facts;
  floor_.expire(now);
  ceiling_.expire(now);
  if (!collapse_) broke_.expire(now);
  set_proof(sources);
  note_widest(sources);
  expect_no_more_than_is_given(sources);
  expect_nothing_of_lost(sources);
  accept_proof(now, facts.bits_per_s);
  const bool waits = changed_ && now - *changed_ < pause(sources);
  judge(collapse_, broke_, kCollapse, now);
  judge(taken_back_, floor_, kWorse, now);
  if (!undo_collapse(now, sources, facts.bits_per_s) && !take_back(now, sources, facts.bits_per_s) && !waits) {
    change(now, sources);
  }
  Refined refined;
  for (const auto& source : sources) {
    refined.lanes.push_back(lanes_of(source));
  }
  refined.why = told_.empty() ? why_ : told_text(sources);
  refined.held_by = held_by_;
  return refined;
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

int Refinement::greedy_lanes(const RefinedSource& source, int lanes) const {
  if (!facts_.greedy || !source.path.full() || ceiling_.lanes.contains(source.node) || reader_busy()) return lanes;
  return std::min(static_cast<int>(std::ceil(lanes * kGreedyStep)), kMaxLanesPerPeer);
}

int Refinement::tried_lanes(const RefinedSource& source, int lanes) const {
  const PathFigures& path = source.path;
  const bool can_tell = path.full_queue >= kTellingQueue || path.loss_events < kLeastEvents ||
                        path.random_events + path.doubtful_events < kMostlyRandom * path.loss_events;
  if (can_tell || short_of_time(path) || facts_.polite || reader_busy() || ceiling_.lanes.contains(source.node))
    return lanes;
  return std::min(kTryTimes * lanes, kMaxLanesPerPeer);
}

/// Behind a shaper by connection each lane has a queue of its own, which looks as that of a full path does. So as many
/// again are tried, once, where there never were more and fewer will not do. A transfer with as many as a start has at
/// the most is left alone: each lane more would cost the reader something.
int Refinement::shaped_lanes(const RefinedSource& source, int lanes) const {
  const PathFigures& path = source.path;
  const auto widest = widest_.find(source.node);
  if ((widest != widest_.end() && widest->second > lanes) || in_all_ >= kFarLanesForLong) return lanes;
  if (path.bits_per_s <= 0 || path.empty > kHeldUp) return lanes;  // its seeder has no more to send
  if (facts_.no_fewer) return lanes;                               // what a rate takes is decided elsewhere
  if (uses_bbr(path) && in_flight(path) < kLeastInFlight * lanes) return lanes;
  if (!own_rates_ && facts_.last_second > kStillGrows * facts_.bits_per_s) return lanes;
  // BBR ends its start-up as soon as the rate no longer grows, and leaves no queue.
  if (!past_start(path, path.full() || uses_bbr(path))) return lanes;
  if (ends_within(in_all_ < kFarLanes ? kTryEndsSoon : kEndsSoon)) return lanes;
  if (facts_.polite || reader_busy() || ceiling_.lanes.contains(source.node)) return lanes;
  return std::min((own_rates_ ? kTryTimesProved : kTryTimes) * lanes, kMaxLanesPerPeer);
}

bool Refinement::ends_within(std::chrono::seconds span) const {
  return facts_.seconds_left > 0 && facts_.seconds_left < std::chrono::duration<double>(span).count();
}

bool Refinement::short_of_time(const PathFigures& path) const {
  return path.seconds < std::chrono::duration<double>(kWatched).count() || ends_within(kEndsSoon);
}

void Refinement::note_widest(const std::vector<RefinedSource>& sources) {
  in_all_ = 0;
  for (const auto& source : sources) {
    in_all_ += lanes_of(source);
    // Those of the first seconds were wished before the path was known, and carried nothing yet.
    const bool known = source.path.seconds >= std::chrono::duration<double>(kLeastWatched).count();
    if (known) widest_[source.node] = std::max(widest_[source.node], std::min(lanes_of(source), source.path.lanes));
  }
  std::erase_if(widest_, [&](const auto& one) {
    return std::ranges::find(sources, one.first, &RefinedSource::node) == sources.end();
  });
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
  change.step = need.held_by == Limit::kWindow ? Step::kWindows : doubts(source, need) ? Step::kDoubted : Step::kLosses;
  const bool may_try = !is_held_back(rate) && (limit <= 0 || !facts_.no_fewer);
  if (change.lanes <= lanes && may_try) {
    if (const int greedy = greedy_lanes(source, lanes); greedy > lanes) {
      change = {greedy, Step::kGreedy, "the path is full: more lanes may have a greater part of it", need.held_by};
    } else if (const int tried = tried_lanes(source, lanes); tried > lanes) {
      change = {tried, Step::kTried, "packets get lost, and the queue is too short to tell why: more are tried",
                need.held_by};
    } else if (const int shaped = shaped_lanes(source, lanes); change.lanes == lanes && shaped > lanes) {
      change = {shaped, Step::kShaped, "each lane may have a rate of its own: more are tried", need.held_by};
    }
  }
  if (const auto broke = broke_.lanes.find(source.node); broke != broke_.lanes.end()) {
    change.lanes = std::min(change.lanes, std::max(broke->second, 1));
  }
  // Its owner gives no more, to however many lanes.
  if (change.lanes == lanes || (change.lanes > lanes && is_paced(path))) return none;
  if (change.lanes < lanes) change.step = Step::kDown;
  // Losses and windows hold each lane up by itself, whoever else is there.
  const bool by_itself = change.step == Step::kLosses || is_by_itself(change.step);
  return facts_.others_try && !by_itself ? none : change;
}

Refinement::Step Refinement::to_prove(const std::vector<Change>& changes) {
  const auto any = [&](Step step) { return std::ranges::find(changes, step, &Change::step) != changes.end(); };
  for (const Step step : {Step::kDown, Step::kTried, Step::kShaped, Step::kGreedy}) {
    if (any(step)) return step;
  }
  if (any(Step::kLosses)) return Step::kNone;
  return any(Step::kWindows) ? Step::kWindows : any(Step::kDoubted) ? Step::kDoubted : Step::kNone;
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
  // The rate tells what they bring only where nothing else changes.
  const auto is_other = [](const Change& one) { return one.step != Step::kNone && one.step != Step::kShaped; };
  if (std::ranges::any_of(changes, is_other)) {
    for (Change& one : changes) one.step = one.step == Step::kShaped ? Step::kNone : one.step;
  }
  const Step step = to_prove(changes);
  Before before{.step = step, .rate = facts_.bits_per_s};
  own_rates_ = own_rates_ && step == Step::kShaped;
  // The mean of two seconds is in part that of other lanes: of the step before, or of the start.
  if ((step == Step::kShaped || step == Step::kDoubted) && facts_.last_second > 0) before.rate = facts_.last_second;
  before.parts = parts_of(before.rate, sources);
  std::map<NodeId, int> wanted;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const int lanes = lanes_of(sources[i]);
    before.lanes[sources[i].node] = wanted[sources[i].node] = lanes;
    const Change& one = changes[i];
    // What is tried has to prove itself, which it cannot beside fewer lanes to another source.
    const bool later = step == Step::kDown && is_try(one.step);
    if (one.step != Step::kNone && !later) wanted[sources[i].node] = one.lanes;
  }
  fit(wanted, before.lanes);
  bool changed = false, more = false;
  std::vector<Told> told;
  std::map<NodeId, int> by_losses;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const int lanes = before.lanes[sources[i].node], next = wanted[sources[i].node];
    if (next == lanes) continue;
    changed = true;
    more = more || next > lanes;
    if (changes[i].step == Step::kLosses) by_losses[sources[i].node] = next;
    told.push_back({sources[i].node, lanes, next, changes[i].why});
    held_by_ = changes[i].held_by;
  }
  if (!changed) return;
  why_.clear();
  told_ = std::move(told);
  before.lanes_at_rate = in_all(before.lanes);
  before.lanes_of_rate = before.lanes;
  // The path is another one, or as many lanes as then bring what they bring now.
  if (missed_ && (before.rate < kWorse * missed_->rate || before.lanes_at_rate >= missed_->lanes_at_rate))
    missed_.reset();
  // Several steps for fewer are compared with the best rate that came before or between them.
  const auto compare_with = [&](const std::optional<Before>& then) {
    if (!then || then->more() || then->rate <= before.rate) return;
    before.rate = then->rate;
    before.lanes_at_rate = then->lanes_at_rate;
    before.lanes_of_rate = then->lanes_of_rate;
    before.parts = then->parts;
  };
  if (step == Step::kDown) {
    compare_with(missed_);
    compare_with(before_);
  }
  keep_needed(now, by_losses);
  before_.reset();
  worse_since_.reset();
  if (more) grown_.push_back({now, facts_.bits_per_s, before.lanes, before.parts});
  if (step != Step::kNone) before_ = std::move(before);
  lanes_ = std::move(wanted);
  changed_ = now;
  by_losses_ = step == Step::kNone && std::ranges::none_of(changes, is_by_itself, &Change::step);
}

bool Refinement::doubts(const RefinedSource& source, const LaneNeed& need) {
  const PathFigures& path = source.path;
  return need.held_by == Limit::kLoss && path.least_round_trip < kNearBelow && path.full_queue < kTellingQueue &&
         path.is_queue(path.full_queue - path.late());
}

bool Refinement::reader_limits(const RefinedSource& source, const LaneNeed& need) const {
  return need.held_by == Limit::kWindow && (reader_busy() || ceiling_.lanes.contains(source.node));
}

int Refinement::shrunk(const PathFigures& path, int lanes, bool reader) {
  int next = static_cast<int>(std::floor(lanes * kShrink));
  // Who reads, or shares its uplink, is what limits there, and BBR takes up at once what others leave: no queue has to
  // bridge anything.
  const bool bbr = uses_bbr(path);
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
  const bool tried = doubts(source, need) && ceiling_.lanes.contains(source.node);
  if (lanes < need.least && tried) return lanes;
  // In slow start each second brings more by itself, which would prove any number of lanes.
  if (lanes < need.least && !reader && (by_losses || watched)) {
    return reader_busy() ? lanes : std::min(need.least, (by_losses ? kGrowByLosses : kGrowByWindows) * lanes);
  }
  const int most = reader ? 1 : need.most;
  const bool holds = facts_.no_fewer || (facts_.greedy && source.path.full());
  if (lanes <= most || !past_start(source.path, source.path.full()) || ends_within(kEndsSoon) || holds) return lanes;
  int next = std::max(most, shrunk(source.path, lanes, reader));
  if (const auto floor = floor_.lanes.find(source.node); floor != floor_.lanes.end())
    next = std::max(next, floor->second);
  return std::min(next, lanes);
}

}  // namespace gridtorrent::client::tuning
