#include "client/engine/asked_blocks.h"

#include <algorithm>
#include <chrono>

namespace gridtorrent::client::engine {
namespace {

/// For a lane of which nothing has come yet, and the bounds for all.
constexpr double kUnknownS = 0.25, kShortestS = 0.1, kLongestS = 5;
constexpr double kPatience = 1.25;    // with 2, the last blocks of 300 MB came a tenth of a second later
constexpr double kSmoothing = 0.125;  // as TCP smooths its round trips (RFC 6298)

}  // namespace

MonoTime AskedBlocks::late_at(const Asked& asked) const {
  const auto known = service_s_.find(asked.lane);
  const double patience_s =
      std::clamp(kPatience * (known == service_s_.end() ? kUnknownS : known->second), kShortestS, kLongestS);
  return asked.at + std::chrono::nanoseconds(static_cast<std::int64_t>(patience_s * 1e9));
}

bool AskedBlocks::ask(LaneKey lane, const Block& block, MonoTime now) {
  const auto [found, is_new] = asked_.try_emplace(block, Asked{lane, now});
  if (is_new || found->second.lane == lane) return true;
  const MonoTime late = late_at(found->second);
  if (now >= late) {
    found->second = {lane, now};
    return true;
  }
  kept_.push_back({lane, block, late});
  return false;
}

std::vector<AskedBlocks::LaneKey> AskedBlocks::arrived(LaneKey lane, const Block& block, MonoTime now) {
  std::vector<LaneKey> spared;
  const auto found = asked_.find(block);
  if (found == asked_.end()) return spared;
  if (found->second.lane == lane) {
    const double took_s = std::chrono::duration<double>(now - found->second.at).count();
    const auto [known, is_first] = service_s_.try_emplace(lane, took_s);
    if (!is_first) known->second += kSmoothing * (took_s - known->second);
  }
  asked_.erase(found);
  for (const Kept& kept : kept_) {
    if (kept.block == block && kept.lane != lane) spared.push_back(kept.lane);
  }
  std::erase_if(kept_, [&](const Kept& kept) { return kept.block == block; });
  return spared;
}

bool AskedBlocks::cancelled(LaneKey lane, const Block& block) {
  return std::erase_if(kept_, [&](const Kept& kept) { return kept.lane == lane && kept.block == block; }) > 0;
}

void AskedBlocks::rejected(LaneKey lane, const Block& block) {
  const auto found = asked_.find(block);
  if (found != asked_.end() && found->second.lane == lane) asked_.erase(found);
}

void AskedBlocks::lane_closed(LaneKey lane) {
  std::erase_if(asked_, [&](const auto& entry) { return entry.second.lane == lane; });
  std::erase_if(kept_, [&](const Kept& kept) { return kept.lane == lane; });
  service_s_.erase(lane);
}

std::uint64_t AskedBlocks::outstanding_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [block, asked] : asked_) bytes += static_cast<std::uint64_t>(block.length);
  return bytes;
}

std::vector<AskedBlocks::Kept> AskedBlocks::due(MonoTime now) {
  std::vector<Kept> out;
  // One at a time: who is asked now is given its time before the next is asked as well.
  std::erase_if(kept_, [&](Kept& kept) {
    const auto asked = asked_.find(kept.block);
    kept.until = asked == asked_.end() ? now : late_at(asked->second);
    if (now < kept.until) return false;
    asked_[kept.block] = {kept.lane, now};
    out.push_back(kept);
    return true;
  });
  return out;
}

}  // namespace gridtorrent::client::engine
