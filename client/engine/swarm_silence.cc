// A path that is cut, and comes back: silent lanes are noticed, and fresh ones tried beside them.
#include <algorithm>

#include "client/engine/internals.h"
#include "client/engine/swarm.h"
#include "client/engine/tcp_info.h"

namespace gridtorrent::client::engine {
namespace {

/// libtorrent's round is not exactly a second.
constexpr std::chrono::milliseconds kRoundJitter{200};

}  // namespace

void Swarm::look_for_silence(Orders& orders, MonoTime now) {
  std::map<PeerKey, std::vector<std::shared_ptr<Lane>>> by_node;
  for (const auto& lane : lanes_) {
    if (lane->state == LaneState::kOpen && wants_keep_alive(lane->liveness, lane->outstanding_blocks > 0)) {
      orders.send.emplace_back(lane, std::vector<char>(4, '\0'));  // BEP 3: a message of length 0
    }
    if (!lane->node.is_nil() && lane->state != LaneState::kClosing) by_node[key_of(*lane)].push_back(lane);
    end_unanswered_dial(lane, orders, now);
  }
  for (const auto& [key, lanes] : by_node) {
    std::vector<LaneStanding> standings;
    for (const auto& lane : lanes) standings.push_back(lane->standing(now));
    for (const std::size_t i : silent_lanes_to_end(standings)) orders.close.push_back(lanes[i]);
  }
}

/// TLS handshakes take their time on a busy machine; TCP's does not.
void Swarm::end_unanswered_dial(const std::shared_ptr<Lane>& lane, Orders& orders, MonoTime now) {
  if (!lane->outgoing || lane->state != LaneState::kConnecting) return;
  if (now - lane->opened < kConnectTimeout - kRoundJitter || !lane->socket->connecting()) return;
  if (auto [link, target] = target_of(*lane); target != nullptr) {
    dial_went_wrong(*lane, *link, *target, "no answer", /*unanswered=*/true, now);
  }
  orders.close.push_back(lane);
}

void Swarm::dial_went_wrong(const Lane& lane, NodeLink& link, DialTarget& target, const std::string& error,
                            bool unanswered, MonoTime now) {
  if (unanswered && contact_with(lane.node) != Contact::kAnswers) {
    link.dial_unanswered(target, error);
  } else {
    link.dial_failed(target, error, now);
  }
}

Contact Swarm::contact_with(const NodeId& node) const {
  Contact contact = Contact::kNone;
  for (const auto& lane : lanes_) {
    if (!acts_for(*lane, node) || lane->state != LaneState::kOpen) continue;
    if (!lane->silent) return Contact::kAnswers;
    contact = Contact::kSilent;
  }
  return contact;
}

std::chrono::milliseconds Swarm::lanes_quiet_for(const NodeId& node) const {
  std::chrono::milliseconds least = std::chrono::hours(24);
  for (const auto& lane : lanes_) {
    if (acts_for(*lane, node) && lane->state == LaneState::kOpen) least = std::min(least, lane->liveness.quiet);
  }
  return least;
}

void Swarm::free_an_endpoint(const NodeId& node, Orders& orders) {
  std::shared_ptr<Lane> longest;
  for (const auto& lane : lanes_) {
    if (!acts_for(*lane, node) || !lane->outgoing || !lane->silent || lane->state != LaneState::kOpen) continue;
    if (!longest || lane->liveness.quiet > longest->liveness.quiet) longest = lane;
  }
  if (longest) orders.close.push_back(longest);
}

}  // namespace gridtorrent::client::engine
