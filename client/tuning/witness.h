#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/plan/controller.h"
#include "client/plan/findings.h"
#include "client/plan/memory.h"

namespace gridtorrent::client::tuning {

/// From a change of the lanes to a source until its figures count: they cover five seconds (Findings).
inline constexpr std::chrono::seconds kUnsettled{5};
/// A look counts for the time since the one before, but for no more than this: looks are a second apart.
inline constexpr std::chrono::seconds kLookCounts{2};
/// So much settled time makes a record: CUBIC still has slow start's windows for 10 to 40 s.
inline constexpr std::chrono::seconds kRemembered{30};
/// A shorter transfer makes one as well where it fetched all it wanted, ran so long, and was settled half of the time.
inline constexpr std::chrono::seconds kShortest{10};
/// After so much settled time another transfer of the same node is told.
inline constexpr std::chrono::seconds kTellOthers{5};

/// `whole`: the transfer has all that it wanted.
bool worth_remembering(std::chrono::duration<double> settled, std::chrono::duration<double> elapsed, bool whole);

/// Gathers what one transfer finds out about the paths from its complete seeders. Only settled time counts. A second is
/// none where a person asked for something (lanes, a limit, a target, a floor, a deadline, another mode than balanced),
/// where this node's processor or disk is what limits, where the seeder paces, where the tuner has just changed the
/// lanes, and where another transfer of this node fetches from the same seeder. A value: no thread, no clock.
class PathWitness {
 public:
  /// About once a second: what the tuner was told, what it answered, and what limits.
  void look(const ControllerInput& input, const Plan& plan, const Findings& findings);
  /// What is worth a record now.
  std::vector<PathFacts> facts(bool whole) const;
  /// What is known of one path so far; nothing before `kTellOthers` of settled time.
  std::optional<PathFacts> so_far(const NodeId& node) const;
  /// What was found out of one node, or of all, is as if it had never been seen.
  void forget(const std::optional<NodeId>& node);

 private:
  using Seconds = std::chrono::duration<double>;
  struct Source {
    int lanes = 0;
    std::string asked{};  ///< congestion control, by the tuner
    MonoTime changed{};
    Seconds settled{0};
    double bits = 0, total_bits = 0;  ///< over the settled time
    double losses = 0;                ///< rate times seconds
    std::map<Limit, double> limits{};
    PathFacts last{};
  };
  void note(const ControllerInput& input, const PeerSample& peer, const SourceFindings& found, Seconds time,
            const Findings& findings);
  PathFacts facts_of(const Source& source) const;

  std::map<NodeId, Source> sources_;
  std::optional<MonoTime> looked_;
  Seconds elapsed_{0};
  std::optional<std::uint64_t> bytes_;  ///< to come at the first look
};

}  // namespace gridtorrent::client::tuning
