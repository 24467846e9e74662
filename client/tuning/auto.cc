#include "client/tuning/auto.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "client/tuning/bottleneck.h"
#include "client/tuning/fixed.h"
#include "client/tuning/sources.h"
#include "client/tuning/wording.h"

namespace gridtorrent::client::tuning {
namespace {

/// A pace below this part of a target is for others' sake: what corrects the limiter is less (pace.cc).
constexpr double kForOthers = 0.95;

std::string path_text(const Path& path) {
  const std::string text = formatted("RTT %.1f ms", static_cast<double>(path.round_trip.count()) / 1e3) +
                           (path.congestion_control.empty() ? "" : ", " + path.congestion_control);
  switch (path.kind) {
    case PathKind::kUnknown:
      return "path not known yet";
    case PathKind::kFar:
      return text;
    case PathKind::kNear:
      return text + ": a near path needs few";
    case PathKind::kBbr:
      return text + ": BBR needs few";
  }
  return "";
}

bool needs_few(const Path& path) {
  return path.kind == PathKind::kNear || path.kind == PathKind::kBbr;
}

/// "12 lanes to 2 seeders and 1 neighbour".
std::string lanes_text(const StartFacts& facts, const std::vector<int>& lanes) {
  const int all = std::accumulate(lanes.begin(), lanes.end(), 0);
  int seeders = 0, neighbours = 0;
  for (const auto& source : facts.sources) ++(source.complete ? seeders : neighbours);
  std::string text = counted(all, "lane") + " to ";
  if (seeders > 0) text += counted(seeders, "seeder");
  if (seeders > 0 && neighbours > 0) text += " and ";
  if (neighbours > 0) text += counted(neighbours, "neighbour");
  return text;
}

/// "16 lanes to 1 seeder (1.2 GB to come; RTT 50.2 ms, cubic)", or of several: "12 lanes to 2 seeders and 1 neighbour
/// (1.2 GB to come; 1 of 3 paths near or with BBR)".
std::string reason_text(const StartFacts& facts, const std::vector<int>& lanes, const std::vector<Path>& paths) {
  std::string text = "auto: " + lanes_text(facts, lanes);
  text += " (" + size_text(static_cast<double>(facts.bytes)) + " to come; ";
  if (paths.size() == 1) {
    text += path_text(paths.front());
  } else {
    const auto few = std::ranges::count_if(paths, needs_few);
    text += std::to_string(few) + " of " + std::to_string(paths.size()) + " paths near or with BBR";
  }
  if (facts.limit_bits_per_s > 0) {
    text += formatted("; limit %.1f Mbit/s", mbit(static_cast<double>(facts.limit_bits_per_s)));
  }
  return text + ")";
}

int in_all(const std::vector<int>& lanes) {
  return std::accumulate(lanes.begin(), lanes.end(), 0);
}

/// "auto: 6 lanes to 1 seeder (it takes so many to hold 30 Mbit/s)".
std::string demand_text(const StartFacts& facts, const std::vector<int>& lanes, const Goal& goal) {
  return "auto: " + lanes_text(facts, lanes) +
         formatted(" (it takes so many to hold %.3g Mbit/s)", mbit(goal.target > 0 ? goal.target : goal.floor));
}

/// What the lanes need not exceed: a person's limit, or the target.
std::uint64_t lower_limit(std::uint64_t limit, const Goal& goal) {
  return goal.target > 0 ? static_cast<std::uint64_t>(goal.target) : limit;
}

/// What is left of the limit at the moment, beside the node's other transfers.
std::uint64_t limit_now(const ControllerInput& input) {
  return input.part_bits_per_s > 0 ? input.part_bits_per_s : input.limit_bits_per_s;
}

RefinementFacts refinement_facts(const ControllerInput& input, const StartFacts& start, const Goal& goal, double rate) {
  RefinementFacts facts;
  facts.bits_per_s = rate;
  facts.limit = static_cast<double>(goal.target > 0 ? start.limit_bits_per_s : limit_now(input));
  if (rate > 0) facts.seconds_left = static_cast<double>(input.bytes_left) * 8 / rate;
  facts.reader = reader_limit(input.load);
  facts.greedy = input.mode == TuningMode::kGreedy;
  facts.polite = goal.polite;
  facts.no_fewer = goal.target > 0 || rate < goal.floor;
  return facts;
}

/// To bring its part of what is wanted, as its random losses prove; at least the one that stands anyway.
int lanes_that_losses_take(const PathFigures& path, double bits_per_s, const DemandFacts& facts) {
  if (facts.bits_per_s <= 0 || bits_per_s <= 0) return 1;
  const LaneNeed need = lane_need(path, facts.wanted * std::min(bits_per_s / facts.bits_per_s, 1.0));
  return need.held_by == Limit::kLoss ? need.least : 1;
}

int transfers_from(const NodeId& node, const ControllerInput& input) {
  const auto others = std::ranges::count_if(input.others, [&](const OtherTransfer& other) {
    return other.id != input.transfer && std::ranges::find(other.sources, node) != other.sources.end();
  });
  return 1 + static_cast<int>(others);
}

}  // namespace

Path learn(const Path& known, const Path& seen) {
  if (seen.kind == PathKind::kUnknown || needs_few(known)) return known;
  // What a sender said before it was asked for something is its own.
  if (seen.kind == PathKind::kBbr && !known.congestion_control.empty()) return known;
  if (needs_few(seen) || known.kind == PathKind::kUnknown) return seen;
  Path path = known;
  if (path.congestion_control.empty()) path.congestion_control = seen.congestion_control;
  return path;
}

Plan AutoController::plan(const ControllerInput& input) {
  Known& known = transfers_[input.transfer];
  known.bytes = std::max(known.bytes, input.bytes_left);
  std::erase_if(known.sources, [&](const auto& source) {
    return std::ranges::find(input.peers, source.first, &PeerSample::node) == input.peers.end();
  });
  if (known.planned != MonoTime{} && input.now - known.planned > kPausedAfter) interrupted(known, input.now);
  known.planned = input.now;
  const Goal goal = goal_of(input);
  const auto sources = choose_sources(input);
  for (const auto* source : sources) {
    auto& [path, meter, recollection, congestion] = known.sources[source->node];
    path = learn(path, path_of(*source, congestion.asks() || congestion.changes()));
    meter.look(input.now, *source);
    recollection.look(input, *source, path, meter);
  }
  const std::uint64_t limit = paced(known, input.now, goal, sources);
  known.pace_now = static_cast<double>(limit);
  const double rate = rate_of(known, input.now, sources, kSettle);
  if (rate > 0 || goal.floor <= 0) known.late = known.lateness.step(input.now, goal, rate);
  Plan plan = input.lanes_wish > 0 || sources.empty()
                  ? even_plan(input, "auto")
                  : chosen_plan(known, input, sources, goal, others_try(known, input));
  plan.limit_bits_per_s = limit;
  if (goal.target <= 0) plan.reason.text += pace_text(known, static_cast<double>(limit));
  return plan;
}

void AutoController::interrupted(Known& known, MonoTime now) {
  for (auto& [node, source] : known.sources) source.meter.interrupted();
  known.demand.interrupted();
  trials_end(known, now);
}

void AutoController::trials_end(Known& known, MonoTime now) {
  known.refinement.interrupted();
  for (auto& [node, source] : known.sources) source.congestion.interrupted(now);
}

/// What it leaves to others, in steps: the pace itself moves each second.
std::string AutoController::pace_text(Known& known, double pace) {
  const bool other = pace > kPaceSteps * known.pace_told || pace * kPaceSteps < known.pace_told;
  if (pace <= 0 || known.pace_told <= 0 || other) known.pace_told = pace;
  if (known.pace_told <= 0) return "";
  return formatted("; at most %.3g Mbit/s, since others on the path go first", mbit(known.pace_told));
}

bool AutoController::others_try(const Known& known, const ControllerInput& input) const {
  return std::ranges::any_of(input.others, [&](const OtherTransfer& one) {
    const auto other = transfers_.find(one.id);
    if (one.id == input.transfer || other == transfers_.end()) return false;
    if (input.now - other->second.refined > kPausedAfter) return false;
    return std::ranges::any_of(other->second.sources, [&](const auto& source) {
      const bool is_shared = known.sources.contains(source.first);
      return is_shared && (other->second.refinement.tries() || source.second.congestion.changes());
    });
  });
}

Plan AutoController::chosen_plan(Known& known, const ControllerInput& input, const Sources& sources, const Goal& goal,
                                 bool others_try) {
  StartFacts facts{known.bytes, lower_limit(input.limit_bits_per_s, goal), input.host, goal.polite, {}, goal.floor};
  std::vector<Path> paths;
  std::vector<const Recollection*> recollections;
  for (const auto* source : sources) {
    const auto& [path, meter, recollection, congestion] = known.sources.at(source->node);
    paths.push_back(path);
    recollections.push_back(&recollection);
    facts.sources.push_back({source->complete && !source->fetches, path.kind, path.round_trip,
                             transfers_from(source->node, input), recollection.lanes(sources.size()),
                             grants_bbr(*source)});
  }
  std::vector<int> lanes = start_lanes(facts);
  Plan plan;
  plan.reason.text =
      with_recollection(recollections, "auto: " + lanes_text(facts, lanes), reason_text(facts, lanes, paths));
  const Sources seeders = seeders_among(sources, facts);
  note_swarm(known, input.now, sources, seeders);
  const bool refines = !seeders.empty() && !known.swarms;
  // Meanwhile a person chose the lanes, or neighbours were there: what is now is no outcome of what was tried.
  if (refines && input.now - known.refined > kPausedAfter) trials_end(known, input.now);
  const std::map<NodeId, std::string> controls =
      congestion_controls(known, input, seeders, facts, others_try || known.refinement.tries());
  if (refines) {
    RefinementFacts whole = refinement_facts(input, facts, goal, rate_of(known, input.now, sources, kSettle));
    whole.last_second = rate_of(known, input.now, sources, kLastLook);
    whole.pace = known.pace_now;
    whole.others_try = others_try;
    whole.polite = goal.polite && !known.late;
    known.refined = input.now;
    const std::string why = refine(known, input.now, sources, facts, whole, lanes, plan.reason.limit);
    if (!why.empty()) plan.reason.text = "auto: " + lanes_text(facts, lanes) + " (" + why + ")";
  }
  const bool exact = goal.target > 0;
  const DemandFacts demand = demand_facts(known, input, sources, goal, in_all(lanes));
  const int asked = std::min(known.demand.step(input.now, demand), demand.most);
  if (in_all(lanes) < asked || (exact && in_all(lanes) != asked && asked > 0)) {
    lanes = spread(std::move(lanes), asked);
    plan.reason.text = demand_text(facts, lanes, goal);
  }
  plan.reason.text += congestion_text(known, seeders);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    PeerShare& share = plan.peers.emplace_back(PeerShare{.node = sources[i]->node, .lanes = lanes[i]});
    const auto control = controls.find(share.node);
    if (control == controls.end() || control->second.empty()) continue;
    share.congestion_control = control->second;
    share.congestion_lanes = kBbrLanes;
  }
  return plan;
}

