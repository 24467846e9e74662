#include "client/core/transfer_journal.h"

#include <algorithm>

namespace gridtorrent::client {

void TransferJournal::touched(const TransferId& id) {
  ++revision_;
  const auto [found, is_new] = latest_.try_emplace(id, revision_);
  if (is_new) {
    ids_.insert(id);
    by_change_.emplace_hint(by_change_.end(), revision_, id);
    return;
  }
  auto change = by_change_.extract(std::exchange(found->second, revision_));
  change.key() = revision_;
  by_change_.insert(by_change_.end(), std::move(change));
}

void TransferJournal::removed(const TransferId& id) {
  const auto found = latest_.find(id);
  if (found == latest_.end()) return;
  by_change_.erase(found->second);
  latest_.erase(found);
  ids_.erase(id);
  removed_.emplace_back(++revision_, id);
  if (removed_.size() <= kRemoved) return;
  removals_lost_ = removed_.front().first;
  removed_.pop_front();
}

bool TransferJournal::knows(const JournalPlace& place) const {
  if (place.epoch != epoch_ || place.revision > revision_) return false;
  return place.snapshot || place.revision >= removals_lost_;
}

std::optional<JournalPage> TransferJournal::next(JournalPlace& place, std::uint64_t until, std::size_t most) const {
  if (!knows(place)) place = {epoch_, revision_, true, {}};
  if (place.snapshot) return snapshot_page(place, most);
  if (place.revision >= until) return std::nullopt;
  return changes_page(place, until, most);
}

/// In the order of ids. What changes behind it has a later revision than the snapshot, and is told afterwards.
JournalPage TransferJournal::snapshot_page(JournalPlace& place, std::size_t most) const {
  JournalPage page;
  page.snapshot = true;
  auto one = ids_.upper_bound(place.last);
  for (; one != ids_.end() && page.changed.size() < most; ++one) page.changed.push_back(*one);
  if (!page.changed.empty()) place.last = page.changed.back();
  page.last_page = one == ids_.end();
  place.snapshot = !page.last_page;
  page.revision = place.revision;
  return page;
}

JournalPage TransferJournal::changes_page(JournalPlace& place, std::uint64_t until, std::size_t most) const {
  JournalPage page;
  auto change = by_change_.upper_bound(place.revision);
  auto removal = std::ranges::upper_bound(removed_, place.revision, {}, [](const auto& one) { return one.first; });
  while (true) {
    const bool changes = change != by_change_.end() && change->first <= until;
    const bool removals = removal != removed_.end() && removal->first <= until;
    if (!changes && !removals) {
      place.revision = until;
      break;
    }
    if (page.changed.size() + page.removed.size() == most) break;
    if (changes && (!removals || change->first < removal->first)) {
      place.revision = change->first;
      page.changed.push_back((change++)->second);
    } else {
      place.revision = removal->first;
      if (!latest_.contains(removal->second)) page.removed.push_back(removal->second);
      ++removal;
    }
  }
  page.revision = place.revision;
  return page;
}

}  // namespace gridtorrent::client
