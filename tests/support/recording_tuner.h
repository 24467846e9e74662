#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "client/tuning/fixed.h"

namespace gridtorrent::testing {

/// The fixed plan, with what it was asked and told. Thread-safe.
class RecordingTuner final : public client::TransferController {
 public:
  client::Plan plan(const client::ControllerInput& input) override {
    const std::lock_guard lock(mutex_);
    asked_[input.transfer] = input;
    return fixed_.plan(input);
  }
  void removed(const TransferId& transfer) override {
    const std::lock_guard lock(mutex_);
    removed_.insert(transfer);
  }
  /// The last question.
  std::optional<client::ControllerInput> asked(const TransferId& transfer) const {
    const std::lock_guard lock(mutex_);
    const auto found = asked_.find(transfer);
    return found == asked_.end() ? std::nullopt : std::optional(found->second);
  }
  bool was_removed(const TransferId& transfer) const {
    const std::lock_guard lock(mutex_);
    return removed_.contains(transfer);
  }

 private:
  mutable std::mutex mutex_;
  client::tuning::FixedController fixed_;
  std::map<TransferId, client::ControllerInput> asked_;
  std::set<TransferId> removed_;
};

}  // namespace gridtorrent::testing
