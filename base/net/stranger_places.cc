#include "base/net/stranger_places.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

namespace gridtorrent::net {

struct StrangerPlaces::State : std::enable_shared_from_this<State> {
  struct Taken {
    std::string address;
    MonoTime since{};
    std::function<void()> evict = {};
    bool evicted = false;
    std::optional<MonoTime> idle_since = {};
  };
  /// What is to be called once the mutex is free.
  using Calls = std::vector<std::function<void()>>;

  const Limits limits;
  const Clock& clock;
  mutable std::mutex mutex;
  std::map<std::uint64_t, Taken> taken;         ///< by number, the oldest first
  std::map<std::string, std::size_t> standing;  ///< by address, without those that were evicted
  std::map<std::string, std::deque<std::pair<std::uint64_t, Admit>>> waiting;
  std::size_t waiting_count = 0, evicted_count = 0;
  bool closed = false;
  std::uint64_t last_id = 0;

  State(Limits wanted, const Clock& its_clock) : limits(wanted), clock(its_clock) {}

  static void run(const Calls& calls) {
    for (const auto& call : calls) call();
  }

  std::size_t standing_of(const std::string& address) const {
    const auto found = standing.find(address);
    return found == standing.end() ? 0 : found->second;
  }

  void count_out(const std::string& address) {
    const auto found = standing.find(address);
    if (--found->second == 0) standing.erase(found);
  }

  /// The address that gets the next place: the one with the fewest, then who waits longest.
  auto next_in_line() {
    return std::min_element(waiting.begin(), waiting.end(), [this](const auto& a, const auto& b) {
      const auto rank = [this](const auto& line) {
        return std::pair(standing_of(line.first), line.second.front().first);
      };
      return rank(a) < rank(b);
    });
  }

  void admit_waiting(Calls& calls) {
    while (waiting_count > 0 && taken.size() < limits.at_once) {
      const auto line = next_in_line();
      const std::uint64_t id = ++last_id;
      taken[id] = {.address = line->first, .since = clock.mono()};
      ++standing[line->first];
      calls.push_back([admit = std::move(line->second.front().second),
                       place = std::make_shared<Place>(shared_from_this(), id)] { admit(place); });
      line->second.pop_front();
      --waiting_count;
      if (line->second.empty()) waiting.erase(line);
    }
  }

  std::optional<std::uint64_t> longest_idle() const {
    std::optional<std::uint64_t> found;
    MonoTime since = clock.mono() - limits.least;
    for (const auto& [id, place] : taken) {
      if (place.evicted || !place.idle_since || *place.idle_since > since) continue;
      since = *place.idle_since;
      found = id;
    }
    return found;
  }

  /// Who is idle; or the oldest place of the address with the most, if it is time for it to go, for one that has
  /// `other` places.
  std::optional<std::uint64_t> next_to_evict(std::size_t other) const {
    if (standing.empty()) return std::nullopt;
    if (const auto idle = longest_idle()) return idle;
    const auto most = std::max_element(standing.begin(), standing.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    const auto oldest = std::find_if(taken.begin(), taken.end(), [&](const auto& entry) {
      return !entry.second.evicted && entry.second.address == most->first;
    });
    const bool unfair = other + 1 < most->second;
    const auto age = clock.mono() - oldest->second.since;
    if (age < (unfair ? limits.least : limits.most)) return std::nullopt;
    return oldest->first;
  }

  /// One place at most, so that each who waits costs one.
  void evict_for(const std::string& address, Calls& calls) {
    if (evicted_count >= waiting_count) return;
    const auto id = next_to_evict(standing_of(address));
    if (!id) return;
    Taken& place = taken[*id];
    place.evicted = true;
    ++evicted_count;
    count_out(place.address);
    if (place.evict) calls.push_back(std::move(place.evict));
  }

  void leave(std::uint64_t id) {
    Calls calls;
    {
      const std::lock_guard lock(mutex);
      const auto found = taken.find(id);
      if (found == taken.end()) return;
      if (found->second.evicted) {
        --evicted_count;
      } else {
        count_out(found->second.address);
      }
      taken.erase(found);
      admit_waiting(calls);
    }
    run(calls);
  }
};

void StrangerPlaces::Place::leave() {
  if (!left_.exchange(true)) state_->leave(id_);
}

void StrangerPlaces::Place::set_busy(bool busy) {
  if (left_ || busy_.exchange(busy) == busy) return;
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->taken.find(id_);
  if (found == state_->taken.end()) return;
  found->second.idle_since = busy ? std::nullopt : std::optional(state_->clock.mono());
}

void StrangerPlaces::Place::on_evicted(std::function<void()> evict) {
  {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->taken.find(id_);
    if (found == state_->taken.end()) return;
    if (!found->second.evicted) {
      found->second.evict = std::move(evict);
      return;
    }
  }
  evict();
}

StrangerPlaces::StrangerPlaces(Limits limits, const Clock& clock) : state_(std::make_shared<State>(limits, clock)) {}

std::uint64_t StrangerPlaces::wait(const std::string& address, Admit admit) {
  State::Calls calls;
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->closed) return 0;
    number = ++state_->last_id;
    state_->waiting[address].emplace_back(number, std::move(admit));
    ++state_->waiting_count;
    state_->admit_waiting(calls);
    state_->evict_for(address, calls);
  }
  State::run(calls);
  return number;
}

void StrangerPlaces::forget(const std::string& address, std::uint64_t number) {
  Admit forgotten;
  const std::lock_guard lock(state_->mutex);
  const auto line = state_->waiting.find(address);
  if (line == state_->waiting.end()) return;
  const auto found = std::ranges::find(line->second, number, [](const auto& entry) { return entry.first; });
  if (found == line->second.end()) return;
  forgotten = std::move(found->second);
  line->second.erase(found);
  --state_->waiting_count;
  if (line->second.empty()) state_->waiting.erase(line);
}

void StrangerPlaces::tick() {
  State::Calls calls;
  {
    const std::lock_guard lock(state_->mutex);
    for (const auto& line : state_->waiting) state_->evict_for(line.first, calls);
  }
  State::run(calls);
}

void StrangerPlaces::close() {
  decltype(state_->waiting) forgotten;
  const std::lock_guard lock(state_->mutex);
  state_->closed = true;
  state_->waiting_count = 0;
  forgotten.swap(state_->waiting);
}

std::size_t StrangerPlaces::taken() const {
  const std::lock_guard lock(state_->mutex);
  return state_->taken.size();
}

std::size_t StrangerPlaces::waiting() const {
  const std::lock_guard lock(state_->mutex);
  return state_->waiting_count;
}

}  // namespace gridtorrent::net
