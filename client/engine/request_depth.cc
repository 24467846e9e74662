#include "client/engine/request_depth.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace gridtorrent::client::engine {
namespace {

constexpr double kBlockBytes = 16 * 1024;
/// What a seeder may take to read and send a block beyond the round trip; and rounds are no shorter.
constexpr double kServiceS = 0.05, kShortestRoundS = 0.02;
/// What libtorrent's counter holds, less what we add.
constexpr double kMostBlocks = 60'000;
/// A dip shorter than this shrinks nothing.
constexpr auto kRemembered = std::chrono::seconds(4);

}  // namespace

void RequestDepth::set_round_trip(std::uint32_t us) {
  if (us > 0) round_trip_us_ = us;
}

void RequestDepth::received(MonoTime now, std::uint64_t bytes) {
  if (round_start_ == MonoTime{}) {
    // The first block opens the first round: it was on its way before.
    round_start_ = now;
    return;
  }
  round_bytes_ += bytes;
  const double round_s = this->round_s();
  const double elapsed_s = std::chrono::duration<double>(now - round_start_).count();
  if (now >= best_until_) {
    best_ = std::exchange(next_, {});
    best_until_ = now + kRemembered;
  }
  // A round that is not over yet can only become better.
  const double rate = static_cast<double>(round_bytes_) / std::max(elapsed_s, round_s);
  if (elapsed_s >= round_s) {
    end_round(elapsed_s);
    round_start_ = now;
    round_bytes_ = 0;
  }
  next_.note({rate, wanted(rate), bytes_per_s_});
  best_.note({rate, wanted(rate), bytes_per_s_});
  const double blocks = std::ceil(std::min(wanted(best_.bytes_per_s), best_.bytes) / kBlockBytes);
  depth_ = kLeast + static_cast<int>(std::min(blocks, kMostBlocks));
}

double RequestDepth::round_s() const {
  return std::max(round_trip_s(), kShortestRoundS);
}

double RequestDepth::wanted(double bytes_per_s) const {
  return bytes_per_s * (2 * round_trip_s() + kServiceS);
}

void RequestDepth::Best::note(const Best& other) {
  bytes_per_s = std::max(bytes_per_s, other.bytes_per_s);
  bytes = std::max(bytes, other.bytes);
  sustained_bytes_per_s = std::max(sustained_bytes_per_s, other.sustained_bytes_per_s);
}

void RequestDepth::end_round(double elapsed_s) {
  std::ranges::rotate(rounds_, rounds_.end() - 1);
  rounds_.front() = {static_cast<double>(round_bytes_), elapsed_s};
  const Round all = all_rounds();
  bytes_per_s_ = std::min(all.bytes / all.seconds, rounds_.front().bytes / elapsed_s);
}

RequestDepth::Round RequestDepth::all_rounds() const {
  Round all;
  for (const Round& round : rounds_) {
    all.bytes += round.bytes;
    all.seconds += round.seconds;
  }
  return all;
}

double RequestDepth::bytes_per_s(MonoTime now) const {
  const double open_s = std::chrono::duration<double>(now - round_start_).count();
  if (bytes_per_s_ <= 0 || open_s <= round_s()) return bytes_per_s_;
  const Round all = all_rounds();
  return std::min(bytes_per_s_, (all.bytes + static_cast<double>(round_bytes_)) / (all.seconds + open_s));
}

int RequestDepth::blocks_at_the_end(double left_s) const {
  if (bytes_per_s_ <= 0) return depth_;
  const double seconds = left_s + round_trip_s() + kServiceAtTheEndS;
  const double blocks = std::ceil(bytes_per_s_ * seconds / kBlockBytes);
  return static_cast<int>(std::clamp(blocks, 1.0, static_cast<double>(depth_)));
}

int RequestDepth::at_once(int depth) {
  return std::clamp(depth / 8, 1, 8);
}

}  // namespace gridtorrent::client::engine
