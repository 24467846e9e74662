#include "client/tuning/byte_meter.h"

namespace gridtorrent::client::tuning {

void ByteMeter::look(const std::vector<PeerSample>& peers) {
  std::map<std::pair<NodeId, int>, std::uint64_t> lanes;
  for (const auto& peer : peers) {
    for (const auto& lane : peer.lanes) {
      const std::pair key(peer.node, lane.number);
      const auto known = lanes_.find(key);
      const std::uint64_t before = known == lanes_.end() ? (looked_ ? 0 : lane.received_bytes) : known->second;
      if (lane.received_bytes > before) bytes_ += static_cast<double>(lane.received_bytes - before);
      lanes[key] = lane.received_bytes;
    }
  }
  lanes_ = std::move(lanes);
  looked_ = true;
}

}  // namespace gridtorrent::client::tuning
