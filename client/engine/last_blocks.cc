#include "client/engine/last_blocks.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "client/engine/request_depth.h"

namespace gridtorrent::client::engine {
namespace {

constexpr double kBlockBytes = 16 * 1024;
/// What moves has to come sooner by so much: as late as a block may be before a second lane is asked for it
/// (asked_blocks.cc).
constexpr double kMargin = 1.25;
/// Of what moves, some is on its way and comes twice. A moment of scheduling is no reason for it.
constexpr double kLeastGainS = 0.1;

/// Seconds until it has brought so many of the blocks that it was asked for.
double ends_s(const LastBlocks& lane, int blocks) {
  return blocks * kBlockBytes / lane.bytes_per_s;
}

/// The same of blocks that it is asked for now.
double brings_s(const LastBlocks& lane, int blocks) {
  const double bytes = (lane.asked + blocks) * kBlockBytes;
  return kMargin * (lane.round_trip_s + RequestDepth::kServiceAtTheEndS + bytes / lane.best_bytes_per_s);
}

/// What it was asked for does not fill its path, as that was and as it is now. One block tells nothing of that: so
/// libtorrent has it ask, again and again.
bool has_room(const LastBlocks& lane) {
  const double bytes = lane.asked * kBlockBytes;
  const bool now = lane.asked <= 1 || bytes <= lane.bytes_per_s * (lane.round_trip_s + RequestDepth::kServiceAtTheEndS);
  return lane.takes && lane.best_bytes_per_s > 0 && bytes <= lane.best_bytes_per_s * lane.round_trip_s && now;
}

/// The most blocks k with brings_s(to, k) ≤ ends_s(from, asked − k).
int even_part(const LastBlocks& from, const LastBlocks& to) {
  if (brings_s(to, from.asked) <= ends_s(from, 1)) return from.asked;
  const double left_s = ends_s(from, from.asked) - brings_s(to, 0);
  const double block_s = ends_s(from, 1) + kMargin * kBlockBytes / to.best_bytes_per_s;
  return static_cast<int>(std::clamp(std::floor(left_s / block_s), 0.0, static_cast<double>(from.asked)));
}

int moves(const LastBlocks& from, const LastBlocks& to) {
  if (from.node == to.node) return 0;
  const int blocks = std::min(even_part(from, to), to.depth - to.asked);
  if (blocks <= 0) return 0;
  const double then_s = std::max(ends_s(from, from.asked - blocks), brings_s(to, blocks));
  return ends_s(from, from.asked) - then_s < kLeastGainS ? 0 : blocks;
}

/// Sorted by `key`, the greatest first.
std::vector<std::size_t> places(const std::vector<LastBlocks>& lanes,
                                const std::function<bool(const LastBlocks&)>& is_one,
                                const std::function<double(const LastBlocks&)>& key) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    if (is_one(lanes[i])) found.push_back(i);
  }
  std::ranges::stable_sort(found, std::greater(), [&](std::size_t i) { return key(lanes[i]); });
  return found;
}

}  // namespace

std::optional<Reassignment> next_reassignment(const std::vector<LastBlocks>& lanes) {
  const auto takers = places(lanes, has_room, [](const LastBlocks& lane) { return lane.best_bytes_per_s; });
  if (takers.empty()) return std::nullopt;
  const auto givers = places(
      lanes, [](const LastBlocks& lane) { return lane.gives && lane.asked > 0 && lane.bytes_per_s > 0; },
      [](const LastBlocks& lane) { return ends_s(lane, lane.asked); });
  for (const std::size_t to : takers) {
    for (const std::size_t from : givers) {
      if (std::ranges::find(lanes[to].not_from, from) != lanes[to].not_from.end()) continue;
      const int blocks = moves(lanes[from], lanes[to]);
      if (blocks > 0) return Reassignment{from, to, blocks, brings_s(lanes[to], blocks)};
    }
  }
  return std::nullopt;
}

}  // namespace gridtorrent::client::engine
