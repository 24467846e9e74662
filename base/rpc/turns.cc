#include "base/rpc/turns.h"

#include <algorithm>
#include <utility>

namespace gridtorrent::rpc {

std::optional<Turn> TurnQueue::push(Turn turn) {
  Line& line = turn.rank == Rank::kKnown ? known_ : strangers_;
  const auto own = line.by_key.find(turn.key);
  const std::size_t held = own == line.by_key.end() ? 0 : own->second.size();
  if (held >= (turn.rank == Rank::kKnown ? limits_.of_known_key : limits_.of_key)) return turn;
  std::optional<Turn> displaced;
  if (line.size >= limits_.of_rank) {
    if (held == 0) displaced = displace(line);
    if (!displaced) return turn;
  }
  if (held == 0) line.order.push_back(turn.key);
  std::deque<Turn>& waiting = line.by_key[turn.key];
  waiting.push_back(std::move(turn));
  ++line.size;
  return displaced;
}

std::optional<Turn> TurnQueue::displace(Line& line) {
  const auto most = std::max_element(line.by_key.begin(), line.by_key.end(),
                                     [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  if (most == line.by_key.end() || most->second.size() < 2) return std::nullopt;
  Turn last = std::move(most->second.back());
  most->second.pop_back();
  --line.size;
  return last;
}

std::optional<Turn> TurnQueue::pop() {
  const bool strangers_turn = known_in_a_row_ >= kKnownInARow && strangers_.size > 0;
  if (known_.size > 0 && !strangers_turn) {
    ++known_in_a_row_;
    return take_front(known_);
  }
  known_in_a_row_ = 0;
  if (strangers_.size == 0) return std::nullopt;
  return take_front(strangers_);
}

Turn TurnQueue::take_front(Line& line) {
  const std::string key = std::move(line.order.front());
  line.order.pop_front();
  const auto own = line.by_key.find(key);
  Turn first = std::move(own->second.front());
  own->second.pop_front();
  --line.size;
  if (own->second.empty()) {
    line.by_key.erase(own);
  } else {
    line.order.push_back(key);
  }
  return first;
}

}  // namespace gridtorrent::rpc
