#pragma once

#include <chrono>
#include <optional>

#include "common/clock.h"

namespace gridtorrent::client::cli {

/// Lets an event through twice a second at most. Used from one thread.
class Pace {
 public:
  bool due(MonoTime now) {
    if (last_ && now - *last_ < kInterval) return false;
    last_ = now;
    return true;
  }
  /// Lets the next one through, however soon it comes.
  void hurry() { last_.reset(); }

 private:
  static constexpr std::chrono::milliseconds kInterval{500};
  std::optional<MonoTime> last_;
};

}  // namespace gridtorrent::client::cli
