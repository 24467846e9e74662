#include "tracker/core/dial_turns.h"

#include <algorithm>
#include <iterator>

#include "common/check.h"

namespace gridtorrent::tracker {

bool DialTurns::add(const UserId& user, const Dial& dial, MonoTime now) {
  Line& line = lines_[user];
  if (line.waiting.size() >= limits_.waiting_of_user) return false;
  line.waiting.push_back({dial, now + limits_.patience});
  return true;
}

std::optional<DialTurns::Turn> DialTurns::next() {
  if (running_ >= limits_.at_once || lines_.empty()) return std::nullopt;
  auto line = lines_.upper_bound(last_);
  for (std::size_t seen = 0; seen < lines_.size(); ++seen, ++line) {
    if (line == lines_.end()) line = lines_.begin();
    if (line->second.waiting.empty() || line->second.running >= limits_.at_once_of_user) continue;
    const Turn turn{line->first, line->second.waiting.front().dial};
    line->second.waiting.pop_front();
    ++line->second.running;
    ++running_;
    last_ = line->first;
    return turn;
  }
  return std::nullopt;
}

void DialTurns::ended(const UserId& user) {
  const auto line = lines_.find(user);
  GT_CHECK(line != lines_.end() && line->second.running > 0);
  --line->second.running;
  --running_;
  forget_empty(line);
}

std::vector<Dial> DialTurns::expire(MonoTime now) {
  std::vector<Dial> expired;
  for (auto line = lines_.begin(); line != lines_.end();) {
    auto& waiting = line->second.waiting;
    while (!waiting.empty() && waiting.front().until <= now) {
      expired.push_back(waiting.front().dial);
      waiting.pop_front();
    }
    forget_empty(line++);
  }
  return expired;
}

std::optional<MonoTime> DialTurns::next_expiry() const {
  std::optional<MonoTime> soonest;
  for (const auto& [user, line] : lines_) {
    if (line.waiting.empty()) continue;
    soonest = std::min(soonest.value_or(line.waiting.front().until), line.waiting.front().until);
  }
  return soonest;
}

void DialTurns::forget_empty(std::map<UserId, Line>::iterator line) {
  if (line->second.waiting.empty() && line->second.running == 0) lines_.erase(line);
}

}  // namespace gridtorrent::tracker
