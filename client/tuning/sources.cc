#include "client/tuning/sources.h"

#include <algorithm>
#include <cstdint>

namespace gridtorrent::client::tuning {
namespace {

/// FNV-1a over both ids: a tie-breaker that differs from node to node but not from call to call.
std::uint64_t spread(const NodeId& self, const NodeId& peer) {
  std::uint64_t mixed = 1469598103934665603U;
  for (std::size_t i = 0; i < self.bytes().size(); ++i) {
    mixed = (mixed ^ static_cast<std::uint64_t>(self.bytes()[i] ^ peer.bytes()[i])) * 1099511628211U;
  }
  return mixed;
}

struct Source {
  const PeerSample* peer;
  std::uint64_t tie;
};

bool better(const Source& a, const Source& b) {
  if (a.peer->in_vain != b.peer->in_vain) return a.peer->in_vain < b.peer->in_vain;
  if (a.peer->stands != b.peer->stands) return a.peer->stands;
  if (a.peer->complete != b.peer->complete) return a.peer->complete;
  return a.tie < b.tie;
}

/// Who has many sources needs no second lane to any of them, and pieces spread faster among nodes that know many.
std::size_t most_sources(const ControllerInput& input) {
  if (input.seeders_wish > 0) return static_cast<std::size_t>(std::min(input.seeders_wish, kMaxLanesInAll));
  const int lanes = std::clamp(input.lanes_wish, 1, kMaxLanesPerPeer);
  return static_cast<std::size_t>(std::min(kEvenLanesInAll, kMaxLanesInAll / lanes));
}

}  // namespace

std::vector<const PeerSample*> choose_sources(const ControllerInput& input) {
  std::vector<Source> sources;
  for (const auto& peer : input.peers) {
    if (!peer.has_data || peer.node.is_nil() || peer.node == input.self) continue;
    sources.push_back({&peer, spread(input.self, peer.node)});
  }
  std::ranges::sort(sources, better);
  sources.resize(std::min(sources.size(), most_sources(input)));
  std::vector<const PeerSample*> chosen;
  for (const auto& source : sources) chosen.push_back(source.peer);
  return chosen;
}

int even_lanes(int lanes_wish, std::size_t sources) {
  const int count = std::max<int>(1, static_cast<int>(sources));
  if (lanes_wish > 0) return std::max(1, std::min({lanes_wish, kMaxLanesPerPeer, kMaxLanesInAll / count}));
  return std::max(1, std::min(kEvenLanesPerPeer, kEvenLanesInAll / count));
}

std::string describe_even(int lanes, std::size_t sources) {
  return std::to_string(lanes) + (lanes == 1 ? " lane" : " lanes") + " to each of " + std::to_string(sources) +
         (sources == 1 ? " peer" : " peers");
}

}  // namespace gridtorrent::client::tuning
