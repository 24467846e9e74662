// Which congestion control the lanes of a torrent have: asked for by who receives, granted by who sends.
#include <algorithm>

#include "client/engine/congestion_grants.h"
#include "client/engine/swarm.h"
#include "client/engine/tcp_info.h"

namespace gridtorrent::client::engine {
namespace {

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

}  // namespace

std::vector<std::string> Swarm::grants() const {
  if (congestion_controls_.empty()) return {};
  return granted_congestion_controls(congestion_controls_, allowed_congestion_controls());
}

void Swarm::ask_for_congestion_control(const NodeId& node, NodeLink& link, Orders& orders) {
  const std::string wish = link.plan ? link.plan->congestion_control : std::string();
  int lanes_left = link.plan && link.plan->congestion_lanes > 0 ? link.plan->congestion_lanes : kMaxLanes;
  const Lane* refuses = nullptr;
  for (const auto& lane : lanes_) {
    if (!acts_for(*lane, node) || lane->state != LaneState::kOpen || !lane->greeted || lane->drains) continue;
    const std::string wanted = lanes_left-- > 0 ? wish : "";
    const auto next = congestion_change(wanted, lane->peer_congestion_controls, lane->asked_congestion_control);
    if (next.value_or(lane->asked_congestion_control) != wanted) refuses = lane.get();
    if (!next || lane->congestion_id == 0) continue;
    lane->asked_congestion_control = *next;
    orders.send.emplace_back(lane, frame(lane->congestion_id, encode_congestion(*next)));
  }
  if (refuses == nullptr || link.refused_congestion_control == wish) return;
  link.refused_congestion_control = wish;
  orders.warnings.push_back(node.str() + " does not send with congestion control \"" + wish + "\": it grants " +
                            listed(refuses->peer_congestion_controls) + ". Its owner can allow it with gridtorrentd " +
                            "--lane-congestion-control " + wish);
}

void Swarm::lane_wants_congestion(Lane& lane, std::string name) {
  const std::lock_guard lock(mutex_);
  lane.congestion_wish = std::move(name);
}

void Swarm::grant_congestion_controls(Orders& orders) {
  const bool concerned = std::ranges::any_of(
      lanes_, [](const auto& lane) { return !lane->congestion_wish.empty() || !lane->congestion_control.empty(); });
  if (!concerned) return;
  const auto granted = grants();
  for (const auto& lane : lanes_) {
    if (lane->state != LaneState::kOpen || !lane->grant_congestion_control(granted) || lane->stats_id == 0) continue;
    orders.send.emplace_back(lane, frame(lane->stats_id, encode_stats(*lane->own)));
  }
}

}  // namespace gridtorrent::client::engine
