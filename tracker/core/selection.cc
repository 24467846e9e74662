#include "tracker/core/selection.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace gridtorrent::tracker {

namespace {

void shuffle(std::vector<Peer>& peers, Rng& rng) {
  for (std::size_t left = peers.size(); left > 1; --left) {
    std::swap(peers[left - 1], peers[static_cast<std::size_t>(rng.below(left))]);
  }
}

bool is_hidden(const Peer& peer) {
  return peer.reachability == Reachability::kUnreachable;
}

void move_some(std::vector<Peer>& from, std::size_t count, std::vector<Peer>& to) {
  const auto end = from.begin() + static_cast<std::ptrdiff_t>(std::min(count, from.size()));
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(end));
  from.erase(from.begin(), end);
}

/// One of each owner, then another of each, and so on; otherwise in the order that they had. Of an owner no more than
/// `most`.
void take_turns(std::vector<Peer>& peers, std::size_t most) {
  std::vector<std::vector<Peer>> turns(most);
  std::unordered_map<UserId, std::size_t> taken;
  for (Peer& peer : peers) {
    const std::size_t turn = taken[peer.owner]++;
    if (turn < most) turns[turn].push_back(std::move(peer));
  }
  peers.clear();
  for (std::vector<Peer>& turn : turns) move_some(turn, turn.size(), peers);
}

/// Random, but for a requester that nobody can dial those first that it can; then by turns of owners. Who was not tried
/// counts as reachable.
void arrange(std::vector<Peer>& peers, const Peer& requester, std::size_t most, Rng& rng) {
  shuffle(peers, rng);
  if (is_hidden(requester)) {
    std::stable_partition(peers.begin(), peers.end(), [](const Peer& peer) { return !is_hidden(peer); });
  }
  take_turns(peers, most);
}

}  // namespace

std::vector<Peer> select_peers(const Peer& requester, const std::vector<Peer>& candidates,
                               const SelectionLimits& limits, Rng& rng) {
  std::vector<Peer> complete;
  std::vector<Peer> incomplete;
  for (const Peer& candidate : candidates) {
    if (candidate.node == requester.node || !concerns(candidate, requester)) continue;
    (candidate.complete ? complete : incomplete).push_back(candidate);
  }
  arrange(complete, requester, limits.max_peers, rng);
  arrange(incomplete, requester, limits.max_peers, rng);

  std::vector<Peer> chosen;
  const std::size_t complete_share = std::max(limits.min_complete, limits.max_peers / 2);
  move_some(complete, std::min(complete_share, limits.max_peers), chosen);
  move_some(incomplete, limits.max_peers - chosen.size(), chosen);
  move_some(complete, limits.max_peers - chosen.size(), chosen);
  return chosen;
}

bool concerns(const Peer& changed, const Peer& listener) {
  return changed.node != listener.node && (changed.wants_data || listener.wants_data);
}

}  // namespace gridtorrent::tracker
