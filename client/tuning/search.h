#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "client/plan/controller.h"

/// What the published tuners have in common: each searches for one transfer, and is told of it in the papers' terms.
namespace gridtorrent::client::tuning {

/// The papers take the link's bandwidth as given. A node does not know it: it is taken for the slowest of the usual
/// network cards that carries what was seen, so that no search stops for a bandwidth that is guessed too low.
inline constexpr std::array kUsualLinks{1e9, 10e9, 25e9, 40e9, 100e9, 400e9};
/// And the round trip, until the first handshake tells it: between the papers' 32 and 100 ms.
inline constexpr double kUsualRoundTripS = 0.05;

/// One transfer at one moment, from complete seeders.
struct SearchInput {
  MonoTime now{};
  std::vector<NodeId> seeders;                  ///< in the order in which they are used; at least one
  std::span<const std::uint64_t> file_sizes{};  ///< rising, at least one; the whole content where they are not known
  double bytes_left = 0;
  double received_bytes = 0;  ///< payload since the search began; never falls
  double round_trip_s = 0;    ///< mean of the least that each seeder's lanes have seen; 0: not known
  double limit_bits_per_s = 0, target_bits_per_s = 0;  ///< a person's; 0: none
  double buffer_bytes = 0;                             ///< of one lane at this end; 0: not known
  int most_lanes = kMaxLanesPerPeer;                   ///< to all seeders together

  double total_bytes() const;
  /// The same, or what holds until it was measured.
  double round_trip() const { return round_trip_s > 0 ? round_trip_s : kUsualRoundTripS; }
  /// Of a link that has carried `seen`; a person's limit where that is lower.
  double link_bits_per_s(double seen = 0) const;
  /// So many channels of so many lanes have a place at the seeders, at least 1.
  int most_channels(int lanes) const;
};

/// What a GridFTP client calls a data channel: lanes that work for one file at a time.
struct Channel {
  int lanes = 1;               ///< the papers' parallelism
  int outstanding_blocks = 0;  ///< of 16 KiB, per lane; 0: the engine sizes it
  friend bool operator==(const Channel&, const Channel&) = default;
};

/// What a search wants now: as many channels as the papers' concurrency says.
struct SearchPlan {
  std::vector<Channel> channels{};  ///< at least one
  std::string why{};                ///< the decision with its quantities; changes only when that does
};

/// The search of one transfer. A value with state: no thread, no clock of its own.
class TransferSearch {
 public:
  virtual ~TransferSearch() = default;
  /// About once a second.
  virtual SearchPlan step(const SearchInput& input) = 0;
};

/// Shares the channels out: the first seeders get one each; channels beyond the number of seeders become more lanes to
/// the same ones. A seeder has 32 lanes at most, all together `most_lanes`. In the seeders' order; seeders beyond the
/// number of channels get none.
std::vector<PeerShare> share_out(const std::vector<NodeId>& seeders, const std::vector<Channel>& channels,
                                 int most_lanes);

/// Seconds from one moment to another; 0 where time went back.
double seconds_between(MonoTime from, MonoTime to);

/// "41.0 Mbit/s"; "625 kB", "1.5 MB", "160 MB": as reasons name them.
std::string rate_text(double bits_per_s);

}  // namespace gridtorrent::client::tuning
