#pragma once

#include <map>
#include <memory>
#include <span>

#include "client/engine/fair_shares.h"
#include "client/engine/swarm.h"

namespace gridtorrent::client::engine {

/// What all swarms send together: measures it, has FairShares decide, and paces the lanes (SO_MAX_PACING_RATE, which
/// TCP keeps to by itself, without a queue in the kernel). Network thread only.
class Uplink {
 public:
  /// Once a second, after the swarms have measured.
  void tick(MonoTime now, std::span<const std::shared_ptr<Swarm>> swarms);

 private:
  FairShares shares_;
  std::map<PeerKey, LanePace> paces_;
};

}  // namespace gridtorrent::client::engine
