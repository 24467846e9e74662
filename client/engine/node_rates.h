#pragma once

#include <cstdint>
#include <memory>

#include "client/engine/held_reads.h"
#include "client/engine/network_loop.h"
#include "client/engine/node_load.h"
#include "client/engine/shared_asking.h"

namespace gridtorrent::client::engine {

/// The limits of the whole node, which hold back requests: those that we make, and those that others make of us; and
/// how busy it is.
struct NodeRates {
  explicit NodeRates(std::shared_ptr<NetworkLoop> loop) : sending(std::move(loop)) {}
  SharedAsking asking;
  HeldReads sending;
  const std::shared_ptr<DiskTimes> disk = std::make_shared<DiskTimes>();
  NodeLoad load{disk};

  /// Bytes a second; 0: no limit. Any thread.
  void set(std::uint64_t receive, std::uint64_t send) {
    asking.set_rate(receive);
    sending.set_rate(send);
  }
};

}  // namespace gridtorrent::client::engine
