#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "ccm/domain/ports.h"
#include "common/ids.h"
#include "common/result.h"

namespace gridtorrent::ccm::rpc {

/// Tells WatchInbox streams that there may be something new; they read it from the store. Thread-safe; wakes are called
/// outside the lock and must not block.
class InboxHub final : public InboxBell {
 public:
  using Ticket = std::uint64_t;
  static constexpr std::ptrdiff_t kMaxOfAPerson = 8;
  /// kExhausted.
  Result<Ticket> watch(const UserId& person, std::function<void()> wake) {
    const std::lock_guard lock(mutex_);
    const auto first = watchers_.lower_bound({person, 0});
    const auto last = watchers_.upper_bound({person, std::numeric_limits<Ticket>::max()});
    if (std::distance(first, last) >= kMaxOfAPerson) {
      return Error{Code::kExhausted, "your inbox is watched " + std::to_string(kMaxOfAPerson) +
                                         " times already, as often as is allowed; end one of these first"};
    }
    watchers_.emplace(std::pair(person, ++last_), std::make_shared<std::function<void()>>(std::move(wake)));
    return last_;
  }
  /// After it returned no new wake starts; one that runs on another thread may still be under way.
  void unwatch(const UserId& person, Ticket ticket) {
    const std::lock_guard lock(mutex_);
    watchers_.erase({person, ticket});
  }
  void ring(const std::vector<UserId>& people) override {
    std::vector<std::shared_ptr<std::function<void()>>> wakes;
    {
      const std::lock_guard lock(mutex_);
      if (watchers_.empty()) return;
      for (const UserId& person : people) {
        for (auto one = watchers_.lower_bound({person, 0}); one != watchers_.end() && one->first.first == person; ++one)
          wakes.push_back(one->second);
      }
    }
    for (const auto& wake : wakes) (*wake)();
  }
  std::size_t watcher_count() const {
    const std::lock_guard lock(mutex_);
    return watchers_.size();
  }

 private:
  mutable std::mutex mutex_;
  Ticket last_ = 0;
  std::map<std::pair<UserId, Ticket>, std::shared_ptr<std::function<void()>>> watchers_;
};

}  // namespace gridtorrent::ccm::rpc
