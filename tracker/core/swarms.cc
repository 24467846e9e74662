#include "tracker/core/swarms.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gridtorrent::tracker {

namespace {
constexpr auto kWriteProgressAfter = std::chrono::minutes(1);
constexpr auto kWriteSeenAfter = std::chrono::minutes(10);
constexpr auto kKnownFor = std::chrono::hours(1);  // since a node's last sign of life; no call takes so long
constexpr std::uint64_t kWriteShare = 20;          // a twentieth: 5 %
// An age that is told twice differs by the time that the messages took. Below this it is the same moment.
constexpr auto kSameMoment = std::chrono::seconds(5);
}  // namespace

bool Swarms::expired(const NodeId& node, const Member& member, MonoTime now) const {
  const auto live = nodes_.find(node);
  const bool connected = live != nodes_.end() && live->second.connected > 0;
  return now - member.last_announce > (connected ? std::max(member.expiry, limits_.expiry) : limits_.expiry);
}

std::chrono::milliseconds Swarms::interval_of(const LiveNode& node) const {
  const std::chrono::milliseconds paced(static_cast<std::int64_t>(node.swarms.size()) * 1000 /
                                        std::max(limits_.announces_per_s, 1u));
  return std::max(limits_.interval, paced);
}

bool Swarms::is_complete(const Member& member) {
  if (member.role == SwarmRole::kFetching) return false;
  return member.total_bytes > 0 ? member.verified_bytes >= member.total_bytes : member.role == SwarmRole::kSeeding;
}

bool Swarms::due_for_write(const Member& member, MonoTime now) {
  if (!member.was_written || member.written_complete != is_complete(member)) return true;
  if (member.verified_at.has_value() != member.written_verified_at.has_value()) return true;
  if (member.verified_at && std::chrono::abs(*member.verified_at - *member.written_verified_at) > kSameMoment)
    return true;
  const auto since = now - member.written_at;
  if (member.verified_bytes == member.written_bytes) return since >= kWriteSeenAfter;
  const std::uint64_t moved = member.verified_bytes > member.written_bytes
                                  ? member.verified_bytes - member.written_bytes
                                  : member.written_bytes - member.verified_bytes;
  return since >= kWriteProgressAfter || moved >= std::max<std::uint64_t>(member.total_bytes / kWriteShare, 1);
}

Peer Swarms::brief(const NodeId& id, const Member& member) const {
  Peer peer;
  peer.node = id;
  peer.wants_data = member.role == SwarmRole::kFetching;
  peer.complete = is_complete(member);
  peer.verified_bytes = member.verified_bytes;
  const auto node = nodes_.find(id);
  if (node == nodes_.end()) return peer;
  peer.owner = node->second.owner;
  bool any = false, all_unreachable = true, reachable = false;
  for (const NodeEndpoint& one : node->second.endpoints) {
    if (one.endpoint.tls != member.tls) continue;
    any = true;
    reachable = reachable || one.reachability == Reachability::kReachable;
    all_unreachable = all_unreachable && one.reachability == Reachability::kUnreachable;
  }
  if (any && all_unreachable) peer.reachability = Reachability::kUnreachable;
  if (reachable) peer.reachability = Reachability::kReachable;
  return peer;
}

Peer Swarms::peer_of(const NodeId& id, const Member& member) const {
  Peer peer = brief(id, member);
  const auto node = nodes_.find(id);
  if (node == nodes_.end()) return peer;
  peer.key = node->second.key;
  std::vector<NodeEndpoint> endpoints = node->second.endpoints;
  std::erase_if(endpoints, [&](const NodeEndpoint& one) { return one.endpoint.tls != member.tls; });
  peer.reachability = overall_reachability(endpoints);
  // The ones that work come first; those the server cannot reach may still work from inside of a site.
  for (const Reachability wanted : {Reachability::kReachable, Reachability::kUnknown, Reachability::kUnreachable}) {
    for (const NodeEndpoint& endpoint : endpoints) {
      if (endpoint.reachability == wanted) peer.endpoints.push_back(endpoint.endpoint);
    }
  }
  return peer;
}

std::vector<Peer> Swarms::others(const Swarm& swarm, const NodeId& but, MonoTime now) const {
  std::vector<Peer> peers;
  for (const auto& [id, member] : swarm) {
    if (id == but || expired(id, member, now) || member.role == SwarmRole::kPaused) continue;
    peers.push_back(brief(id, member));
  }
  return peers;
}

