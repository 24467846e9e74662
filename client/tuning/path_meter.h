#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "client/plan/sample.h"

namespace gridtorrent::client::tuning {

/// What a packet waits below this, or below a twentieth of the round trip, is what timers and busy machines add.
inline constexpr std::chrono::microseconds kNoQueue{1000};
inline constexpr int kNoQueueOfRoundTrip = 20;
/// Delays of single packets are longer on longer paths; what is more than this part of the round trip is a queue. On a
/// near path a queue that stands all the time is as short as delays are.
inline constexpr int kLateOfRoundTrip = 8;

/// What the lanes of one source did over the last seconds.
struct PathFigures {
  double seconds = 0;                                            ///< that the figures cover; 0: nothing is known
  int lanes = 0;                                                 ///< that are open, at the last look
  double bits_per_s = 0;                                         ///< payload
  double best_bits_per_s = 0;                                    ///< of two seconds on end within `PathMeter::kBest`
  double best_lane_bits_per_s = 0;                               ///< the same for a mean lane
  std::chrono::microseconds round_trip{0}, least_round_trip{0};  ///< of the sender: median now; least of late (kBase)
  /// What each packet waits at the least over `PathMeter::kStanding`: a queue that stands. What a radio link or a busy
  /// machine delays single packets by is left out, as far as it is no more than `PathMeter::kDelays` in the mean.
  std::chrono::microseconds standing_queue{0};
  std::chrono::microseconds delays{0};      ///< that mean
  std::chrono::microseconds full_queue{0};  ///< the longest that a packet waited on the path of late
  std::string congestion_control{};         ///< of the sender, on its oldest lane
  double segments = 0, segment_bytes = 1448;
  /// What a full queue drops tells that the path is full; all else would be lost at half the rate as well. So, of all
  /// loss events: those that came while the queue was less than half as long as it gets, and those up to four fifths,
  /// which may be either. What single packets are late by is no queue.
  double loss_events = 0, random_events = 0, doubtful_events = 0;
  double resent = 0;                              ///< share of the bytes sent that were sent again, 0 to 1
  double busy = 0;                                ///< share of the lanes' time in which their sender had data, 0 to 1
  double empty = 0;                               ///< share of it in which nothing waited to be sent, 0 to 1
  double window_limited = 0, buffer_limited = 0;  ///< shares of the busy time, 0 to 1
  double paced_bits_per_s = 0;                    ///< as the source's owner shares the uplink, all lanes; 0: not paced

  /// That a packet waits on the path now.
  std::chrono::microseconds queue() const { return round_trip - least_round_trip; }
  /// Of that, what single packets are late by, as on a radio link.
  std::chrono::microseconds late() const { return std::min(delays, least_round_trip / kLateOfRoundTrip); }
  /// Packets wait: what the lanes send is as much as the path carries.
  bool full() const { return is_queue(queue() - late()); }
  bool is_queue(std::chrono::microseconds waited) const {
    return waited > std::max(kNoQueue, least_round_trip / kNoQueueOfRoundTrip);
  }
};

/// Adds up the counters of the lanes to one source, over lanes that come and go. A value: no thread, no clock.
class PathMeter {
 public:
  /// Looks closer together than this count as one.
  static constexpr std::chrono::milliseconds kLook{200};
  /// So long back a rate still says what the path can carry: longer than CUBIC takes to regain what a loss took
  /// (RFC 9438, K = ∛(W·(1−β)/C): 10 s for a window of 1,300 segments), so that one loss does not hide it.
  static constexpr std::chrono::seconds kBest{30};
  /// So long a least round trip counts, in parts of a minute: a path may change its route. A kernel's own counts for
  /// five minutes (tcp_min_rtt_wlen), so that it is the ten of RFC 6817, 3.4.2, in all.
  static constexpr std::chrono::minutes kBase{5};
  /// Over so long a queue has to stand: two looks, which are 1 to 1.2 s apart. RFC 8289 (CoDel) takes 100 ms.
  static constexpr std::chrono::milliseconds kStanding{1300};
  /// The least smoothed round trip of late is longer than the least one by the mean delay of single packets, or by a
  /// queue that was there all the time. Up to so much it counts as the former.
  static constexpr std::chrono::milliseconds kDelays{5};

  /// At least once a second while data comes. `peer`: the source with the lanes that are open.
  void look(MonoTime now, const PeerSample& peer);
  /// The time until the next look counts for nothing: it was paused. What is known of the path stays.
  void interrupted();
  /// Over the last `span`, at most `kBest`.
  PathFigures figures(MonoTime now, std::chrono::milliseconds span) const;

 private:
  struct Lane {
    std::uint64_t received_bytes = 0;
    TcpFigures theirs{};
  };
  struct Losses {
    double events = 0;
    double queue_us = 0;  ///< the mean at these
  };
  struct Slice {
    MonoTime at{};
    double seconds = 0, bytes = 0, segments = 0, sent_bytes = 0, resent_bytes = 0, events = 0;
    double lane_us = 0, busy_us = 0, empty_us = 0, window_us = 0, buffer_us = 0;
    double queue_us = 0;        ///< the longest at this look
    std::uint32_t mean_us = 0;  ///< the smoothed round trip of the middle lane; 0: none that is a mean
    std::vector<Losses> losses{};
  };
  void add(Slice& slice, const Lane& before, const LaneSample& lane) const;
  void note_round_trips(Slice& slice, const PeerSample& peer);
  void note_least(MonoTime now, std::uint32_t least);
  void note_mean(Slice& slice);
  void note_best(MonoTime now, PathFigures& figures) const;
  std::uint32_t delays_us() const;
  std::uint32_t standing_us(MonoTime now) const;

  std::map<int, Lane> lanes_;
  std::deque<Slice> slices_;
  static constexpr std::uint32_t kNever = ~std::uint32_t{0};
  /// The least round trips of one minute.
  struct Base {
    MonoTime at{};
    std::uint32_t least_us = 0, mean_us = kNever;
  };
  std::deque<Base> bases_;
  MonoTime looked_{};
  bool anew_ = false;  ///< the next look has nothing before it
  std::uint32_t least_us_ = 0, median_us_ = 0;
  std::uint32_t delays_us_ =
      kNever;  ///< of single packets, in the mean; the least ever, for what comes later is a queue
  double paced_bits_per_s_ = 0;
  std::string congestion_control_;
};

}  // namespace gridtorrent::client::tuning
