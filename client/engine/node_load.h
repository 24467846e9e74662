#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "client/core/engine.h"
#include "client/engine/busy_time.h"

namespace gridtorrent::client::engine {

/// The share of the last five seconds that a growing sum of time took, 0 to 1. A value.
class RecentShare {
 public:
  static constexpr std::chrono::seconds kOver{5};  ///< single seconds differ by a third
  /// About once a second. `so_far`: the sum until now.
  double look(MonoTime now, std::chrono::nanoseconds so_far);

 private:
  std::deque<std::pair<MonoTime, std::chrono::nanoseconds>> looks_;
};

/// What the calling thread ran on a core or waited for one, over its life (Linux: /proc/thread-self/schedstat); 0 where
/// the kernel does not tell.
std::chrono::nanoseconds wanted_core();

/// How busy the engine is. Thread-safe, but for `tick`.
class NodeLoad {
 public:
  explicit NodeLoad(std::shared_ptr<const DiskTimes> disk) : disk_(std::move(disk)) {}
  /// Once a second, in the network thread.
  void tick(MonoTime now);
  EngineLoad load() const;

 private:
  const std::shared_ptr<const DiskTimes> disk_;
  RecentShare thread_, held_, reads_;
  mutable std::mutex mutex_;
  EngineLoad load_;
};

}  // namespace gridtorrent::client::engine
