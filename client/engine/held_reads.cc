#include "client/engine/held_reads.h"

#include <algorithm>
#include <iterator>

namespace gridtorrent::client::engine {
namespace {

/// As many as libtorrent keeps of a lane's requests (max_allowed_in_request_queue), and those that it reads.
constexpr std::size_t kMostAsked = 2200;

}  // namespace

void HeldReads::asked(LaneKey lane, const PeerKey& node, TorrentKey torrent, const Block& block) {
  std::size_t& of_lane = asked_of_lane_[lane];
  if (of_lane >= kMostAsked) return;
  ++of_lane;
  asked_[{torrent, block}].push_back({lane, node});
}

void HeldReads::refused(LaneKey lane, TorrentKey torrent, const Block& block) {
  const auto found = asked_.find({torrent, block});
  if (found == asked_.end()) return;
  auto& all = found->second;
  const auto own = std::ranges::find(all, lane, &Whose::lane);
  if (own == all.end()) return;
  --asked_of_lane_[lane];
  all.erase(own);
  if (all.empty()) asked_.erase(found);
}

HeldReads::Whose HeldReads::take_asked(const Wanted& wanted) {
  const auto found = asked_.find(wanted);
  if (found == asked_.end()) return {};
  const Whose whose = found->second.front();
  --asked_of_lane_[whose.lane];
  found->second.pop_front();
  if (found->second.empty()) asked_.erase(found);
  return whose;
}

void HeldReads::lane_closed(LaneKey lane) {
  let_go_if([&](const Held& held) { return held.lane == lane; });
  const auto count = asked_of_lane_.find(lane);
  if (count == asked_of_lane_.end()) return;
  const bool any = count->second > 0;
  asked_of_lane_.erase(count);
  if (!any) return;
  for (auto it = asked_.begin(); it != asked_.end();) {
    std::erase_if(it->second, [&](const Whose& whose) { return whose.lane == lane; });
    it = it->second.empty() ? asked_.erase(it) : std::next(it);
  }
}

std::size_t HeldReads::remembered() const {
  std::size_t all = 0;
  for (const auto& [wanted, whose] : asked_) all += whose.size();
  return all;
}

void HeldReads::read(TorrentKey torrent, const Block& block, std::function<void()> read, MonoTime now) {
  const Whose whose = take_asked({torrent, block});
  const auto bytes = static_cast<std::uint64_t>(block.length);
  shared_.set_rate(rate_);
  if (!reading_ && held_.empty() && shared_.next(now, {&whose.node, 1})) {
    shared_.pass(now, whose.node, bytes);
    return run(read);
  }
  held_[whose.node].push_back({whose.lane, torrent, bytes, std::move(read)});
  loop_->tick_soon();
}

void HeldReads::go_on(MonoTime now) {
  if (reading_ || held_.empty()) return;
  shared_.set_rate(rate_);
  for (bool any = true; any;) {  // what is read may have more read
    std::vector<PeerKey> nodes;
    for (const auto& [node, reads] : held_) nodes.push_back(node);
    any = false;
    while (const auto held = next(nodes, now)) {
      any = true;
      run(held->read);
    }
  }
  submit();
  if (!held_.empty()) loop_->tick_soon();
}

/// `nodes`: those that have something held; who has nothing left leaves it.
std::optional<HeldReads::Held> HeldReads::next(std::vector<PeerKey>& nodes, MonoTime now) {
  const auto turn = shared_.next(now, nodes);
  if (!turn) return std::nullopt;
  const PeerKey node = nodes[*turn];
  auto& reads = held_.at(node);
  Held held = std::move(reads.front());
  reads.pop_front();
  if (reads.empty()) {
    held_.erase(node);
    nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(*turn));
  }
  shared_.pass(now, node, held.bytes);
  return held;
}

void HeldReads::run(const std::function<void()>& read) {
  const bool before = std::exchange(reading_, true);
  read();
  reading_ = before;
}

void HeldReads::submit() const {
  if (submit_) submit_();
}

/// Taken out first: what is read may call back.
void HeldReads::let_go_if(const std::function<bool(const Held&)>& condition) {
  std::vector<Held> free;
  for (auto it = held_.begin(); it != held_.end();) {
    auto& reads = it->second;
    const auto gone = std::stable_partition(reads.begin(), reads.end(), [&](const Held& h) { return !condition(h); });
    std::move(gone, reads.end(), std::back_inserter(free));
    reads.erase(gone, reads.end());
    it = reads.empty() ? held_.erase(it) : std::next(it);
  }
  for (const Held& held : free) run(held.read);
  if (!free.empty()) submit();
}

void HeldReads::let_go(TorrentKey torrent) {
  let_go_if([&](const Held& held) { return held.torrent == torrent; });
}

void HeldReads::let_go_all() {
  let_go_if([](const Held&) { return true; });
}

}  // namespace gridtorrent::client::engine
