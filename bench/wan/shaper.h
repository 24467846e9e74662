#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

namespace gridtorrent::wan {

/// Nanoseconds of the emulator's clock.
using Nanos = std::int64_t;

/// A link's serialisation and its drop-tail queue, as a virtual clock: it only remembers when the last accepted byte
/// will have left. No timer, no tokens, so it is exact at any rate and packet size.
class Shaper {
 public:
  /// `bits_per_s` 0: no limit. `queue_bytes`: how much may be ahead of a packet that is let in.
  void set(std::uint64_t bits_per_s, std::uint64_t queue_bytes) {
    ns_per_byte_ = bits_per_s == 0 ? 0 : 8e9 / static_cast<double>(bits_per_s);
    queue_bytes_ = static_cast<double>(queue_bytes);
  }

  /// When a packet that arrives at `now` has left, or -1: the queue is full. Calls come in the order of `now`.
  Nanos admit(Nanos now, std::uint32_t bytes) {
    const double at = static_cast<double>(now);
    if (ns_per_byte_ == 0) return now;
    if (free_at_ - at > queue_bytes_ * ns_per_byte_) return -1;
    free_at_ = std::max(free_at_, at) + bytes * ns_per_byte_;
    return static_cast<Nanos>(free_at_);
  }

  bool idle(Nanos now) const { return free_at_ <= static_cast<double>(now); }

 private:
  double ns_per_byte_ = 0, queue_bytes_ = 0, free_at_ = 0;
};

/// Independent random loss. Draws once a loss, not once a packet: the gaps are geometric.
class Losses {
 public:
  void set(double probability, std::uint64_t seed) {
    if (probability == probability_) return;
    probability_ = probability;
    reseed(seed);
  }

  /// From now on the losses that this seed gives, as if none had been before.
  void reseed(std::uint64_t seed) {
    random_.seed(seed);
    draw();
  }

  bool next() {
    if (probability_ <= 0) return false;
    if (left_-- > 0) return false;
    draw();
    return true;
  }

 private:
  void draw() {
    if (probability_ <= 0) return;
    left_ = probability_ >= 1
                ? 0
                : static_cast<std::int64_t>(std::geometric_distribution<std::int64_t>(probability_)(random_));
  }

  double probability_ = 0;
  std::int64_t left_ = 0;
  std::mt19937_64 random_;
};

}  // namespace gridtorrent::wan
