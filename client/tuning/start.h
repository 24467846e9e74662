#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/plan/controller.h"

/// With how many lanes a transfer starts: pure functions of what the first handshake tells.
namespace gridtorrent::client::tuning {

/// Below this round trip a path counts as near: TCP recovers a loss of any usual link within some 100 ms there, since
/// what it takes back grows by a segment each round trip (RFC 5681, 3.1).
inline constexpr std::chrono::milliseconds kNearBelow{5};
/// On a near path, and where BBR sends: it keeps to the rate that it measured and does not halve at a random loss
/// (Cardwell and others, CACM 60(2), 2017), so a second lane only stands in for one that is held up.
inline constexpr int kFewLanes = 2;
/// Under BBR one is enough where its window lets it carry so much: two keep more on the way than most queues hold
/// (kBbrLanes). Where the window is smaller there are as many as carry it, two at least, until it is seen that none
/// holds them up; on a near path, where the second costs nothing, there are always two.
inline constexpr double kUnheldBitsPerS = 1e9;
/// In all over a path that is far, for which the loss rate is not known yet. What they carry lies between 5 and 145
/// Mbit/s each at 0.1 to 0.001 % of loss and 50 ms (RFC 9438, 5.1, figure 4). Measured: `long-300MB`, `long-1200MB`.
inline constexpr int kFarLanes = 8;
/// From this many bytes on twice as many. CUBIC still has slow start's windows in the first seconds, so a shorter
/// transfer ends before the second half is needed.
inline constexpr std::uint64_t kLongBytes = 100'000'000;
inline constexpr int kFarLanesForLong = 16;
/// A lane has at least its first requests to do (RequestDepth::kFirst blocks of 16 KiB).
inline constexpr std::uint64_t kLeastBytesPerLane = 65'536;
/// Below a limit no more lanes than it takes to reach it, if each carries this: CUBIC at 50 ms and 0.1 % of loss
/// (RFC 9438, 5.1, equation 6: 1.054·(RTT/p)^0.75·MSS/RTT).
inline constexpr std::uint64_t kLeastBitsPerLane = 4'500'000;

enum class PathKind : std::uint8_t {
  kUnknown,  ///< no handshake is over yet: treated as far
  kFar,
  kNear,
  kBbr,  ///< the sender says that it uses BBR
};

/// What the lanes to one node have told of the path so far.
struct Path {
  PathKind kind = PathKind::kUnknown;
  std::chrono::microseconds round_trip{0};  ///< the least that any lane has seen
  std::string congestion_control{};         ///< of the sender's own; empty: not known yet
  friend bool operator==(const Path&, const Path&) = default;
};
/// `asked`: for BBR, so that a sender which uses it says nothing of its own choice.
Path path_of(const PeerSample& peer, bool asked = false);

/// One source as far as the start goes.
struct StartSource {
  bool complete = false;
  PathKind path = PathKind::kUnknown;
  std::chrono::microseconds round_trip{0};  ///< 0: not known
  int transfers = 1;                        ///< of this node that fetch from it, this one included
  int remembered = 0;       ///< lanes that its path had use for before (history.h); 0: nothing is remembered
  bool grants_bbr = false;  ///< its owner lets it send with BBR where it is asked to
};

struct StartFacts {
  std::uint64_t bytes = 0;             ///< to come when the transfer began
  std::uint64_t limit_bits_per_s = 0;  ///< 0: none
  HostFacts host;
  bool polite = false;  ///< others on the path go first, so it does not start wide
  std::vector<StartSource> sources;
  double floor_bits_per_s = 0;  ///< down to which it yields to others, as a deadline takes; 0: none
};

/// So many lanes in all, if each source has 1 to 32: who has fewest gets the next one, who has most gives the next one.
std::vector<int> spread(std::vector<int> lanes, int in_all);

/// Lanes to each source, in the order of `facts.sources`; at least 1, at most 32, at most 128 in all.
///
/// A complete seeder that is far gets its part of 8 lanes (16 from 100 MB on), and at least as many as the even plan
/// gives; where all are complete, from 100 MB on, 8 as long as these are 32 in all. Who fetches, too, gets what the
/// even plan gives. Neighbours so come before lanes. Near ones, and senders with BBR, get 2 at most, far ones
/// with BBR 1 where this node's windows let it carry 1 Gbit/s; a single one else as many as that takes, 4 at most.
/// Where windows are so small that 16 lanes carry less, 16 count for few bytes, too. Where others go first, 2, or as
/// many as this node's windows take for the floor. A complete seeder whose path is
/// remembered gets what was of use then, and its part of 8 where it is far, shared by the transfers. All together have
/// no more than the limit, the bytes to come and the kernel's buffers have use for.
std::vector<int> start_lanes(const StartFacts& facts);

/// So many lanes in all the bytes to come have use for, and the machine allows; at least 2.
int most_in_all(const StartFacts& facts);

/// The same number of lanes or fewer: all together no more than the bytes to come have use for, but at least 1 each.
/// Who has most gives up first. What each lane carries and holds in buffers is a guess that counts at the start alone.
std::vector<int> within_bytes(const StartFacts& facts, std::vector<int> lanes);

}  // namespace gridtorrent::client::tuning
