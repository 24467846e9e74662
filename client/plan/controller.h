#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/plan/memory.h"
#include "client/plan/reason.h"
#include "client/plan/sample.h"
#include "client/plan/wish.h"
#include "common/clock.h"
#include "common/ids.h"

namespace gridtorrent::client {

/// At most to one peer, and over a whole transfer. Measured on 1 Gbit/s, 50 ms and 0.005 % of loss (`long-6GB`):
/// sixteen lanes come to 0.9 of it in the long run.
inline constexpr int kMaxLanesPerPeer = 32;
inline constexpr int kMaxLanesInAll = 128;

/// What a controller wants towards one node that has data.
struct PeerShare {
  NodeId node;
  int lanes = 1;                        ///< parallel sockets, 1 to 32
  int outstanding_blocks = 0;           ///< of 16 KiB, per lane; 0: the engine sizes it (RequestDepth)
  std::string congestion_control = {};  ///< asked of the node for what it sends; empty: its kernel's default
  int congestion_lanes = 0;             ///< so many of its lanes, the oldest ones; 0: all
  friend bool operator==(const PeerShare&, const PeerShare&) = default;
};

/// A controller's whole wish for one transfer: how many lanes to which nodes. Who dials them, and where to, is decided
/// afterwards by one rule for all controllers (client/core/dialling.h).
struct Plan {
  std::vector<PeerShare> peers;  ///< each node once
  Reason reason;
  /// No faster than this for now, bits of payload a second; 0: as fast as the lanes go. The engine takes the lowest one
  /// of this and of what people set.
  std::uint64_t limit_bits_per_s = 0;
  friend bool operator==(const Plan&, const Plan&) = default;
};

/// What this machine's kernel gives to the process; 0: not known.
struct HostFacts {
  std::uint64_t lane_bytes = 0;   ///< the most that the receive buffer of one of many lanes may grow to
  std::uint64_t tcp_bytes = 0;    ///< of all TCP sockets, above which the kernel shrinks them (tcp_mem's second number)
  std::uint64_t descriptors = 0;  ///< files and sockets that this process may have open at once (RLIMIT_NOFILE)
  bool lanes_share = false;       ///< a transfer's lanes share 64 MiB of receive buffers, less than tcp_rmem allows
  friend bool operator==(const HostFacts&, const HostFacts&) = default;
};

/// Lanes of a whole transfer where nobody chose how many: a quarter of the descriptors at most, so that other
/// transfers, their files and who dials in have some. At least 1.
inline int most_lanes(const HostFacts& host) {
  if (host.descriptors == 0) return kMaxLanesInAll;
  return static_cast<int>(std::clamp<std::uint64_t>(host.descriptors / 4, 1, kMaxLanesInAll));
}

/// How busy this node is at the moment.
struct HostLoad {
  /// Share of the time that its busiest thread ran or waited for a core, those of low priority left out, 0 to 1.
  double busiest_thread = 0;
  /// Share of the time that it read from no connection that brings data, since too much waited to be written, 0 to 1.
  double held_by_disk = 0;
  std::string busiest_name = {};  ///< of that thread, as `top -H` shows it; empty: not known
  /// Share of the scheduler's periods in which its cgroup was stopped, since its quota of CPU was used up, 0 to 1.
  double held_by_quota = 0;
  friend bool operator==(const HostLoad&, const HostLoad&) = default;
};

/// Another transfer of this node that fetches at the moment.
struct OtherTransfer {
  TransferId id;
  std::vector<NodeId> sources;  ///< the nodes in its plan
  std::uint64_t receive_bits_per_s = 0;
};

/// Bytes of each file, rising, none empty; null: not known. Shared, since there may be a million of them.
using FileSizes = std::shared_ptr<const std::vector<std::uint64_t>>;

/// Everything that a controller may look at. It has no other source of time, randomness or measurements.
struct ControllerInput {
  TransferId transfer;
  MonoTime now{};
  NodeId self;
  std::uint64_t total_bytes = 0, bytes_left = 0;  ///< of what is wanted; left: not verified yet
  FileSizes file_sizes;                           ///< of what is wanted
  int lanes_wish = 0, seeders_wish = 0;           ///< a person's; 0: the controller's choice
  std::uint64_t limit_bits_per_s = 0;             ///< the lower one of this transfer's limit and the node's; 0: none
  std::uint64_t part_bits_per_s = 0;  ///< of that, what the node's other transfers leave at the moment; 0: as the limit
  std::string tuner;                  ///< that a person chose for it; empty: the node's
  TuningMode mode = TuningMode::kBalanced;
  std::uint64_t target_bits_per_s = 0;       ///< to be held; 0: as fast as it goes
  std::uint64_t floor_bits_per_s = 0;        ///< politeness ends below it; 0: none
  std::optional<MonoTime> deadline;          ///< when it is to be done
  std::chrono::milliseconds to_finish{0};    ///< from its last byte to its files at their place; 0: not known
  std::uint64_t tuner_limit_bits_per_s = 0;  ///< that its last plan set (Plan::limit_bits_per_s); 0: none
  std::vector<PeerSample> peers;             ///< each node once; not this node, and no foreign clients
  std::vector<OtherTransfer> others;
  std::vector<PathMemory> memories;  ///< of the paths from these peers, one of each node at most
  HostFacts host;
  HostLoad load;
};

/// Plans are made about once a second. Longer after the last one, the transfer was paused, nobody was there to fetch
/// from, or the machine stood still: rates before it are no measure of what is now, and what was tried is void.
inline constexpr std::chrono::seconds kPausedAfter{3};

/// Decides how many lanes a transfer that fetches has to which nodes. One object a node, called on its "gt-transfers"
/// thread alone: about once a second for each transfer that fetches, and on events (a peer came, a lane came up).
/// It neither blocks nor throws. It may remember what it likes of a transfer until `removed`.
class TransferController {
 public:
  virtual ~TransferController() = default;
  /// The whole wish; nodes that it does not name lose their lanes. Equal calls in equal order lead to equal plans.
  virtual Plan plan(const ControllerInput& input) = 0;
  /// The transfer no longer fetches: it is done, paused for good, or gone. What was remembered of it is forgotten.
  virtual void removed(const TransferId& transfer) = 0;
};

}  // namespace gridtorrent::client
