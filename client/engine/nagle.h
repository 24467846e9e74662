#pragma once

#include <chrono>
#include <optional>
#include <utility>

#include "common/clock.h"

namespace gridtorrent::client::engine {

/// Whether the small messages of a lane go out one by one (TCP_NODELAY) or together (Nagle's algorithm, RFC 896, by
/// which one waits until the one before has arrived). Requests must not wait. But a node tells all its neighbours of
/// each piece that it gets, and over a lane on which it asks for little these HAVEs are nearly all there is: in a swarm
/// of thirty with pieces of 16 KiB one by one they were half of all packets. It begins switched off. Pure; the caller
/// sets the socket's option as told.
class Nagle {
 public:
  /// A request is about to be sent. True: switch the algorithm off now.
  bool asks(MonoTime now) {
    asked_ = now;
    return !std::exchange(off_, true);
  }
  /// A HAVE was sent. True: switch the algorithm on now.
  bool tells(MonoTime now) {
    if (!off_ || (asked_ && now - *asked_ < kWrittenAfter)) return false;
    off_ = false;
    return true;
  }

 private:
  /// By then a request is in the socket, where switching on does not hold it back.
  static constexpr std::chrono::milliseconds kWrittenAfter{20};
  bool off_ = true;
  std::optional<MonoTime> asked_;
};

}  // namespace gridtorrent::client::engine