AutoController::Sources AutoController::seeders_among(const Sources& sources, const StartFacts& facts) {
  Sources seeders;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (facts.sources[i].complete) seeders.push_back(sources[i]);
  }
  return seeders;
}

void AutoController::note_swarm(Known& known, MonoTime now, const Sources& sources, const Sources& seeders) {
  const double all = rate_of(known, now, sources, kLossSpan), of_seeders = rate_of(known, now, seeders, kLossSpan);
  if (all > 0 && !known.began) known.began = now;
  const bool undecided = !known.began || now - *known.began < kSwarmShows;
  const double enough = (known.swarms && !undecided ? kLeastOfNeighbours : kOfNeighbours) * all;
  const bool brings = all > 0 ? all - of_seeders >= enough : known.swarms;
  known.swarms = seeders.size() < sources.size() && (undecided || brings);
}

std::string AutoController::refine(Known& known, MonoTime now, const Sources& sources, const StartFacts& facts,
                                   RefinementFacts whole, std::vector<int>& lanes, Limit& limit) {
  Sources seeders;
  std::vector<int> start;
  std::vector<std::size_t> places;
  whole.most_lanes = most_in_all(facts);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (!facts.sources[i].complete) {
      whole.most_lanes -= lanes[i];
      continue;
    }
    seeders.push_back(sources[i]);
    start.push_back(lanes[i]);
    places.push_back(i);
  }
  const Refined refined = known.refinement.step(now, refined_sources(known, now, seeders, start), whole);
  for (std::size_t i = 0; i < places.size(); ++i) lanes[places[i]] = refined.lanes[i];
  lanes = within_bytes(facts, std::move(lanes));
  if (!refined.why.empty()) limit = refined.held_by;
  return refined.why;
}

