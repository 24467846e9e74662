#include "client/engine/requests.h"

#include <algorithm>
#include <chrono>
#include <libtorrent/error_code.hpp>
#include <libtorrent/operations.hpp>
#include <libtorrent/torrent_flags.hpp>
#include <libtorrent/torrent_handle.hpp>
#include <libtorrent/torrent_status.hpp>
#include <optional>
#include <span>
#include <vector>

#include "client/engine/internals.h"

namespace gridtorrent::client::engine {
namespace {

/// Of so many blocks that arrive, one has us look how near the end is.
constexpr int kLookEvery = 32;
/// So long before the last request lanes are given less and less.
constexpr double kSoonS = 2;
/// Of what a low limit has wait, lanes hold no more than this long comes to, and one block each.
constexpr double kWaitS = 2;
constexpr double kBlockBytes = 16 * 1024;
/// At the end lanes are compared so often, a tick of NetworkLoop; and where what should have moved could not (the other
/// end has none of it).
constexpr auto kReassignEvery = std::chrono::milliseconds(5), kReassignAgain = std::chrono::milliseconds(100);
/// Lanes from which none could move to one lane, at one look: each costs a search of all that was asked for.
constexpr std::size_t kMostMisses = 3;
/// After so many of its rounds what a lane brings is known: those of before, with a pause between, have left the mean
/// of four. The first one ends with a block that takes longer than a round trip.
constexpr double kKnownAfterRounds = 7;

MonoTime now_mono() {
  return std::chrono::steady_clock::now();
}

constexpr char kRequest = 6, kCancel = 8;

/// BEP 3, for each block: <length 13><message><piece><start><length>.
void send(char message, Lane& lane, std::span<const Block> blocks, MonoTime now) {
  if (blocks.empty() || lane.peer.is_disconnecting()) return;
  lane.hurry(now);
  std::vector<char> bytes;
  const auto number = [&](int value) {
    for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<char>((value >> shift) & 0xFF));
  };
  for (const Block& block : blocks) {
    number(13);
    bytes.push_back(message);
    for (const int value : {block.piece, block.start, block.length}) number(value);
  }
  lane.peer.send_buffer(bytes.data(), static_cast<int>(bytes.size()));
}

void send_request(Lane& lane, const Block& block, MonoTime now) {
  send(kRequest, lane, {&block, 1}, now);
}

/// Of the lane's torrent; nothing: it was removed a moment ago.
std::optional<lt::torrent_status> status_of(const Lane& lane) {
  try {
    return lane.peer.associated_torrent().status(lt::torrent_handle::query_accurate_download_counters);
  } catch (const lt::system_error&) {
    return std::nullopt;
  }
}

/// Of what is wanted.
std::uint64_t bytes_to_come(const lt::torrent_status& status) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, status.total_wanted - status.total_wanted_done));
}

std::chrono::nanoseconds seconds_of(double seconds) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(seconds, 3600.0) * 1e9));
}

Lane& lane_of(AskedBlocks::LaneKey key) {
  return *static_cast<Lane*>(key);
}

void forget(const Lane& lane, const Block& block) {
  forget_request(lane.peer, block.piece, block.start, block.length);
}

}  // namespace

int Requests::depth(const Lane& lane) const {
  if (lane.is_untried()) return 1;
  const auto found = depths_.find(&lane);
  const RequestDepth own = found == depths_.end() ? RequestDepth() : found->second;
  const int planned = lane.planned_blocks;
  return within_limit(planned > 0 ? planned : left_s_ ? own.blocks_at_the_end(*left_s_) : own.blocks());
}

