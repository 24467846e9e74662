#pragma once

#include <cstddef>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "client/core/rate_history.h"
#include "common/clock.h"
#include "common/ids.h"

namespace gridtorrent::client {

/// The time by both clocks.
struct Moment {
  MonoTime mono;
  WallTime wall;
};

/// What has happened to a transfer since the look before.
struct RateLook {
  Moment now, before;                                ///< of this look and of the one before
  std::uint64_t received_bytes = 0, sent_bytes = 0;  ///< between them, payload
  int lanes = 0, sources = 0;
};

/// Makes points of the looks at a node's transfers, and holds them until they are written down. A transfer that has not
/// moved since the node began costs nothing, and one that rests keeps no points: from the start of the node on, the
/// time between them is known to be without payload, and is one point. Points in memory have a bound: at the bound no
/// others are made, and what that time brought stays unknown. Guarded by the book's mutex; has no clock.
class RateLog {
 public:
  /// Some 30 MB: of 2,400 transfers that move all the time.
  static constexpr std::size_t kPoints = 600'000;

  /// Nothing is known of the time before `begun`. `most`: points in memory.
  explicit RateLog(Moment begun, std::size_t most = kPoints) : begun_(begun), most_(most) {}

  /// `created`: when the transfer began.
  void note(const TransferId& id, WallTime created, const RateLook& look);
  void forget(const TransferId& id);

  /// The blocks of this transfer that are in memory. Where it rests, the time up to `now` is one more.
  std::vector<RateBlock> held(const TransferId& id, WallTime created, Moment now) const;

  /// Transfers with points that are not written down.
  const std::unordered_set<TransferId>& unsaved() const { return unsaved_; }
  /// Copies of the blocks of this one that are to be written.
  std::vector<RateBlock> blocks_to_save(const TransferId& id) const;
  /// These, as `blocks_to_save` gave them, are written down.
  void saved(const std::vector<RateBlock>& blocks);
  /// Drops points that are written down and that no others will join for a while.
  void let_go(Moment now);

  std::size_t points() const { return points_; }

 private:
  /// Points of one kind: of a block that is added to, and of those before it that are not written down.
  struct Track {
    std::vector<RatePoint> open;
    std::size_t saved = 0;  ///< of `open`
    std::vector<std::vector<RatePoint>> full;
    bool dirty() const { return !full.empty() || saved < open.size(); }
    std::size_t size() const;
  };
  /// Points on their way to one of 15 s.
  struct Sum {
    std::chrono::milliseconds span{0};
    double down_bits = 0, up_bits = 0;
    int lanes = 0, sources = 0;
  };
  struct Kept {
    Moment since;                          ///< up to here there are points
    std::uint64_t received = 0, sent = 0;  ///< after that
    bool idle = true;                      ///< the last point, if any, is without payload
    Track seconds, quarters;
    Sum sum;
    bool pending() const { return received > 0 || sent > 0; }
    bool rests() const { return idle && !pending(); }
  };

  Kept fresh(WallTime created) const;
  /// The time that went by without a look, up to the one before this.
  void catch_up(Kept& kept, const RateLook& look);
  void close_second(Kept& kept, Moment at, int lanes, int sources);
  void add(Kept& kept, const RatePoint& point);
  void close_sum(Kept& kept, WallTime at);
  void push(Track& track, const RatePoint& point, std::chrono::milliseconds length);
  void drop(Track& track);
  void note_saved(Track& track, const RateBlock& block);

  Moment begun_;
  std::size_t most_;
  std::unordered_map<TransferId, Kept> transfers_;
  std::unordered_set<TransferId> unsaved_;
  std::size_t points_ = 0;
};

}  // namespace gridtorrent::client
