#include "client/engine/lane_standing.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace gridtorrent::client::engine {
namespace {

/// A dial may be looked at a little early: libtorrent's round is not exactly a second.
constexpr std::chrono::milliseconds kRoundJitter{100};
/// After this long without a dial the next one is a first one.
constexpr std::chrono::seconds kForgotten{10};

}  // namespace

bool acts_for_node(const LaneStanding& lane) {
  return lane.proven || lane.outgoing;
}

int lanes_in_place_of_ours(std::span<const LaneStanding> lanes, bool we_dial_by_rule) {
  std::uint64_t ours = 0, sum = 0;
  for (const LaneStanding& lane : lanes) {
    if (!lane.outgoing || !lane.open || lane.silent) continue;
    ++ours;
    sum += lane.bits_per_s;
  }
  const std::uint64_t least = ours == 0 ? 0 : sum / ours / 4;
  return static_cast<int>(std::ranges::count_if(lanes, [&](const LaneStanding& lane) {
    if (lane.outgoing || !lane.proven || !lane.open || lane.silent) return false;
    if (lane.bits_per_s == 0 && (we_dial_by_rule || sum > 0)) return false;
    return lane.bits_per_s >= least;
  }));
}

std::vector<std::size_t> lanes_beyond(std::span<const LaneStanding> lanes, std::size_t places) {
  if (lanes.size() <= places) return {};
  std::vector<std::size_t> order(lanes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto rank = [&](std::size_t i) {
    const LaneStanding& lane = lanes[i];
    const bool carries = lane.bits_per_s > 0;
    const auto age = lane.since.time_since_epoch();
    return std::tuple(carries, !lane.silent, lane.proven, carries ? -age : age);
  };
  std::ranges::stable_sort(order, {}, rank);
  order.resize(lanes.size() - places);
  return order;
}

bool is_silent(const TcpLiveness& tcp) {
  return tcp.unacknowledged && tcp.quiet >= std::max(kSilentAfter, 4 * tcp.round_trip);
}

bool wants_keep_alive(const TcpLiveness& tcp, bool waits) {
  return !tcp.unacknowledged && tcp.quiet >= (waits ? std::max(kAskAfter, 2 * tcp.round_trip) : kIdleFor);
}

std::vector<std::size_t> silent_lanes_to_end(std::span<const LaneStanding> lanes) {
  std::vector<std::size_t> ended;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const bool replaced = lanes[i].silent && std::ranges::any_of(lanes, [&](const LaneStanding& other) {
                            return other.open && !other.silent && acts_for_node(other) && other.since > lanes[i].since;
                          });
    if (replaced) ended.push_back(i);
  }
  return ended;
}

int dials_due(int lacking, Contact contact, std::optional<MonoTime> last_dial, MonoTime now) {
  if (lacking <= 0) return 0;
  const bool first = contact == Contact::kNone && (!last_dial || now - *last_dial > kForgotten);
  if (contact == Contact::kAnswers || first) return lacking;
  return !last_dial || now - *last_dial >= kTryAgain - kRoundJitter ? 1 : 0;
}

}  // namespace gridtorrent::client::engine
