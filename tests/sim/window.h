#pragma once

#include <cstdint>

#include "tests/sim/world.h"

namespace gridtorrent::sim {

/// The congestion window of one sender, in segments, as a function of time. Fluid: it grows by the part of a round trip
/// that has gone by. Constants are those of the RFCs.
///
/// - Slow start doubles each round trip from 10 segments (RFC 6928) and ends by HyStart++ (RFC 9406): a round whose
///   round trip is longer by an eighth (4 to 16 ms) than that of the round before begins five rounds of growth by a
///   quarter; it goes on doubling if the round trip falls again.
/// - CUBIC (RFC 9438): W(t) = 0.4·(t − K)³ + W_max, at least Reno's window, × 0.7 at a loss, fast convergence.
/// - Reno (RFC 5681): one segment each round trip, × 0.5 at a loss.
/// - BBR (Cardwell and others, CACM 60(2), 2017): the best rate of ten round trips times the least round trip; each
///   eighth round trip a quarter more, then a quarter less. It does not answer to losses.
class Window {
 public:
  explicit Window(Control control) : control_(control) {}

  double segments() const;
  double slow_start_threshold() const { return threshold_; }
  /// `limited`: something else than this window held the sender back, so the window must not grow (RFC 9438, 5.8).
  void advance(double now, double seconds, double round_trip, double delivered_per_s, bool limited);
  /// A segment was lost. What is lost until the sender can have answered, a round trip, counts as one loss event
  /// (RFC 9438, 4.6). True: a new event has begun.
  bool lose(double now, double round_trip);

 private:
  enum class Phase : std::uint8_t { kSlowStart, kConservative, kAvoidance };
  void reduce(double now, double round_trip);
  void end_round(double round_trip);
  void grow_slow_start(double now, double seconds, double round_trip);
  void grow_cubic(double now, double seconds, double round_trip);
  void measure_rate(double now, double round_trip, double delivered_per_s);
  void begin_epoch(double now, double prior);

  Control control_;
  Phase phase_ = Phase::kSlowStart;
  double cwnd_ = 10, threshold_ = 1e18;
  double reduce_at_ = -1;  ///< when the sender answers to the loss event that has begun; below 0: none has
  double recovered_ = 0;
  // Slow start.
  double round_end_ = 0, round_least_ = 1e9, last_least_ = 1e9, conservative_base_ = 0;
  int conservative_rounds_ = 0;
  // CUBIC.
  double w_max_ = 0, k_ = 0, epoch_ = 0, w_est_ = 0, cwnd_prior_ = 0;
  // BBR.
  double bbr_rate_ = 0, bbr_recent_ = 0, bbr_before_ = 0, bbr_least_ = 1e9, bbr_round_end_ = 0;
  double bbr_full_ = 0;
  int bbr_round_ = 0, bbr_flat_ = 0;
  bool bbr_started_ = false;
};

}  // namespace gridtorrent::sim
