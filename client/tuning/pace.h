#pragma once

#include <chrono>
#include <deque>
#include <optional>

#include "client/tuning/goal.h"
#include "client/tuning/path_meter.h"
#include "common/clock.h"

/// How fast a transfer may be that holds a rate or lets others go first.
namespace gridtorrent::client::tuning {

/// A packet that waits longer than this, or than half of the longest wait seen of late, waits for others. 25 ms is
/// where RFC 6817 (LEDBAT) allows up to 100, and what interactive traffic does not feel.
inline constexpr std::chrono::milliseconds kPoliteQueue{25};
/// What a transfer in the background gives up when packets wait, and what it gives up each time that they still do two
/// seconds later. The first is as much as drains a queue that it made itself; the second leaves the path to others:
/// from half of 100 Mbit/s to the least in 20 s.
inline constexpr double kGiveUp = 0.9, kGiveUpMore = 0.7;
inline constexpr std::chrono::seconds kGiveUpAgain{2};
/// What it takes back each second in which none waits: slowly from nine to eleven tenths of the rate at which they
/// waited last, so that the queue is empty most of the time, and fast elsewhere.
inline constexpr double kTakeBack = 1.25, kTakeBackSlowly = 1.03, kAround = 0.1;
/// It never stops: a tenth of the best rate that it has had is less than anybody's part beside a few flows of others,
/// and lets a transfer end. 1 Mbit/s is the least that the engine's own pacing holds.
inline constexpr double kLeastPart = 0.1, kLeastPace = 1e6;
/// A floor is promised for what arrives, a limiter brings a little less than it is set to (0.97), and beside
/// others a rate swings. Simulated, 30 Mbit/s beside 4 and 8 flows, 12 seeds: 0.95 of it in 85 % of windows of 5 s with
/// 1.05, in 90 % with 1.08, in 90 % with 1.12.
inline constexpr double kAboveFloor = 1.08;

/// The last seconds of one transfer.
struct PaceFacts {
  double bits_per_s = 0;                              ///< payload, all sources, since the look before
  std::chrono::microseconds queue{0}, full_queue{0};  ///< what each packet waits now; the longest of late
  bool is_queue = false;                              ///< that is more than what timers and busy machines add
};

/// Of the path that counts. `bits_per_s`: of all sources.
PaceFacts polite_facts(const PathFigures& path, double bits_per_s);

/// The rate that a transfer may have. A value: no thread, no clock.
class Pace {
 public:
  /// About once a second. Bits of payload a second; 0: as fast as the lanes go.
  double step(MonoTime now, const Goal& goal, const PaceFacts& facts);

 private:
  double hold(MonoTime now, double target, double rate);
  double give_way(MonoTime now, const PaceFacts& facts);

  struct Second {
    MonoTime at{};
    double bits_per_s = 0;
  };
  std::deque<Second> seconds_;  ///< of the target's last five
  double target_ = 0;
  double correction_ = 1;          ///< of the limiter, so that the mean is the target
  std::optional<double> allowed_;  ///< nothing: no packet has waited yet
  double best_ = 0;                ///< second so far
  double waited_at_ = 0;           ///< the rate at which packets waited last
  int waited_ = 0;                 ///< times on end that they did
  MonoTime gave_up_{};
};

}  // namespace gridtorrent::client::tuning
