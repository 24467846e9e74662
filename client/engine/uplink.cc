#include "client/engine/uplink.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gridtorrent::client::engine {
namespace {

void pace(Lane& lane, std::uint64_t bytes_per_s) {
  if (lane.paced_bytes_per_s == bytes_per_s) return;
  lane.paced_bytes_per_s = bytes_per_s;
  lane.socket->set_pacing(bytes_per_s);
}

}  // namespace

void Uplink::tick(MonoTime now, std::span<const std::shared_ptr<Swarm>> swarms) {
  std::map<PeerKey, std::vector<std::shared_ptr<Lane>>> lanes;
  for (const auto& swarm : swarms) swarm->add_lanes(lanes);
  std::map<PeerKey, Sending> sending;
  for (const auto& [key, own] : lanes) {
    Sending& node = sending[key];
    for (const auto& lane : own) {
      node.bytes_per_s += static_cast<double>(lane->send_bits_per_s) / 8;
      node.wants_more = node.wants_more || lane->has_to_send;
    }
  }
  const std::map<PeerKey, Allowance> shares = shares_.decide(now, sending);
  std::erase_if(paces_, [&](const auto& entry) { return !shares.contains(entry.first); });
  for (const auto& [key, own] : lanes) {
    std::vector<std::shared_ptr<Lane>> busy;
    std::ranges::copy_if(own, std::back_inserter(busy), [](const auto& lane) { return lane->send_bits_per_s > 0; });
    const auto share = shares.find(key);
    const double rate =
        share == shares.end() ? 0 : paces_[key].next(share->second, sending[key].bytes_per_s, busy.size());
    for (const auto& lane : own) pace(*lane, static_cast<std::uint64_t>(rate));
  }
}

}  // namespace gridtorrent::client::engine
