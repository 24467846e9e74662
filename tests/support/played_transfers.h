#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "client/core/node.h"

namespace gridtorrent::client {

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
    TransfersUpdate update{std::move(*page), journal_.epoch(), journal_.size(), limits, {}};
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
