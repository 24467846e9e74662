#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "common/clock.h"

namespace gridtorrent::client::engine {

/// Someone who connected to a lane port and has not got as far as a lane. libtorrent keeps such connections for ten
/// seconds, those to TLS ports for ever and without counting them, so that a few thousand would
/// take all descriptors.
struct HalfOpen {
  int socket = -1;
  std::string address;  ///< of the other end, without port
  MonoTime since{};     ///< when it was first seen
};

inline constexpr std::chrono::seconds kHandshakeTime{10};
inline constexpr std::size_t kMaxHalfOpen = 256;
inline constexpr std::size_t kMaxHalfOpenOfAnAddress = 96;  ///< a site behind one address opens its lanes at once

/// How many may be open; fewer where descriptors are few (descriptor_shares.h).
struct HalfOpenLimits {
  std::size_t in_all = kMaxHalfOpen, of_address = kMaxHalfOpenOfAnAddress;
};

/// Indexes of those to end: whose time is over, and the oldest of too many, of one address or all together. Who
/// connects in good faith is through within a few round trips, so it is the oldest that are least likely to be honest.
std::vector<std::size_t> handshakes_to_end(std::span<const HalfOpen> open, MonoTime now,
                                           const HalfOpenLimits& limits = {});

/// Ends what `handshakes_to_end` names: once a second, and as soon as many have come since it looked. Network thread
/// only: these sockets are libtorrent's, and it is this thread that closes them; here they are shut down, which
/// libtorrent sees as the other end's doing.
class HandshakeGuard {
 public:
  explicit HandshakeGuard(std::set<std::uint16_t> lane_ports, HalfOpenLimits limits = {})
      : ports_(std::move(lane_ports)), limits_(limits) {}
  /// Somebody connected. True: so many have since the last look that `tick` is due.
  bool connected() { return ++connected_ >= std::max<std::size_t>(limits_.in_all / 2, 4); }
  /// `lanes`: the sockets of connections that have become lanes. Returns how many were ended.
  std::size_t tick(const std::set<int>& lanes, MonoTime now);
  /// Ends them all, whatever their time. Returns how many descriptors are still open: libtorrent closes each in its own
  /// time, and is only then done with it.
  std::size_t end_all(const std::set<int>& lanes) const;

 private:
  const std::set<std::uint16_t> ports_;
  const HalfOpenLimits limits_;
  std::size_t connected_ = 0;  ///< since the last look
  /// By socket; the other end's address and port tell a socket from another that got its number.
  struct Seen {
    std::string peer;
    HalfOpen half;
  };
  std::map<int, Seen> seen_;
};

}  // namespace gridtorrent::client::engine
