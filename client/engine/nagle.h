#pragma once

#include <chrono>
#include <optional>
#include <utility>

#include "common/clock.h"

namespace gridtorrent::client::engine {

/// Whether the small messages of a lane go out one by one (TCP_NODELAY) or together (Nagle's algorithm, RFC 896, by
/// which one waits until the one before has arrived). Requests, and what leads to them, must not wait. But a node tells
/// all its neighbours of each piece that it gets: in a swarm of thirty with pieces of 16 KiB these HAVEs, one by one,
/// were half of all packets. It begins switched off. Pure; the caller sets the socket's option as told.
class Nagle {
 public:
  /// A message that the other end waits for is about to be sent, or was just queued. True: switch the algorithm off
  /// now.
  bool hurries(MonoTime now) {
    hurried_ = now;
    return !std::exchange(off_, true);
  }
  /// A HAVE was sent. True: switch the algorithm on now.
  bool tells(MonoTime now) {
    if (!off_ || (hurried_ && now - *hurried_ < kWrittenAfter)) return false;
    off_ = false;
    return true;
  }

 private:
  /// By then it is mostly written to the socket.
  static constexpr std::chrono::milliseconds kWrittenAfter{20};
  bool off_ = true;
  std::optional<MonoTime> hurried_;
};

}  // namespace gridtorrent::client::engine
