#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/ids.h"

namespace gridtorrent::client {

/// How far a watcher of all transfers has come. A value: the journal keeps nothing for a watcher, so one that does not
/// read costs nothing.
struct JournalPlace {
  std::string epoch;           ///< of the journal; empty: nothing was seen
  std::uint64_t revision = 0;  ///< all up to here was told, but for what a snapshot still has to tell
  bool snapshot = false;       ///< within a snapshot
  TransferId last;             ///< of a snapshot: the last one that was told; nil: none
};

/// What comes next for a watcher.
struct JournalPage {
  bool snapshot = false, last_page = false;
  std::uint64_t revision = 0;  ///< what holds once this is told
  std::vector<TransferId> changed, removed;
};

/// Which transfers changed, in the order of their last change: a watcher gets each of them once, however often it
/// changed meanwhile. Ids alone, no clock and no lock: guarded by the mutex of the book that owns it.
class TransferJournal {
 public:
  /// Ids of removed transfers that are kept. Who has seen less gets a snapshot.
  static constexpr std::size_t kRemoved = 16'384;

  /// `epoch` names the process.
  explicit TransferJournal(std::string epoch) : epoch_(std::move(epoch)) {}

  /// It is new, or has changed.
  void touched(const TransferId& id);
  /// Nothing happens where it is not known.
  void removed(const TransferId& id);
  /// Something else that watchers are told of has changed.
  void touched_otherwise() { ++revision_; }

  const std::string& epoch() const { return epoch_; }
  /// Grows with each change.
  std::uint64_t revision() const { return revision_; }
  /// Transfers in all.
  std::size_t size() const { return latest_.size(); }

  /// What `place` has to see next: of changes up to revision `until`, or the next part of a snapshot; `most` ids of
  /// transfers at most. `place` moves on. Nothing where all of it was told.
  std::optional<JournalPage> next(JournalPlace& place, std::uint64_t until, std::size_t most) const;

 private:
  bool knows(const JournalPlace& place) const;
  JournalPage snapshot_page(JournalPlace& place, std::size_t most) const;
  JournalPage changes_page(JournalPlace& place, std::uint64_t until, std::size_t most) const;

  const std::string epoch_;
  std::uint64_t revision_ = 1;                            ///< 0 is that of a watcher who has seen nothing
  std::unordered_map<TransferId, std::uint64_t> latest_;  ///< revision of the last change
  std::set<TransferId> ids_;                              ///< of these, for snapshots
  std::map<std::uint64_t, TransferId> by_change_;         ///< as latest_, the other way round
  std::deque<std::pair<std::uint64_t, TransferId>> removed_;
  std::uint64_t removals_lost_ = 0;  ///< revision of the last removal that is not kept any more
};

}  // namespace gridtorrent::client
