#include "client/engine/loss_events.h"

#include <algorithm>

namespace gridtorrent::client::engine {
namespace {

/// TCP_INFINITE_SSTHRESH of Linux: never reduced.
constexpr std::uint32_t kNeverSet = 0x7fffffff;

}  // namespace

void LossEvents::look(MonoTime now, const LossFacts& facts) {
  if (facts.retransmits <= retransmits_) return;
  if (begins_event(now, facts)) {
    ++count_;
    srtt_us_ += facts.srtt_us;
    event_ = now;
    ssthresh_at_event_ = facts.ssthresh_segments;
  }
  retransmits_ = facts.retransmits;
  retransmitted_ = now;
}

bool LossEvents::begins_event(MonoTime now, const LossFacts& facts) const {
  if (!event_) return true;
  const std::chrono::microseconds round_trip(facts.srtt_us);
  if (facts.ssthresh_segments >= kNeverSet) return now - *event_ >= round_trip;
  return facts.ssthresh_segments != ssthresh_at_event_ || now - *retransmitted_ > round_trip;
}

std::chrono::microseconds look_every(std::uint32_t srtt_us) {
  return std::clamp<std::chrono::microseconds>(std::chrono::microseconds(srtt_us / 2), std::chrono::milliseconds(5),
                                               std::chrono::milliseconds(100));
}

}  // namespace gridtorrent::client::engine
