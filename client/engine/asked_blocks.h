#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/clock.h"

namespace gridtorrent::client::engine {

/// Part of a piece, as one request names it.
struct Block {
  int piece = 0, start = 0, length = 0;
  friend auto operator<=>(const Block&, const Block&) = default;
};

/// Who was asked for which block, and so when a block may be asked of a second lane as well. At the end of a transfer
/// libtorrent has every idle lane ask at once for what others are about to send; most of that is received twice. Here a
/// block is left to the lane that was asked until it takes a quarter longer than that lane's blocks take. A stalled
/// lane's blocks are so fetched elsewhere in time. `Lane` stands for a connection; network thread only.
class AskedBlocks {
 public:
  using LaneKey = void*;

  /// libtorrent wants to ask this lane. True: let it. False: it is kept back, and comes from `due` unless it arrives or
  /// is cancelled before.
  bool ask(LaneKey lane, const Block& block, MonoTime now);
  /// The other lanes that were to ask for it and will not: libtorrent believes they have, and must be told.
  std::vector<LaneKey> arrived(LaneKey lane, const Block& block, MonoTime now);
  /// libtorrent wants it of this lane no more. Whether it was kept back.
  bool cancelled(LaneKey lane, const Block& block);
  /// The lane will not send it.
  void rejected(LaneKey lane, const Block& block, MonoTime now);
  void lane_closed(LaneKey lane);

  struct Kept {
    LaneKey lane;
    Block block;
    MonoTime until;
  };
  /// Those that are to be asked for now, after all.
  std::vector<Kept> due(MonoTime now);
  bool keeps_any() const { return !kept_.empty(); }

  /// How many blocks are still to come of those that this lane was asked for, and nobody after it.
  int outstanding(LaneKey lane) const;
  /// Since when there has always been one, but for a moment, as between an arrival and the next request; nothing: there
  /// is none.
  std::optional<MonoTime> outstanding_since(LaneKey lane) const;
  /// These, the one asked for last first.
  std::vector<Block> outstanding_blocks(LaneKey lane) const;
  /// It is asked of this lane from now on, and no more of the one before.
  void reassigned(const Block& block, LaneKey lane, MonoTime now);
  std::uint64_t outstanding_bytes() const { return outstanding_bytes_; }

 private:
  struct Asked {
    LaneKey lane;
    MonoTime at;
    std::uint64_t order;  ///< of all requests
  };
  struct Outstanding {
    int blocks = 0;
    MonoTime since{}, until{};  ///< until the last one left it
  };
  using Entry = std::map<Block, Asked>::iterator;
  MonoTime late_at(const Asked& asked) const;
  std::pair<Entry, bool> put(const Block& block, LaneKey lane, MonoTime now);
  void give(Entry entry, LaneKey lane, MonoTime now);
  Entry take(Entry entry, MonoTime now);
  void count_in(LaneKey lane, MonoTime now);
  void count_out(LaneKey lane, MonoTime now);

  std::map<Block, Asked> asked_;  ///< changed by `put`, `give` and `take` alone
  std::map<LaneKey, Outstanding> outstanding_;
  std::uint64_t order_ = 0;
  std::uint64_t outstanding_bytes_ = 0;
  std::map<LaneKey, double> service_s_;  ///< from asking to arriving, smoothed
  std::vector<Kept> kept_;
};

}  // namespace gridtorrent::client::engine
