#pragma once

#include <cstdint>
#include <optional>

#include "common/clock.h"

namespace gridtorrent::client::engine {

/// What TCP says of losses at one look at a connection (Linux: TCP_INFO).
struct LossFacts {
  std::uint32_t ssthresh_segments = 0;  ///< snd_ssthresh: set anew at each loss event
  std::uint64_t retransmits = 0;        ///< segments, over the connection's life
  std::uint32_t srtt_us = 0;            ///< 0: no sample yet
  bool repairs = false;                 ///< a loss is not made up for yet (the kernel's states Recovery and Loss)
};

/// Counts the loss events of what one end of a connection sends. A loss event is all losses that TCP answers with one
/// reduction of its window: those of about a round trip (RFC 5681, 4.3; RFC 9438, 4.6). The rate of events, not that of
/// lost segments, gives the rate that a connection comes to. The kernel counts segments alone, so events are inferred:
///
/// - Without a retransmission there is none: slow start's end (RFC 9406) and idle times move ssthresh, too.
/// - A retransmission begins an event where ssthresh has another value than at the last event, or where none came for a
///   round trip before and no loss was being repaired: what the first window lost last is sent again as late as that.
/// - A sender that never sets ssthresh (BBR) has an event for each round trip with retransmissions.
///
/// Two events between two looks count as one: look at least each half a round trip. Not thread-safe.
class LossEvents {
 public:
  void look(MonoTime now, const LossFacts& facts);
  /// Over all looks. The first look counts what the connection retransmitted before as one.
  std::uint64_t count() const { return count_; }
  /// The smoothed round trips at the events, summed up, microseconds: a loss by a full queue comes with a long one.
  std::uint64_t srtt_us() const { return srtt_us_; }

 private:
  bool begins_event(MonoTime now, const LossFacts& facts, bool repaired) const;

  std::uint64_t count_ = 0, srtt_us_ = 0, retransmits_ = 0;
  std::uint32_t ssthresh_at_event_ = 0;
  bool repairs_ = false;                           ///< at the last look
  std::optional<MonoTime> event_, retransmitted_;  ///< when the last event began; the last look that saw more
};

/// How often to look: twice a round trip, but neither more often than each 5 ms (a system call each) nor more seldom
/// than each 100 ms.
std::chrono::microseconds look_every(std::uint32_t srtt_us);

}  // namespace gridtorrent::client::engine
