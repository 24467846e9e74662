#pragma once

#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "base/net/address.h"
#include "base/net/connection_limits.h"
#include "base/net/filter.h"
#include "base/net/pump.h"

namespace gridtorrent::net {

/// What to do when accept(2) fails. Pure.
enum class AcceptFailure : std::uint8_t {
  kTryNext,     ///< this connection broke; others wait
  kUseReserve,  ///< no descriptor is left: give one of the reserve up, accept with it, and refuse
  kWait,        ///< nothing waits; poll again
  kPause,       ///< the kernel is short of memory: poll would call at once, again and again
};
AcceptFailure on_accept_failure(int error_number);

/// One thread ("net-accept") that accepts TCP connections, counts them, and hands on those that have a place. Keeps
/// descriptors in reserve: without any, accept(2) could not even refuse, and the port would be deaf (EMFILE).
class AcceptLoop {
 public:
  struct Parts {
    ConnectionLimits& limits;
    std::function<void(Caller)> accepted;
    Refused refused;
    std::function<void()> each_second;  ///< on this thread
  };
  AcceptLoop(Listening listening, Parts parts);
  /// stop().
  ~AcceptLoop();
  AcceptLoop(const AcceptLoop&) = delete;
  AcceptLoop& operator=(const AcceptLoop&) = delete;

  std::uint16_t port() const { return listening_.port; }
  /// Closes the listening sockets and joins. Idempotent.
  void stop();

 private:
  void run(const std::stop_token& stop);
  void accept_from(int listener);
  bool accept_one(int listener);
  bool refuse_with_reserve(int listener);
  void refill_reserve();

  Listening listening_;
  const Parts parts_;
  const UniqueFd wake_;
  std::vector<UniqueFd> reserve_;
  std::jthread thread_;
};

}  // namespace gridtorrent::net
