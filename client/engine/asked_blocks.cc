#include "client/engine/asked_blocks.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>

namespace gridtorrent::client::engine {
namespace {

/// For a lane of which nothing has come yet, and the bounds for all.
constexpr double kUnknownS = 0.25, kShortestS = 0.1, kLongestS = 5;
constexpr double kPatience = 1.25;  // with 2, the last blocks of 300 MB came a tenth of a second later
/// libtorrent asks a lane anew as soon as it brought something.
constexpr std::chrono::milliseconds kMoment{5};
constexpr double kSmoothing = 0.125;  // as TCP smooths its round trips (RFC 6298)

}  // namespace

MonoTime AskedBlocks::late_at(const Asked& asked) const {
  const auto known = service_s_.find(asked.lane);
  const double patience_s =
      std::clamp(kPatience * (known == service_s_.end() ? kUnknownS : known->second), kShortestS, kLongestS);
  return asked.at + std::chrono::nanoseconds(static_cast<std::int64_t>(patience_s * 1e9));
}

/// Only if nobody was asked before.
std::pair<AskedBlocks::Entry, bool> AskedBlocks::put(const Block& block, LaneKey lane, MonoTime now) {
  const auto [entry, is_new] = asked_.try_emplace(block, Asked{lane, now, order_});
  if (is_new) {
    ++order_;
    outstanding_bytes_ += static_cast<std::uint64_t>(block.length);
    count_in(lane, now);
  }
  return {entry, is_new};
}

void AskedBlocks::give(Entry entry, LaneKey lane, MonoTime now) {
  count_in(lane, now);
  count_out(entry->second.lane, now);
  entry->second = {lane, now, order_++};
}

AskedBlocks::Entry AskedBlocks::take(Entry entry, MonoTime now) {
  outstanding_bytes_ -= static_cast<std::uint64_t>(entry->first.length);
  count_out(entry->second.lane, now);
  return asked_.erase(entry);
}

void AskedBlocks::count_in(LaneKey lane, MonoTime now) {
  Outstanding& own = outstanding_[lane];
  if (own.blocks++ == 0 && now - own.until > kMoment) own.since = now;
}

void AskedBlocks::count_out(LaneKey lane, MonoTime now) {
  Outstanding& own = outstanding_[lane];
  if (--own.blocks == 0) own.until = now;
}

bool AskedBlocks::ask(LaneKey lane, const Block& block, MonoTime now) {
  const auto [found, is_new] = put(block, lane, now);
  if (is_new || found->second.lane == lane) return true;
  const MonoTime late = late_at(found->second);
  if (now >= late) {
    give(found, lane, now);
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
  take(found, now);
  for (const Kept& kept : kept_) {
    if (kept.block == block && kept.lane != lane) spared.push_back(kept.lane);
  }
  std::erase_if(kept_, [&](const Kept& kept) { return kept.block == block; });
  return spared;
}

bool AskedBlocks::cancelled(LaneKey lane, const Block& block) {
  return std::erase_if(kept_, [&](const Kept& kept) { return kept.lane == lane && kept.block == block; }) > 0;
}

void AskedBlocks::rejected(LaneKey lane, const Block& block, MonoTime now) {
  const auto found = asked_.find(block);
  if (found != asked_.end() && found->second.lane == lane) take(found, now);
}

void AskedBlocks::lane_closed(LaneKey lane) {
  for (Entry entry = asked_.begin(); entry != asked_.end();) {
    entry = entry->second.lane == lane ? take(entry, {}) : std::next(entry);
  }
  std::erase_if(kept_, [&](const Kept& kept) { return kept.lane == lane; });
  service_s_.erase(lane);
  outstanding_.erase(lane);
}

std::vector<AskedBlocks::Kept> AskedBlocks::due(MonoTime now) {
  std::vector<Kept> out;
  // One at a time: who is asked now is given its time before the next is asked as well.
  std::erase_if(kept_, [&](Kept& kept) {
    const auto asked = asked_.find(kept.block);
    kept.until = asked == asked_.end() ? now : late_at(asked->second);
    if (now < kept.until) return false;
    if (asked != asked_.end()) {
      give(asked, kept.lane, now);
    } else {
      put(kept.block, kept.lane, now);
    }
    out.push_back(kept);
    return true;
  });
  return out;
}

int AskedBlocks::outstanding(LaneKey lane) const {
  const auto found = outstanding_.find(lane);
  return found == outstanding_.end() ? 0 : found->second.blocks;
}

std::optional<MonoTime> AskedBlocks::outstanding_since(LaneKey lane) const {
  const auto found = outstanding_.find(lane);
  if (found == outstanding_.end() || found->second.blocks == 0) return std::nullopt;
  return found->second.since;
}

std::vector<Block> AskedBlocks::outstanding_blocks(LaneKey lane) const {
  std::vector<std::pair<std::uint64_t, Block>> found;
  for (const auto& [block, asked] : asked_) {
    if (asked.lane == lane) found.emplace_back(asked.order, block);
  }
  std::ranges::sort(found, std::ranges::greater());
  std::vector<Block> blocks;
  for (const auto& [order, block] : found) blocks.push_back(block);
  return blocks;
}

void AskedBlocks::reassigned(const Block& block, LaneKey lane, MonoTime now) {
  const auto found = asked_.find(block);
  if (found != asked_.end()) give(found, lane, now);
}

}  // namespace gridtorrent::client::engine