std::vector<NodeId> Swarms::whom_to_tell(const std::vector<Peer>& others, const Peer& changed, bool wanted) const {
  std::vector<NodeId> nodes;
  for (const Peer& peer : select_peers(changed, others, limits_.selection, rng_)) nodes.push_back(peer.node);
  if (!wanted || changed.wants_data) return nodes;
  std::vector<Peer> seeding;
  std::ranges::copy_if(others, std::back_inserter(seeding), [](const Peer& peer) { return !peer.wants_data; });
  Peer before = changed;
  before.wants_data = true;
  for (const Peer& peer : select_peers(before, seeding, limits_.selection, rng_)) nodes.push_back(peer.node);
  return nodes;
}

std::vector<NodeId> Swarms::within_rate(LiveNode& node, std::vector<NodeId> tell, MonoTime now) const {
  const double passed_s = std::chrono::duration<double>(now - node.told_at).count();
  node.told = std::max(0.0, node.told - passed_s * limits_.tells_per_s);
  node.told_at = now;
  if (node.told + static_cast<double>(tell.size()) > limits_.tells_at_once) return {};
  node.told += static_cast<double>(tell.size());
  return tell;
}

void Swarms::leave(const Key& key, const NodeId& node) {
  const auto swarm = swarms_.find(key);
  if (swarm != swarms_.end()) {
    swarm->second.erase(node);
    if (swarm->second.empty()) swarms_.erase(swarm);
  }
  if (const auto live = nodes_.find(node); live != nodes_.end()) live->second.swarms.erase(key);
}

void Swarms::count_traffic(const Announce& announce) {
  std::size_t counted = 0;
  for (const PeerTraffic& entry : announce.traffic) {
    if (counted++ == limits_.max_traffic_entries) return;
    TrafficTotals& own = traffic_[announce.node];
    own.received_bytes += entry.received_bytes;
    own.sent_bytes += entry.sent_bytes;
    // Only of nodes that were seen: what a caller makes up must not fill our memory.
    if (!nodes_.contains(entry.node)) continue;
    TrafficTotals& partner = traffic_[entry.node];
    partner.received_by_partners_bytes += entry.received_bytes;
    partner.sent_by_partners_bytes += entry.sent_bytes;
  }
}

AnnounceResult Swarms::announce(const Announce& announce) {
  const std::lock_guard lock(mutex_);
  const MonoTime now = clock_.mono();
  const Key key(announce.content, announce.version);
  AnnounceResult result;
  result.next = limits_.interval;
  // Of a node that was removed while it called nothing is to stay.
  if (announce.role == SwarmRole::kGone && !nodes_.contains(announce.node)) return result;
  LiveNode& node = nodes_[announce.node];
  node.last_seen = now;
  node.sign = clock_.wall();
  node.key = announce.key;
  node.owner = announce.owner;
  count_traffic(announce);
  if (announce.role == SwarmRole::kGone) {
    const auto left = swarms_.find(key);
    const auto member = left == swarms_.end() ? Swarm::iterator() : left->second.find(announce.node);
    if (left != swarms_.end() && member != left->second.end()) {
      result.changed.node = announce.node;
      const bool wanted = member->second.role == SwarmRole::kFetching;
      result.tell =
          within_rate(node, whom_to_tell(others(left->second, announce.node, now), result.changed, wanted), now);
    }
    leave(key, announce.node);
    return result;
  }

  Swarm& swarm = swarms_[key];
  const auto [place, is_new] = swarm.try_emplace(announce.node);
  Member& member = place->second;
  const bool was_away = is_new || expired(announce.node, member, now);
  const SwarmRole old_role = member.role;
  const bool was_complete = !is_new && is_complete(member);
  member.role = announce.role;
  member.tls = announce.tls;
  member.verified_bytes = announce.verified_bytes;
  member.total_bytes = announce.total_bytes;
  member.verified_at = announce.verified_age ? std::optional(now - *announce.verified_age) : std::nullopt;
  member.last_announce = now;
  node.swarms.insert(key);
  result.next = interval_of(node);
  member.expiry = result.next * 5 / 2;

  if (due_for_write(member, now)) {
    result.write_replica = true;
    member.was_written = true;
    member.written_bytes = member.verified_bytes;
    member.written_complete = is_complete(member);
    member.written_verified_at = member.verified_at;
    member.written_at = now;
  }
  result.complete = is_complete(member);
  result.changed = peer_of(announce.node, member);
  const bool wanted = !was_away && old_role == SwarmRole::kFetching;
  const std::vector<Peer> around = others(swarm, announce.node, now);
  const auto tell_others = [&] {
    const std::vector<NodeId> whom = whom_to_tell(around, result.changed, wanted);
    result.tell = within_rate(node, whom, now);
    member.untold = result.tell.empty() && !whom.empty();
  };
  if (member.role == SwarmRole::kPaused) {
    result.changed.complete = false;
    result.changed.verified_bytes = 0;
    if ((!was_away && old_role != member.role) || member.untold) tell_others();
    return result;
  }
  for (const Peer& chosen : select_peers(result.changed, around, limits_.selection, rng_)) {
    result.peers.push_back(peer_of(chosen.node, swarm.at(chosen.node)));
  }
  const bool changed = was_away || old_role != member.role || was_complete != result.changed.complete;
  if (changed || member.untold) tell_others();
  return result;
}

