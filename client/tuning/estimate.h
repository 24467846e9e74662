#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "client/plan/findings.h"
#include "client/plan/memory.h"

/// How long a transfer will take, by what is remembered of its paths or by what a short probe has shown. Pure.
namespace gridtorrent::client::tuning {

/// A TCP connection begins with ten segments a round trip (RFC 6928) and doubles them as long as it can (RFC
/// 5681, 3.1).
inline constexpr double kFirstWindowBytes = 10 * 1448;
/// Round trips before the first data: TCP, the greeting, the first request.
inline constexpr double kHandshakes = 3;
/// libtorrent dials once a second, so a lane waits for half of one on average.
inline constexpr double kDialSeconds = 0.5;
/// CUBIC sends with the windows that slow start has opened for so long at least, until losses have taken them back
/// (measured on `long-6GB`: eight streams carry 740 Mbit/s for 10 s, and 400 later on).
inline constexpr double kOpeningSeconds = 10;
/// Rates of a path that was used before vary by this factor and, where one transfer alone tells, by this much more.
inline constexpr double kUsualSpread = 0.1, kOneTransferSpread = 0.2;
/// As much again where a record is old enough to count for nothing.
inline constexpr double kAgedSpread = 0.3;
/// A probe of seconds says less: what it saw may be slow start's, or not yet all.
inline constexpr double kProbeSpread = 0.4;

/// One seeder's path. Rates in bits a second of payload.
struct EstimatedPath {
  std::chrono::microseconds round_trip{0};
  int lanes = 1;
  double bits_per_s = 0;  ///< likely, in the long run
  double least_bits_per_s = 0, most_bits_per_s = 0;
  Limit limit = Limit::kUnknown;  ///< what holds it
  double opening_bits_per_s = 0;  ///< in the first `kOpeningSeconds`; 0: the same
};
/// `sources`: that the transfer has now. Where more shared this node's link then, it may carry more.
EstimatedPath path_of(const PathMemory& memory, std::size_t sources);
/// Of a probe: not more than the 32 lanes that a tuner may open come to at the losses seen, since slow start's
/// windows flatter. `bits_per_s`: what the source brought at its best.
EstimatedPath path_of(const SourceFindings& probed, double bits_per_s);

struct EstimateFacts {
  std::uint64_t bytes = 0;  ///< to come
  std::vector<EstimatedPath> paths;
  double link_bits_per_s = 0;     ///< the most that this node has received on these networks; 0: not known
  double limit_bits_per_s = 0;    ///< a person's or the node's; 0: none
  double finish_bytes_per_s = 0;  ///< files are compared with their roots, synced and moved at that rate; 0: not known
};

struct Estimate {
  std::chrono::milliseconds likely{0}, least{0}, most{0};
  double bits_per_s = 0;  ///< payload, once the windows are open
  Limit limit = Limit::kUnknown;
  friend bool operator==(const Estimate&, const Estimate&) = default;
};

/// Seconds for so many bytes over lanes that begin with slow start: the handshakes, the doubling up to the opening
/// rate, the rest of the opening, and what is left at the rate of the long run.
double seconds_for(double bytes, double bits_per_s, double opening_bits_per_s, const std::vector<EstimatedPath>& paths);

/// Sources bring together what they bring alone, but no more than this node's link has carried and a limit allows. The
/// paths' bounds become the time's. At least one path has a rate.
Estimate estimate(const EstimateFacts& facts);

/// "52 s", "3 min", "2 h 10 min": as exact as such a number is.
std::string about(std::chrono::milliseconds time);

}  // namespace gridtorrent::client::tuning
