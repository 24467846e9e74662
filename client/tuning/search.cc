#include "client/tuning/search.h"

#include <algorithm>
#include <numeric>

#include "client/tuning/wording.h"

namespace gridtorrent::client::tuning {

double SearchInput::total_bytes() const {
  return std::accumulate(file_sizes.begin(), file_sizes.end(), 0.0);
}

double SearchInput::link_bits_per_s(double seen) const {
  const auto* const usual = std::ranges::lower_bound(kUsualLinks, seen);
  const double link = usual == kUsualLinks.end() ? seen : *usual;
  return limit_bits_per_s > 0 ? std::min(limit_bits_per_s, link) : link;
}

int SearchInput::most_channels(int lanes) const {
  const int each = kMaxLanesPerPeer / std::max(lanes, 1);
  const int all = most_lanes / std::max(lanes, 1);
  return std::max(1, std::min(each * static_cast<int>(seeders.size()), all));
}

std::vector<PeerShare> share_out(const std::vector<NodeId>& seeders, const std::vector<Channel>& channels,
                                 int most_lanes) {
  std::vector<PeerShare> shares;
  const std::size_t used = std::min(seeders.size(), std::max<std::size_t>(channels.size(), 1));
  for (std::size_t i = 0; i < used; ++i) shares.push_back({.node = seeders[i], .lanes = 0});
  for (std::size_t i = 0; i < channels.size() && used > 0; ++i) {
    PeerShare& share = shares[i % used];
    share.lanes = std::min(share.lanes + std::clamp(channels[i].lanes, 1, kMaxLanesPerPeer), kMaxLanesPerPeer);
    share.outstanding_blocks = std::max(share.outstanding_blocks, channels[i].outstanding_blocks);
  }
  int all = 0;
  for (auto& share : shares) all += share.lanes = std::max(share.lanes, 1);
  for (; all > most_lanes; --all) {
    // Among equals the last one, which came last.
    const auto largest = std::max_element(shares.rbegin(), shares.rend(),
                                          [](const auto& one, const auto& other) { return one.lanes < other.lanes; });
    if (largest == shares.rend() || largest->lanes <= 1) break;
    --largest->lanes;
  }
  return shares;
}

double seconds_between(MonoTime from, MonoTime to) {
  return to > from ? std::chrono::duration<double>(to - from).count() : 0;
}

std::string rate_text(double bits_per_s) {
  return formatted("%.1f Mbit/s", mbit(bits_per_s));
}

}  // namespace gridtorrent::client::tuning
