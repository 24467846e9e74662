#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "client/core/node.h"

namespace gridtorrent::client {

/// Changes transfers one by one by the calls for one.
inline ChangeOutcome change_each(Node& node, const std::vector<TransferId>& ids, const TransferChange& change) {
  ChangeOutcome outcome;
  for (const auto& id : ids) {
    const auto changed = [&] {
      if (change.kind == ChangeKind::kPause) return node.pause(id);
      if (change.kind == ChangeKind::kResume) return node.resume(id);
      if (change.kind != ChangeKind::kSet) return node.cancel(id);
      return node.set(id, change.settings);
    }();
    if (changed) {
      ++outcome.changed;
    } else {
      outcome.failures.emplace_back(id, changed.error());
    }
  }
  return outcome;
}

/// The part of a fake Node that watchers of all transfers see. Thread-safe.
class PlayedTransfers {
 public:
  void put(const TransferView& view) {
    change([&] {
      views_[view.id] = view;
      journal_.touched(view.id);
    });
  }
  void remove(const TransferId& id) {
    change([&] {
      views_.erase(id);
      journal_.removed(id);
    });
  }
  std::optional<TransfersUpdate> next(JournalPlace& place, std::uint64_t until, const NodeLimits& limits) {
    const std::lock_guard lock(mutex_);
    auto page = journal_.next(place, until, kTransfersPage);
    if (!page) return std::nullopt;
    TransfersUpdate update{std::move(*page), journal_.epoch(), journal_.size(), limits, {}, {}};
    for (const auto& id : update.page.changed) update.changed.push_back(views_.at(id));
    return update;
  }
  std::uint64_t revision() {
    const std::lock_guard lock(mutex_);
    return journal_.revision();
  }
  void ring_after(std::uint64_t seen, std::function<void()> bell) {
    const std::lock_guard lock(mutex_);
    bell_ = std::move(bell);
    if (journal_.revision() > seen) ring();
  }

 private:
  template <class Edit>
  void change(const Edit& edit) {
    const std::lock_guard lock(mutex_);
    edit();
    ring();
  }
  void ring() {
    if (const auto bell = std::exchange(bell_, {})) bell();
  }

  std::mutex mutex_;
  TransferJournal journal_{"this-process"};
  std::map<TransferId, TransferView> views_;
  std::function<void()> bell_;
};

}  // namespace gridtorrent::client
