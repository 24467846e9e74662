#include "client/core/rights.h"

#include <algorithm>
#include <utility>

namespace gridtorrent::client {
namespace {

/// A clock that was put back by less than this does no harm.
constexpr std::chrono::minutes kClockSlack{5};

}  // namespace

bool Rights::counts(WallTime confirmed, WallTime now) const {
  const auto age = now - confirmed;
  return age <= lifetime_ && age >= -kClockSlack;
}

void Rights::restore(std::vector<SavedAudience> lists, std::optional<WallTime> heard) {
  const std::lock_guard lock(mutex_);
  heard_ = heard;
  for (auto& one : lists) {
    const std::string id = one.list.ref.id;
    known_[id] = std::move(one);
  }
}

void Rights::hear(WallTime at) {
  const std::lock_guard lock(mutex_);
  heard_ = at;
}

std::optional<WallTime> Rights::heard() const {
  const std::lock_guard lock(mutex_);
  return heard_;
}

void Rights::learn(const AudienceList& list, WallTime now) {
  const std::lock_guard lock(mutex_);
  heard_ = now;
  const auto known = known_.find(list.ref.id);
  if (known != known_.end() && known->second.list.ref.version > list.ref.version) return;
  known_[list.ref.id] = {list, now};
}

void Rights::confirm(const std::vector<AudienceRef>& refs, WallTime now) {
  const std::lock_guard lock(mutex_);
  heard_ = now;
  for (const AudienceRef& ref : refs) {
    const auto known = known_.find(ref.id);
    if (known != known_.end() && known->second.list.ref == ref) known->second.confirmed = now;
  }
}

AudiencePtr Rights::audience(const std::string& id, WallTime now) const {
  const std::lock_guard lock(mutex_);
  const auto known = known_.find(id);
  if (known == known_.end() || !counts(known->second.confirmed, now)) return nullptr;
  return known->second.list.members;
}

bool Rights::serves_public(WallTime now) const {
  const std::lock_guard lock(mutex_);
  return heard_ && counts(*heard_, now);
}

std::optional<SavedAudience> Rights::saved(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto known = known_.find(id);
  return known == known_.end() ? std::nullopt : std::optional(known->second);
}

std::vector<SavedAudience> Rights::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<SavedAudience> lists;
  for (const auto& [id, one] : known_) lists.push_back(one);
  return lists;
}

std::vector<std::string> Rights::keep_only(const std::set<std::string>& used, WallTime before) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> dropped;
  for (const auto& [id, one] : known_) {
    if (!used.contains(id) && one.confirmed < before) dropped.push_back(id);
  }
  for (const std::string& id : dropped) known_.erase(id);
  return dropped;
}

}  // namespace gridtorrent::client