int Requests::within_limit(int blocks) const {
  const std::uint64_t limit = this->limit();
  if (limit == 0) return blocks;
  const auto tried = std::ranges::count_if(depths_, [](const auto& one) { return !one.first->is_untried(); });
  const double lanes = static_cast<double>(std::max<std::ptrdiff_t>(tried, 1));
  const double share = kWaitS * static_cast<double>(limit) / kBlockBytes / lanes;
  return std::min(blocks, 1 + static_cast<int>(std::min(share, 60'000.0)));
}

/// Bytes a second that this torrent may count on; 0: no limit.
std::uint64_t Requests::limit() const {
  const std::uint64_t own = limit_, of_node = rates_->asking.part_of(*this);
  return own == 0 || of_node == 0 ? std::max(own, of_node) : std::min(own, of_node);
}

bool Requests::may_ask(Lane& lane, const Block& block) {
  const MonoTime now = now_mono();
  const auto bytes = static_cast<std::uint64_t>(block.length);
  pacer_.set_rate(limit_);
  // What is asked of strangers who send nothing must not use up the limits: it counts when it comes.
  const bool counts = !lane.is_untried();
  if (counts && (!waiting_.empty() || !pacer_.ready(now) || !rates_->asking.may_ask(*this, now))) {
    waiting_.push_back({&lane, block});
    note_waiting();
  } else {
    if (counts) count(now, bytes);
    if (asked_.ask(&lane, block, now)) {
      lane.hurry(now);
      return true;
    }
  }
  loop_->tick_soon();
  return false;
}

void Requests::count(MonoTime now, std::uint64_t bytes) {
  pacer_.take(now, bytes);
  rates_->asking.asked(*this, bytes, now);
}

bool Requests::may_ask_next(MonoTime now) {
  pacer_.set_rate(limit_);
  return !waiting_.empty() && pacer_.ready(now);
}

std::uint64_t Requests::ask_next(MonoTime now) {
  const Waiting next = waiting_.front();
  waiting_.pop_front();
  note_waiting();
  const auto bytes = static_cast<std::uint64_t>(next.block.length);
  pacer_.take(now, bytes);
  if (asked_.ask(next.lane, next.block, now)) send_request(*next.lane, next.block, now);
  return bytes;
}

void Requests::note_waiting() {
  rates_->asking.waits(*this, !waiting_.empty());
}

void Requests::arrived(Lane& lane, const Block& block) {
  const MonoTime now = now_mono();
  if (lane.is_untried()) count(now, static_cast<std::uint64_t>(block.length));
  lane.delivered = true;
  RequestDepth& depth = depths_[&lane];
  depth.set_round_trip(lane.round_trip_us);
  depth.received(now, static_cast<std::uint64_t>(block.length));
  rate_.add(now, static_cast<std::uint64_t>(block.length));
  for (const auto spared : asked_.arrived(&lane, block, now)) forget(lane_of(spared), block);
  std::erase_if(waiting_, [&](const Waiting& waiting) {
    if (waiting.block != block) return false;
    if (waiting.lane != &lane) forget(*waiting.lane, block);
    return true;
  });
  note_waiting();
  if (++arrivals_ % kLookEvery == 0) foresee_the_end();
  ask_due(now);
  if (left_s_) loop_->tick_soon();
}

/// Rates change, so what is near is looked at again and again.
void Requests::foresee_the_end() {
  left_s_.reset();
  if (depths_.empty() || rate_.bytes_per_s() <= 0) return;
  std::uint64_t asked = asked_.outstanding_bytes();
  for (const Waiting& waiting : waiting_) asked += static_cast<std::uint64_t>(waiting.block.length);
  const auto status = status_of(*depths_.begin()->first);
  const std::uint64_t to_come = status ? bytes_to_come(*status) : 0;
  const double unasked = to_come > asked ? static_cast<double>(to_come - asked) : 0;
  if (unasked < kSoonS * rate_.bytes_per_s()) left_s_ = unasked / rate_.bytes_per_s();
}

/// And may be: after a failed write, or while it is being paused, libtorrent asks for nothing either.
bool Requests::all_is_asked() const {
  const auto status = depths_.empty() ? std::nullopt : status_of(*depths_.begin()->first);
  if (!status || status->state != lt::torrent_status::downloading) return false;
  if (status->flags & (lt::torrent_flags::upload_mode | lt::torrent_flags::paused)) return false;
  return bytes_to_come(*status) <= asked_.outstanding_bytes();
}

/// The other end has to say what it refuses, as nodes do (BEP 6): else what was cancelled stays on libtorrent's books.
/// Nothing is taken from a lane that has just begun: what it brings is not known before some round trips.
LastBlocks Requests::last_blocks(Lane& lane, const RequestDepth& depth, MonoTime now) const {
  const bool usable = lane.lanes_id != 0 && !lane.is_untried() && !lane.peer.is_disconnecting();
  const auto found = reassigned_.find(&lane);
  const Reassigned before = found == reassigned_.end() ? Reassigned() : found->second;
  const auto since = asked_.outstanding_since(&lane);
  LastBlocks last;
  last.node = lane.node;
  last.bytes_per_s = depth.bytes_per_s(now);
  last.best_bytes_per_s = depth.sustained_bytes_per_s();
  if (before.bytes_per_s > 0) last.best_bytes_per_s = std::min(last.best_bytes_per_s, before.bytes_per_s);
  last.round_trip_s = depth.round_trip_s();
  last.asked = asked_.outstanding(&lane);
  last.depth = within_limit(lane.planned_blocks > 0 ? lane.planned_blocks.load() : depth.blocks());
  last.gives =
      usable && now >= before.until && since && now >= *since + seconds_of(kKnownAfterRounds * depth.round_s());
  last.takes = usable && lane.is_asked() && !lane.silent() && !lane.peer.has_peer_choked();
  return last;
}

/// libtorrent has an idle lane ask for one busy block in a round trip.
void Requests::reassign_last(MonoTime now) {
  if (!left_s_ || !waiting_.empty() || now < reassign_at_) return;
  reassign_at_ = now + kReassignEvery;
  std::vector<Lane*> lanes;
  std::vector<LastBlocks> last;
  for (const auto& [lane, depth] : depths_) {
    lanes.push_back(lane);
    last.push_back(last_blocks(*lane, depth, now));
  }
  bool checked = false;
  while (const auto next = next_reassignment(last)) {
    if (!checked && !all_is_asked()) break;
    checked = true;
    LastBlocks &from = last[next->from], &to = last[next->to];
    const int moved = reassign(*lanes[next->from], *lanes[next->to], next->blocks, now);
    if (moved == 0) {
      to.not_from.push_back(next->from);
      if (to.not_from.size() == kMostMisses) to.takes = false;
      reassign_at_ = now + kReassignAgain;
      continue;
    }
    from.asked -= moved;
    to.asked += moved;
    // Of what they bring now nothing is known before the next look.
    from.takes = to.takes = to.gives = false;
    reassigned_[lanes[next->to]].until = now + seconds_of(next->takes_s);
    reassigned_[lanes[next->from]].bytes_per_s = from.bytes_per_s;
  }
}

/// Returns how many were moved: only what the other end has, and what the lane was not to be asked for anyway.
int Requests::reassign(Lane& from, Lane& to, int blocks, MonoTime now) {
  std::vector<Block> moved;
  for (const Block& block : asked_.outstanding_blocks(&from)) {
    if (static_cast<int>(moved.size()) == blocks) break;
    if (!to.peer.has_piece(lt::piece_index_t(block.piece))) continue;
    if (move_request(from.peer, to.peer, block.piece, block.start, block.length)) moved.push_back(block);
  }
  std::ranges::reverse(moved);
  for (const Block& block : moved) {
    asked_.reassigned(block, &to, now);
    count(now, static_cast<std::uint64_t>(block.length));
  }
  send(kCancel, from, moved, now);
  send(kRequest, to, moved, now);
  return static_cast<int>(moved.size());
}

bool Requests::take_out(Lane& lane, const Block& block) {
  const bool waited = std::erase_if(waiting_, [&](const Waiting& waiting) {
                        return waiting.lane == &lane && waiting.block == block;
                      }) > 0;
  note_waiting();
  return asked_.cancelled(&lane, block) || waited;
}

/// After a failed write libtorrent cancels all, and counts on refusals to have the blocks free again. For what was held
/// back there is none; it frees what a closed connection had.
void Requests::cancelled(Lane& lane, const Block& block) {
  if (!take_out(lane, block)) return;
  confused_.insert(&lane);
  loop_->tick_soon();
}

/// Or it choked us, which refuses everything where it does not speak BEP 6.
void Requests::rejected(Lane& lane, const Block& block) {
  take_out(lane, block);
  asked_.rejected(&lane, block, now_mono());
}

void Requests::lane_closed(Lane& lane) {
  asked_.lane_closed(&lane);
  std::erase_if(waiting_, [&](const Waiting& waiting) { return waiting.lane == &lane; });
  note_waiting();
  confused_.erase(&lane);
  depths_.erase(&lane);
  reassigned_.erase(&lane);
}

void Requests::go_on() {
  const MonoTime now = now_mono();
  reassign_last(now);
  ask_due(now);
}

void Requests::ask_due(MonoTime now) {
  const std::set<Lane*> confused = std::exchange(confused_, {});
  for (Lane* const lane : confused) lane->peer.disconnect(lt::errors::no_error, lt::operation_t::bittorrent);
  rates_->asking.go_on(now);
  for (const auto& kept : asked_.due(now)) send_request(lane_of(kept.lane), kept.block, now);
  if (!waiting_.empty() || asked_.keeps_any()) loop_->tick_soon();
}

}  // namespace gridtorrent::client::engine
