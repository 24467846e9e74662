#include "tests/sim/baselines/script.h"

namespace gridtorrent::sim {
namespace {

std::chrono::nanoseconds nanoseconds(double seconds) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

double share(double part, double whole) {
  return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0;
}

}  // namespace

ScriptController::Counters ScriptController::count(const client::ControllerInput& input) {
  Counters counters{.at = input.now, .received = static_cast<double>(input.total_bytes - input.bytes_left)};
  for (const auto& peer : input.peers) {
    for (const auto& lane : peer.lanes) {
      if (!lane.theirs) continue;
      counters.sent += static_cast<double>(lane.theirs->sent_bytes);
      counters.resent += static_cast<double>(lane.theirs->resent_bytes);
    }
  }
  return counters;
}

client::Plan ScriptController::plan(const client::ControllerInput& input) {
  auto& promise = script_.promise();
  const Counters now = count(input);
  if (started_ && !script_.ended() && input.now >= until_) {
    if (!settles_) {
      const double seconds = std::chrono::duration<double>(now.at - begun_.at).count();
      promise.brought = {(now.received - begun_.received) * 8 / std::max(seconds, 1e-9),
                         share(now.resent - begun_.resent, now.sent - begun_.sent)};
      script_.resume();
      settles_ = promise.settle_s > 0;
    } else {
      settles_ = false;
    }
    begun_ = now;
    until_ = input.now + nanoseconds(settles_ ? promise.settle_s : promise.hold_s);
  } else if (!started_) {
    started_ = true;
    settles_ = promise.settle_s > 0;
    begun_ = now;
    until_ = input.now + nanoseconds(settles_ ? promise.settle_s : promise.hold_s);
  }
  client::Plan plan;
  const int sources = static_cast<int>(input.peers.size());
  for (int i = 0; i < sources; ++i) {
    const int channels = promise.setting.channels / sources + (i < promise.setting.channels % sources ? 1 : 0);
    const int lanes = std::min(channels * promise.setting.streams, client::kMaxLanesPerPeer);
    if (lanes > 0) plan.peers.push_back({.node = input.peers[static_cast<std::size_t>(i)].node, .lanes = lanes});
  }
  plan.reason.text = std::to_string(promise.setting.channels) + " x " + std::to_string(promise.setting.streams);
  return plan;
}

}  // namespace gridtorrent::sim