std::vector<Swarms::Tell> Swarms::set_endpoints(const NodeId& node, const std::vector<NodeEndpoint>& endpoints) {
  const std::lock_guard lock(mutex_);
  const MonoTime now = clock_.mono();
  LiveNode& live = nodes_[node];
  live.sign = clock_.wall();
  const bool same = live.knows_endpoints && live.endpoints == endpoints;
  live.endpoints = endpoints;
  live.knows_endpoints = true;
  std::vector<Tell> tells;
  if (same) return tells;
  for (const Key& key : live.swarms) {
    const Swarm& swarm = swarms_.at(key);
    const Member& member = swarm.at(node);
    if (expired(node, member, now) || member.role == SwarmRole::kPaused) continue;
    Tell tell{key.first, key.second, peer_of(node, member), {}};
    std::vector<NodeId> whom =
        whom_to_tell(others(swarm, node, now), tell.changed, member.role == SwarmRole::kFetching);
    if (whom.empty()) continue;
    tell.tell = within_rate(live, std::move(whom), now);
    if (tell.tell.empty()) break;  // the others get them with their own next announce
    tells.push_back(std::move(tell));
  }
  return tells;
}

bool Swarms::knows_endpoints(const NodeId& node) const {
  const std::lock_guard lock(mutex_);
  const auto found = nodes_.find(node);
  return found != nodes_.end() && found->second.knows_endpoints;
}

void Swarms::set_connected(const NodeId& node, bool connected) {
  const std::lock_guard lock(mutex_);
  if (!connected && !nodes_.contains(node)) return;  // it was forgotten, and its stream ends for that
  LiveNode& live = nodes_[node];
  live.connected = std::max(0, live.connected + (connected ? 1 : -1));
  live.sign = clock_.wall();
  // A stream that closed says that the node is gone, whatever it said a moment ago.
  live.last_seen = connected || live.connected > 0 ? std::optional(clock_.mono()) : std::nullopt;
}

void Swarms::note_seen(const NodeId& node) {
  const std::lock_guard lock(mutex_);
  LiveNode& live = nodes_[node];
  live.last_seen = clock_.mono();
  live.sign = clock_.wall();
}

WallTime Swarms::last_sign(const NodeId& node) const {
  const std::lock_guard lock(mutex_);
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return {};
  return is_online(node, clock_.mono()) ? clock_.wall() : found->second.sign;
}

std::vector<std::pair<NodeId, WallTime>> Swarms::take_signs(std::chrono::milliseconds age) {
  const std::lock_guard lock(mutex_);
  const MonoTime now = clock_.mono();
  std::vector<std::pair<NodeId, WallTime>> signs;
  for (auto& [id, live] : nodes_) {
    const bool online = is_online(id, now);
    const WallTime sign = online ? clock_.wall() : live.sign;
    if (sign <= live.taken_sign || (online && sign - live.taken_sign < age)) continue;
    live.taken_sign = sign;
    signs.emplace_back(id, sign);
  }
  return signs;
}

