#include "client/engine/loss_events.h"

#include <algorithm>
#include <utility>

namespace gridtorrent::client::engine {
namespace {

/// TCP_INFINITE_SSTHRESH of Linux: never reduced.
constexpr std::uint32_t kNeverSet = 0x7fffffff;

}  // namespace

void LossEvents::look(MonoTime now, const LossFacts& facts) {
  const bool repaired = std::exchange(repairs_, facts.repairs);
  if (facts.retransmits <= retransmits_) return;
  if (begins_event(now, facts, repaired)) {
    ++count_;
    srtt_us_ += facts.srtt_us;
    event_ = now;
    ssthresh_at_event_ = facts.ssthresh_segments;
  }
  retransmits_ = facts.retransmits;
  retransmitted_ = now;
}

bool LossEvents::begins_event(MonoTime now, const LossFacts& facts, bool repaired) const {
  if (!event_) return true;
  const std::chrono::microseconds round_trip(facts.srtt_us);
  if (facts.ssthresh_segments >= kNeverSet) return now - *event_ >= round_trip;
  if (facts.ssthresh_segments != ssthresh_at_event_) return true;
  return !repaired && now - *retransmitted_ > round_trip;
}

std::chrono::microseconds look_every(std::uint32_t srtt_us) {
  return std::clamp<std::chrono::microseconds>(std::chrono::microseconds(srtt_us / 2), std::chrono::milliseconds(5),
                                               std::chrono::milliseconds(100));
}

}  // namespace gridtorrent::client::engine
