#include "client/engine/shared_asking.h"

#include <algorithm>
#include <iterator>

namespace gridtorrent::client::engine {

std::uint64_t SharedAsking::part_of(const Asker& asker) const {
  const std::uint64_t rate = rate_;
  const bool waits = std::ranges::find(waiting_, &asker) != waiting_.end();
  return rate / std::max<std::size_t>(waiting_.size() + (waits ? 0 : 1), 1);
}

std::vector<Asker*> SharedAsking::ready(MonoTime now) const {
  std::vector<Asker*> ready;
  std::ranges::copy_if(waiting_, std::back_inserter(ready), [&](Asker* a) { return a->may_ask_next(now); });
  return ready;
}

bool SharedAsking::may_ask(Asker& asker, MonoTime now) {
  shared_.set_rate(rate_);
  if (!shared_.limits()) return true;
  std::vector<Asker*> all = ready(now);
  if (std::ranges::find(all, &asker) == all.end()) all.push_back(&asker);
  const auto next = shared_.next(now, all);
  return next && all[*next] == &asker;
}

void SharedAsking::asked(Asker& asker, std::uint64_t bytes, MonoTime now) {
  shared_.pass(now, &asker, bytes);
}

void SharedAsking::waits(Asker& asker, bool waits) {
  const auto found = std::ranges::find(waiting_, &asker);
  if (waits && found == waiting_.end()) waiting_.push_back(&asker);
  if (!waits && found != waiting_.end()) waiting_.erase(found);
}

void SharedAsking::go_on(MonoTime now) {
  shared_.set_rate(rate_);
  while (true) {
    const std::vector<Asker*> all = ready(now);
    const auto next = shared_.next(now, all);
    if (!next) return;
    shared_.pass(now, all[*next], all[*next]->ask_next(now));
  }
}

}  // namespace gridtorrent::client::engine
