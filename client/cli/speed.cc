#include "client/cli/speed.h"

namespace gridtorrent::client::cli {

namespace {
constexpr std::chrono::milliseconds kBetweenPoints{500}, kLeast{1000}, kWindow{10'000};
}

Speed SpeedMeter::note(MonoTime now, std::uint64_t done, std::uint64_t total) {
  if (!points_.empty() && done < points_.back().done) points_.clear();  // another phase
  if (points_.empty() || now - points_.back().at >= kBetweenPoints) points_.push_back({now, done});
  while (now - points_.front().at > kWindow && points_.size() > 1) points_.pop_front();
  const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(now - points_.front().at);
  if (elapsed < kLeast) return {};
  Speed speed;
  speed.bytes_per_s = (done - points_.front().done) * 1000 / static_cast<std::uint64_t>(elapsed.count());
  if (speed.bytes_per_s > 0 && total >= done)
    speed.eta = std::chrono::seconds((total - done + speed.bytes_per_s - 1) / speed.bytes_per_s);
  return speed;
}

}  // namespace gridtorrent::client::cli
