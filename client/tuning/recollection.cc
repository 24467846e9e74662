#include "client/tuning/recollection.h"

#include <algorithm>

#include "client/tuning/bottleneck.h"
#include "client/tuning/history.h"

namespace gridtorrent::client::tuning {

void Recollection::look(const ControllerInput& input, const PeerSample& source, const Path& path,
                        const PathMeter& meter) {
  if (!looked_) {
    const auto known =
        std::ranges::find(input.memories, source.node, [](const PathMemory& memory) { return memory.facts.node; });
    if (known != input.memories.end() && known->facts.lanes > 0) memory_ = *known;
  }
  looked_ = true;
  if (!memory_) return;
  PathFigures seen = meter.figures(input.now, PathMeter::kBest);
  // The own end of a lane has a round trip before the sender has told its first figures.
  if (path.round_trip.count() > 0 && (seen.least_round_trip.count() == 0 || path.round_trip < seen.least_round_trip)) {
    seen.least_round_trip = path.round_trip;
  }
  // Its own; what it sends with now may be what it was asked for.
  if (!path.congestion_control.empty()) seen.congestion_control = path.congestion_control;
  const bool told = std::ranges::any_of(source.lanes, [](const auto& lane) { return lane.theirs.has_value(); });
  const bool given = !memory_->facts.asked || grants_bbr(source) || !told;
  if (given && !contradicts(memory_->facts, seen)) return;
  memory_.reset();
  refuted_ = true;
}

int Recollection::lanes(std::size_t sources) const {
  if (!memory_) return 0;
  const auto now = static_cast<std::int64_t>(std::max<std::size_t>(sources, 1));
  const auto then = std::int64_t{std::clamp(memory_->facts.lanes, 1, kMaxLanesPerPeer)} *
                    std::clamp(memory_->facts.sources, 1, kMaxLanesInAll);
  return static_cast<int>(std::clamp<std::int64_t>((then + now - 1) / now, 1, kMaxLanesPerPeer));
}

std::string with_recollection(const std::vector<const Recollection*>& paths, const std::string& lanes_text,
                              std::string otherwise) {
  const auto believed =
      std::ranges::count_if(paths, [](const Recollection* path) { return path->memory().has_value(); });
  if (believed == 1 && paths.size() == 1) return lanes_text + " (" + remembered_text(*paths.front()->memory()) + ")";
  if (believed > 0) {
    return lanes_text + " (as " + std::to_string(believed) + " of " + std::to_string(paths.size()) +
           " paths are remembered)";
  }
  if (std::ranges::any_of(paths, &Recollection::refuted)) otherwise += "; the path is not as it was remembered";
  return otherwise;
}

}  // namespace gridtorrent::client::tuning