void Swarms::forget(const NodeId& node) {
  const std::lock_guard lock(mutex_);
  const auto live = nodes_.find(node);
  if (live == nodes_.end()) return;
  for (const Key& key : std::set<Key>(live->second.swarms)) leave(key, node);
  nodes_.erase(node);
  traffic_.erase(node);
}

std::vector<std::pair<ContentId, NodeId>> Swarms::expire() {
  const std::lock_guard lock(mutex_);
  const MonoTime now = clock_.mono();
  std::vector<std::pair<Key, NodeId>> gone;
  for (const auto& [key, swarm] : swarms_) {
    for (const auto& [id, member] : swarm) {
      if (expired(id, member, now)) gone.emplace_back(key, id);
    }
  }
  std::vector<std::pair<ContentId, NodeId>> dropped;
  for (const auto& [key, id] : gone) {
    leave(key, id);
    dropped.emplace_back(key.first, id);
  }
  drop_long_away(now);
  return dropped;
}

void Swarms::drop_long_away(MonoTime now) {
  std::erase_if(nodes_, [&](const auto& entry) {
    const LiveNode& live = entry.second;
    if (is_online(live, now) || !live.swarms.empty() || live.sign > live.taken_sign) return false;
    return clock_.wall() - live.sign > kKnownFor;
  });
  std::erase_if(traffic_, [&](const auto& entry) { return !nodes_.contains(entry.first); });
}

std::vector<NodeId> Swarms::members(const ContentId& content) const {
  const std::lock_guard lock(mutex_);
  std::vector<NodeId> nodes;
  for (auto swarm = swarms_.lower_bound({content, 0}); swarm != swarms_.end() && swarm->first.first == content; ++swarm)
    for (const auto& [id, member] : swarm->second) nodes.push_back(id);
  return nodes;
}

bool Swarms::takes_part(const NodeId& node, const ContentId& content) const {
  const std::lock_guard lock(mutex_);
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return false;
  const auto swarm = found->second.swarms.lower_bound({content, 0});
  return swarm != found->second.swarms.end() && swarm->first == content;
}

ccm::LiveView::Counts Swarms::counts(const ContentId& content, std::uint32_t version) const {
  const std::lock_guard lock(mutex_);
  Counts counts;
  const auto swarm = swarms_.find({content, version});
  if (swarm == swarms_.end()) return counts;
  const MonoTime now = clock_.mono();
  for (const auto& [id, member] : swarm->second) {
    if (seeds(id, member, now)) ++counts.seeders;
    if (member.role == SwarmRole::kFetching && !expired(id, member, now)) ++counts.leechers;
  }
  return counts;
}

std::vector<NodeId> Swarms::seeders(const ContentId& content, std::uint32_t version) const {
  const std::lock_guard lock(mutex_);
  std::vector<NodeId> nodes;
  const auto swarm = swarms_.find({content, version});
  if (swarm == swarms_.end()) return nodes;
  const MonoTime now = clock_.mono();
  for (const auto& [id, member] : swarm->second) {
    if (seeds(id, member, now)) nodes.push_back(id);
  }
  return nodes;
}

bool Swarms::seeds(const NodeId& node, const Member& member, MonoTime now) const {
  return member.role == SwarmRole::kSeeding && is_complete(member) && !expired(node, member, now) &&
         is_online(node, now);
}

bool Swarms::is_online(const NodeId& node, MonoTime now) const {
  const auto found = nodes_.find(node);
  return found != nodes_.end() && is_online(found->second, now);
}

bool Swarms::is_online(const LiveNode& node, MonoTime now) const {
  return node.connected > 0 || (node.last_seen && now - *node.last_seen <= limits_.expiry);
}

bool Swarms::online(const NodeId& node) const {
  const std::lock_guard lock(mutex_);
  return is_online(node, clock_.mono());
}

TrafficTotals Swarms::traffic(const NodeId& node) const {
  const std::lock_guard lock(mutex_);
  const auto found = traffic_.find(node);
  return found == traffic_.end() ? TrafficTotals{} : found->second;
}

std::size_t Swarms::swarm_count() const {
  const std::lock_guard lock(mutex_);
  return swarms_.size();
}

std::size_t Swarms::member_count() const {
  const std::lock_guard lock(mutex_);
  std::size_t count = 0;
  for (const auto& [key, swarm] : swarms_) count += swarm.size();
  return count;
}

}  // namespace gridtorrent::tracker
