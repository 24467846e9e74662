#pragma once

#include <chrono>
#include <mutex>

#include "common/clock.h"

namespace gridtorrent::client::engine {

/// How long something was under way, added up; what overlaps counts once. Thread-safe.
class BusyTime {
 public:
  void begin(MonoTime now) {
    const std::lock_guard lock(mutex_);
    if (under_way_++ == 0) since_ = now;
  }
  /// One for each `begin`.
  void end(MonoTime now) {
    const std::lock_guard lock(mutex_);
    if (--under_way_ == 0) total_ += now - since_;
  }
  /// Until `now`.
  std::chrono::microseconds total(MonoTime now) const {
    const std::lock_guard lock(mutex_);
    return std::chrono::duration_cast<std::chrono::microseconds>(under_way_ > 0 ? total_ + (now - since_) : total_);
  }

 private:
  mutable std::mutex mutex_;
  int under_way_ = 0;
  MonoTime since_{};
  std::chrono::nanoseconds total_{0};
};

/// What a node waits for its disk.
struct DiskTimes {
  BusyTime held;   ///< connections that bring data are not read from, since too much waits to be written
  BusyTime reads;  ///< blocks that others asked for are being read
};

}  // namespace gridtorrent::client::engine