DemandFacts AutoController::demand_facts(const Known& known, const ControllerInput& input, const Sources& sources,
                                         const Goal& goal, int lanes) {
  const MonoTime now = input.now;
  DemandFacts facts{.wanted = goal.wanted(), .exact = goal.target > 0, .full = full(known, now, sources)};
  if (input.limit_bits_per_s > 0) facts.wanted = std::min(facts.wanted, static_cast<double>(input.limit_bits_per_s));
  facts.paced = goal.polite && !facts.exact;
  facts.at_floor =
      facts.paced && known.pace_now > 0 && known.pace_now <= std::max(kAboveFloor * goal.floor, kLeastPace);
  facts.held_back = known.pace_now > 0 && known.pace_now < kForOthers * facts.wanted;
  facts.bits_per_s = rate_of(known, now, sources, kSettle);
  facts.lanes = lanes;
  facts.most = std::min(kMaxLanesPerPeer * static_cast<int>(sources.size()), most_lanes(input.host));
  facts.least = 0;
  for (const auto* source : sources) {
    const PathMeter& meter = known.sources.at(source->node).meter;
    const PathFigures path = meter.figures(now, kSettle);
    if (path.bits_per_s > 0) facts.round_trip = std::max(facts.round_trip, path.round_trip);
    facts.least += lanes_that_losses_take(meter.figures(now, kLossSpan), path.bits_per_s, facts);
  }
  return facts;
}

