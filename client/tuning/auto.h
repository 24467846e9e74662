#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/plan/controller.h"
#include "client/tuning/congestion_choice.h"
#include "client/tuning/demand.h"
#include "client/tuning/goal.h"
#include "client/tuning/pace.h"
#include "client/tuning/path_meter.h"
#include "client/tuning/recollection.h"
#include "client/tuning/refinement.h"
#include "client/tuning/start.h"

namespace gridtorrent::client::tuning {

/// The tuner that a person gets who chooses nothing. It starts as the first handshake tells (start.h), or as the path
/// is remembered while nothing speaks against it (recollection.h); where complete sources bring nearly all, it then
/// follows what their TCP tells of losses and windows (refinement.h). Where a person asked for a number of lanes, that
/// is the plan. A target, a floor or a deadline (goal.h) is held by a limit of its own (pace.h) and by more lanes where
/// others are on the path (demand.h). Sources that grant it are asked for BBR where that helps (congestion_choice.h).
///
/// It remembers, until `removed`: how many bytes a transfer began with, what each path showed first, and the last half
/// minute of each source's figures. A path that turned out to be near or to carry BBR stays so for the transfer: what a
/// busy machine adds to a round trip must not open and close lanes.
class AutoController final : public TransferController {
 public:
  Plan plan(const ControllerInput& input) override;
  void removed(const TransferId& transfer) override { transfers_.erase(transfer); }

 private:
  struct Source {
    Path path;
    PathMeter meter;
    Recollection recollection;
    CongestionChoice congestion;
  };
  struct Known {
    std::uint64_t bytes = 0;  ///< the most that was ever left
    std::map<NodeId, Source> sources;
    Refinement refinement;
    MonoTime planned{};  ///< when it was last asked
    MonoTime refined{};  ///< when its lanes were last looked at for a change
    Pace pace;
    double pace_told = 0;  ///< in the reason, for others' sake; 0: none
    Demand demand;
    Lateness lateness;
    double pace_now = 0;            ///< what it limits itself to; 0: nothing
    bool late = false;              ///< as it said last
    std::optional<MonoTime> began;  ///< the first data came
    bool swarms = false;            ///< neighbours bring a part of it, or may be about to
  };
  using Sources = std::vector<const PeerSample*>;

  /// Rates of targets are looked at over so long.
  static constexpr std::chrono::seconds kPaceSpan{1};
  /// A pace for others' sake is told anew where it is so many times another.
  static constexpr double kPaceSteps = 2;
  /// Neighbours that bring less than this part are none to speak of: what the seeders' lanes carry is what counts.
  /// Where they once brought so much, half of it counts still, so that lanes do not come and go around it.
  static constexpr double kOfNeighbours = 0.1, kLeastOfNeighbours = 0.05;
  /// Neighbours that began at the same time have something to give after some seconds.
  static constexpr std::chrono::seconds kSwarmShows{10};

  /// A time without plans is over.
  static void interrupted(Known& known, MonoTime now);
  /// What is being tried is void.
  static void trials_end(Known& known, MonoTime now);
  static Plan chosen_plan(Known& known, const ControllerInput& input, const Sources& sources, const Goal& goal,
                          bool others_try);
  /// Another transfer from one of this one's sources has something to prove.
  bool others_try(const Known& known, const ControllerInput& input) const;
  static std::vector<RefinedSource> refined_sources(const Known& known, MonoTime now, const Sources& sources,
                                                    const std::vector<int>& start);
  static std::string pace_text(Known& known, double pace);
  static Sources seeders_among(const Sources& sources, const StartFacts& facts);
  static void note_swarm(Known& known, MonoTime now, const Sources& sources, const Sources& seeders);
  /// Moves the lanes to complete sources; why, and what holds a lane up, of the last change.
  static std::string refine(Known& known, MonoTime now, const Sources& sources, const StartFacts& facts,
                            RefinementFacts whole, std::vector<int>& lanes, Limit& limit);
  static DemandFacts demand_facts(const Known& known, const ControllerInput& input, const Sources& sources,
                                  const Goal& goal, int lanes);
  /// What to ask each of these for.
  static std::map<NodeId, std::string> congestion_controls(Known& known, const ControllerInput& input,
                                                           const Sources& sources, const StartFacts& facts,
                                                           bool others_try);
  static std::string congestion_text(const Known& known, const Sources& sources);
  static double rate_of(const Known& known, MonoTime now, const Sources& sources, std::chrono::milliseconds span);
  /// Packets wait on the path to at least one of them.
  static bool full(const Known& known, MonoTime now, const Sources& sources);
  static std::uint64_t paced(Known& known, MonoTime now, const Goal& goal, const Sources& sources);

  std::map<TransferId, Known> transfers_;
};

/// What is known of a path, from what was known before and what is seen now.
Path learn(const Path& known, const Path& seen);

}  // namespace gridtorrent::client::tuning
