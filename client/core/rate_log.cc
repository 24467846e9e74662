#include "client/core/rate_log.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gridtorrent::client {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSecond{950};      // looks are 200 ms apart, or a second
constexpr milliseconds kQuarter{14'500};  // of a minute; likewise
constexpr milliseconds kLookedAt{3'000};  // who is not looked at for so long is not in the engine: nothing moves
constexpr std::chrono::minutes kSecondsBlock{2}, kQuartersBlock{30};
constexpr std::size_t kBlockPoints = 200;  // more than a block has, but where the clock was set back
constexpr std::size_t kFullBlocks = 3;     // a disk that takes none of them: the oldest are given up

std::uint64_t rate(double bits, milliseconds span) {
  if (span <= milliseconds(0)) return 0;
  return static_cast<std::uint64_t>(std::llround(bits * 1000 / static_cast<double>(span.count())));
}

milliseconds between(MonoTime from, MonoTime to) {
  return std::chrono::duration_cast<milliseconds>(to - from);
}

Moment later(const Moment& moment, milliseconds by) {
  return {moment.mono + by, moment.wall + by};
}

/// The wall clock may have been set meanwhile: what it claims beyond the time that went by is not known.
RatePoint rest(const Moment& from, const Moment& to) {
  RatePoint point;
  point.at = to.wall;
  point.span = std::max(milliseconds(0), std::min(to.wall - from.wall, between(from.mono, to.mono)));
  return point;
}

}  // namespace

std::size_t RateLog::Track::size() const {
  std::size_t points = open.size();
  for (const auto& block : full) points += block.size();
  return points;
}

RateLog::Kept RateLog::fresh(WallTime created) const {
  Kept kept;
  kept.since = created > begun_.wall ? later(begun_, created - begun_.wall) : begun_;
  return kept;
}

void RateLog::note(const TransferId& id, WallTime created, const RateLook& look) {
  const bool moved = look.received_bytes > 0 || look.sent_bytes > 0;
  auto found = transfers_.find(id);
  if (found == transfers_.end()) {
    if (!moved) return;
    found = transfers_.emplace(id, fresh(created)).first;
    Moment& since = found->second.since;
    if (since.mono > look.before.mono) since = look.before;
  }
  Kept& kept = found->second;
  if (kept.rests() && !moved) return;
  if (points_ >= most_) {
    kept.since = look.now;
    kept.received = kept.sent = 0;
    return;
  }
  catch_up(kept, look);
  kept.received += look.received_bytes;
  kept.sent += look.sent_bytes;
  if (between(kept.since.mono, look.now.mono) >= kSecond) close_second(kept, look.now, look.lanes, look.sources);
  if (kept.seconds.dirty() || kept.quarters.dirty()) unsaved_.insert(id);
}

void RateLog::catch_up(Kept& kept, const RateLook& look) {
  const milliseconds unseen = between(kept.since.mono, look.before.mono);
  if (unseen < (kept.rests() ? kSecond : kLookedAt)) return;
  if (kept.pending()) close_second(kept, later(kept.since, kSecond), look.lanes, look.sources);
  const RatePoint nothing = rest(kept.since, look.before);
  if (nothing.span > milliseconds(0)) add(kept, nothing);
  kept.since = look.before;
}

void RateLog::close_second(Kept& kept, Moment at, int lanes, int sources) {
  RatePoint point;
  point.at = at.wall;
  point.span = between(kept.since.mono, at.mono);
  point.down_bits_per_s = rate(static_cast<double>(kept.received) * 8, point.span);
  point.up_bits_per_s = rate(static_cast<double>(kept.sent) * 8, point.span);
  point.lanes = lanes;
  point.sources = sources;
  kept.idle = !kept.pending();
  kept.since = at;
  kept.received = kept.sent = 0;
  add(kept, point);
}

void RateLog::add(Kept& kept, const RatePoint& point) {
  push(kept.seconds, point, kSecondsBlock);
  if (point.idle() && point.span >= kQuarter) {
    close_sum(kept, point.from());
    return push(kept.quarters, point, kQuartersBlock);
  }
  Sum& sum = kept.sum;
  const double seconds = std::chrono::duration<double>(point.span).count();
  sum.span += point.span;
  sum.down_bits += static_cast<double>(point.down_bits_per_s) * seconds;
  sum.up_bits += static_cast<double>(point.up_bits_per_s) * seconds;
  sum.lanes = std::max(sum.lanes, point.lanes);
  sum.sources = std::max(sum.sources, point.sources);
  if (sum.span >= kQuarter) close_sum(kept, point.at);
}

void RateLog::close_sum(Kept& kept, WallTime at) {
  const Sum sum = std::exchange(kept.sum, {});
  if (sum.span == milliseconds(0)) return;
  const RatePoint point{at,        sum.span,   rate(sum.down_bits, sum.span), rate(sum.up_bits, sum.span),
                        sum.lanes, sum.sources};
  push(kept.quarters, point, kQuartersBlock);
}

void RateLog::push(Track& track, const RatePoint& point, milliseconds length) {
  const bool full =
      !track.open.empty() && (point.at - track.open.front().at >= length || track.open.size() >= kBlockPoints);
  if (full) {
    if (track.saved < track.open.size()) {
      track.full.push_back(std::move(track.open));
    } else {
      points_ -= track.open.size();
    }
    track.open.clear();
    track.saved = 0;
    if (track.full.size() > kFullBlocks) {
      points_ -= track.full.front().size();
      track.full.erase(track.full.begin());
    }
  }
  track.open.push_back(point);
  ++points_;
}

void RateLog::drop(Track& track) {
  points_ -= track.size();
  track = {};
}

void RateLog::forget(const TransferId& id) {
  const auto found = transfers_.find(id);
  if (found == transfers_.end()) return;
  drop(found->second.seconds);
  drop(found->second.quarters);
  transfers_.erase(found);
  unsaved_.erase(id);
}

std::vector<RateBlock> RateLog::held(const TransferId& id, WallTime created, Moment now) const {
  std::vector<RateBlock> blocks;
  const auto found = transfers_.find(id);
  const Kept kept = found == transfers_.end() ? fresh(created) : found->second;
  for (const bool seconds : {true, false}) {
    const Track& track = seconds ? kept.seconds : kept.quarters;
    for (const auto& full : track.full) blocks.push_back({id, seconds, full});
    if (!track.open.empty()) blocks.push_back({id, seconds, track.open});
  }
  const bool looked_at = between(kept.since.mono, now.mono) < kLookedAt;
  if (looked_at && !kept.rests()) return blocks;
  const RatePoint resting = rest(kept.since, now);
  if (resting.span > milliseconds(0)) blocks.push_back({id, true, {resting}});
  return blocks;
}

std::vector<RateBlock> RateLog::blocks_to_save(const TransferId& id) const {
  std::vector<RateBlock> blocks;
  const auto found = transfers_.find(id);
  if (found == transfers_.end()) return blocks;
  for (const bool seconds : {true, false}) {
    const Track& track = seconds ? found->second.seconds : found->second.quarters;
    for (const auto& full : track.full) blocks.push_back({id, seconds, full});
    if (track.saved < track.open.size()) blocks.push_back({id, seconds, track.open});
  }
  return blocks;
}

void RateLog::note_saved(Track& track, const RateBlock& block) {
  const WallTime name = block.points.front().at;
  if (!track.open.empty() && track.open.front().at == name) {
    track.saved = block.points.size();
    return;
  }
  const auto full = std::ranges::find(track.full, name, [](const auto& points) { return points.front().at; });
  // It may have grown since, and then become full.
  if (full == track.full.end() || full->size() > block.points.size()) return;
  points_ -= full->size();
  track.full.erase(full);
}

void RateLog::saved(const std::vector<RateBlock>& blocks) {
  for (const RateBlock& block : blocks) {
    const auto found = transfers_.find(block.transfer);
    if (found == transfers_.end()) continue;
    Kept& kept = found->second;
    note_saved(block.seconds ? kept.seconds : kept.quarters, block);
    if (!kept.seconds.dirty() && !kept.quarters.dirty()) unsaved_.erase(block.transfer);
  }
}

void RateLog::let_go(Moment now) {
  for (auto& [id, kept] : transfers_) {
    const milliseconds resting = between(kept.since.mono, now.mono);
    if (resting >= kSecondsBlock && kept.sum.span > milliseconds(0)) {
      close_sum(kept, kept.since.wall);
      unsaved_.insert(id);
    }
    if (resting >= kSecondsBlock && !kept.seconds.dirty()) drop(kept.seconds);
    if (resting >= kQuartersBlock && !kept.quarters.dirty()) drop(kept.quarters);
  }
}

}  // namespace gridtorrent::client