std::vector<RefinedSource> AutoController::refined_sources(const Known& known, MonoTime now, const Sources& sources,
                                                           const std::vector<int>& start) {
  std::vector<RefinedSource> refined;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const NodeId& node = sources[i]->node;
    const auto& [known_path, meter, recollection, congestion] = known.sources.at(node);
    PathFigures path = meter.figures(now, kLossSpan);
    const PathFigures recent = meter.figures(now, kWindowSpan);
    path.bits_per_s = recent.bits_per_s;
    path.window_limited = recent.window_limited;
    path.buffer_limited = recent.buffer_limited;
    refined.push_back({node, start[i], path, congestion.changes()});
  }
  return refined;
}

std::map<NodeId, std::string> AutoController::congestion_controls(Known& known, const ControllerInput& input,
                                                                  const Sources& sources, const StartFacts& facts,
                                                                  bool others_try) {
  const double rate = rate_of(known, input.now, sources, kSettle);
  std::map<NodeId, std::string> controls;
  for (const auto* peer : sources) {
    Source& source = known.sources.at(peer->node);
    CongestionFacts now;
    now.path = source.meter.figures(input.now, kLossSpan);
    now.recent = source.meter.figures(input.now, kTrial);
    now.granted = grants_bbr(*peer);
    const auto& memory = source.recollection.memory();
    if (memory && memory->facts.asked) now.remembered = memory->facts.loss_events_per_segment;
    now.polite = facts.polite && !known.late;
    now.others_try = others_try || known.swarms;  // what is kept stays; nothing new is tried
    now.seconds_left = rate > 0 ? static_cast<double>(input.bytes_left) * 8 / rate : 0;
    now.limit_bits_per_s = static_cast<double>(facts.limit_bits_per_s);
    controls[peer->node] = source.congestion.step(input.now, now);
  }
  return controls;
}

/// "; BBR brought 95 instead of 71 Mbit/s", or of several: "; 2 of 3 asked for BBR".
std::string AutoController::congestion_text(const Known& known, const Sources& sources) {
  const auto choice = [&](const PeerSample* peer) -> const CongestionChoice& {
    return known.sources.at(peer->node).congestion;
  };
  if (sources.size() == 1) {
    const std::string& why = choice(sources.front()).why();
    return why.empty() ? "" : "; " + why;
  }
  const auto asked = std::ranges::count_if(sources, [&](const auto* peer) { return choice(peer).asks(); });
  return asked == 0 ? "" : "; " + std::to_string(asked) + " of " + std::to_string(sources.size()) + " asked for BBR";
}

double AutoController::rate_of(const Known& known, MonoTime now, const Sources& sources,
                               std::chrono::milliseconds span) {
  double rate = 0;
  for (const auto* source : sources) rate += known.sources.at(source->node).meter.figures(now, span).bits_per_s;
  return rate;
}

bool AutoController::full(const Known& known, MonoTime now, const Sources& sources) {
  return std::ranges::any_of(sources, [&](const PeerSample* source) {
    return known.sources.at(source->node).meter.figures(now, kSettle).full();
  });
}

std::uint64_t AutoController::paced(Known& known, MonoTime now, const Goal& goal, const Sources& sources) {
  PathFigures counts;
  for (const auto* source : sources) {
    const PathFigures path = known.sources.at(source->node).meter.figures(now, kLossSpan);
    if (path.bits_per_s >= counts.bits_per_s) counts = path;  // that of the source that brings most
  }
  const PaceFacts facts = polite_facts(counts, rate_of(known, now, sources, kPaceSpan));
  return static_cast<std::uint64_t>(known.pace.step(now, goal, facts));
}

}  // namespace gridtorrent::client::tuning
