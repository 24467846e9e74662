#include "client/core/plan_input.h"

#include <algorithm>

#include "client/core/path_history.h"

namespace gridtorrent::client {
namespace {

using std::chrono::milliseconds;

bool answers(const LaneSnapshot& lane) {
  return lane.state == LaneState::kOpen && !lane.silent;
}

void note_lane(DialPeer& peer, const LaneSnapshot& lane) {
  if (!answers(lane)) return;
  if (lane.outgoing) {
    peer.outgoing = true;
  } else if (lane.proven || !peer.info.key) {  // an older server names no keys
    peer.incoming = true;
    peer.incoming_carries = peer.incoming_carries || lane.carries;
  } else {
    peer.incoming_unproven = true;
  }
}

/// A deadline of a task may be any time; further away than that tells no more, and a sum would overflow.
constexpr milliseconds kFarthest = std::chrono::hours(24 * 366);

milliseconds since(MonoTime then, MonoTime now) {
  return std::chrono::duration_cast<milliseconds>(now - then);
}

LaneSample sample_of(const LaneSnapshot& lane) {
  LaneSample sample;
  sample.number = lane.number;
  sample.at = lane.sampled;
  sample.outgoing = lane.outgoing;
  sample.received_bytes = lane.sampled_bytes;
  sample.receive_bits_per_s = lane.sampled_bits_per_s;
  sample.outstanding_blocks = lane.outstanding_blocks;
  sample.own = lane.own;
  sample.theirs = lane.theirs;
  return sample;
}

/// What somebody sends who calls itself that node and has not proved it says nothing about the node.
bool speaks_for(const PeerInfo& peer, const LaneSnapshot& lane) {
  return answers(lane) && (lane.outgoing || lane.proven || !peer.key);
}

PeerSample sample_of(const PeerInfo& info, const std::optional<TorrentSnapshot>& snapshot) {
  PeerSample sample;
  sample.node = info.node;
  sample.complete = info.complete;
  sample.fetches = info.wants_data;
  sample.has_data = info.complete || info.wants_data || info.verified_bytes > 0;
  if (!snapshot) return sample;
  for (const auto& seen : snapshot->peers) {
    if (seen.node != info.node) continue;
    sample.receive_bits_per_s += seen.receive_bits_per_s;
    for (const auto& lane : seen.lanes) {
      if (!speaks_for(info, lane) || lane.rests) continue;
      sample.lanes.push_back(sample_of(lane));
      if (sample.network.empty()) sample.network = network_of(lane.local);
      if (sample.grants.empty()) sample.grants = lane.grants;
    }
  }
  sample.stands = !sample.lanes.empty();
  return sample;
}

/// The lower of two limits, of which 0 is none.
std::uint64_t lower(std::uint64_t one, std::uint64_t other) {
  return one == 0 || other == 0 ? std::max(one, other) : std::min(one, other);
}

}  // namespace

DialFacts dial_facts(const NodeId& self, Reachability self_reachability, Transfer& transfer, MonoTime now) {
  DialFacts facts;
  facts.self = self;
  facts.self_reachability = self_reachability;
  facts.wants_data = transfer.row.step == TransferStep::kFetch;
  facts.tls = transfer.row.content.generation != 0;
  for (auto& [node, known] : transfer.swarm) {
    DialPeer peer;
    peer.info = known.info;
    if (transfer.snapshot) {
      for (const auto& seen : transfer.snapshot->peers) {
        if (seen.node != node) continue;
        for (const auto& lane : seen.lanes) note_lane(peer, lane);
      }
    }
    if (peer.incoming || peer.outgoing) known.nothing_since = now;
    if (peer.outgoing) known.no_outgoing_since = now;
    peer.nothing_for = since(known.nothing_since, now);
    peer.no_outgoing_for = since(known.no_outgoing_since, now);
    facts.peers.push_back(std::move(peer));
  }
  return facts;
}

ControllerInput controller_input(const NodeOptions& node, const Transfer& transfer, const NodeLimits& limits, Now now) {
  ControllerInput input;
  input.transfer = transfer.row.id;
  input.now = now.mono;
  input.self = node.node;
  input.total_bytes = transfer.row.wanted_bytes;
  const std::uint64_t here =
      transfer.snapshot ? verified_of_wanted(*transfer.snapshot, input.total_bytes) : transfer.row.verified_bytes;
  input.file_sizes = transfer.file_sizes;
  input.bytes_left = input.total_bytes - std::min(here, input.total_bytes);
  input.lanes_wish = transfer.row.lanes_wish;
  input.seeders_wish = transfer.row.seeders_wish;
  input.limit_bits_per_s = lower(transfer.row.limit_bits_per_s, limits.receive_bits_per_s);
  const TuningWish& wish = transfer.row.wish;
  input.tuner = wish.tuner;
  input.mode = wish.mode.value_or(node.tuning.mode);
  input.target_bits_per_s = wish.target_bits_per_s;
  input.floor_bits_per_s = wish.floor_bits_per_s;
  if (wish.by) input.deadline = now.mono + std::clamp(*wish.by - now.wall, -kFarthest, kFarthest);
  input.tuner_limit_bits_per_s = transfer.tuner_limit;
  input.host = node.host;
  for (const auto& [id, known] : transfer.swarm) {
    if (id.is_nil() || id == node.node) continue;
    input.peers.push_back(sample_of(known.info, transfer.snapshot));
    input.peers.back().in_vain = known.in_vain;
  }
  return input;
}

std::uint64_t limit_beside(std::uint64_t own, std::uint64_t node, const ControllerInput& input) {
  std::uint64_t taken = 0;
  for (const auto& other : input.others) taken += std::min(other.receive_bits_per_s, node);
  const std::uint64_t even = node / (input.others.size() + 1);
  return lower(own, std::max(even, node - std::min(taken, node)));
}

Result<TuningWish> wish_from_now_on(const TransferRow& row, const WishChange& change, std::uint64_t limit_bits_per_s,
                                    std::string_view usual) {
  GT_TRY(changed_and_checked({}, change, limit_bits_per_s, usual));
  auto wish = changed_and_checked(row.wish, change, limit_bits_per_s, usual);
  if (wish) return wish;
  return Error{wish.error().code, wish.error().message + "; transfer " + row.id.str() +
                                      " was asked for some of it before: `transfer set` takes away a rate with 0, a " +
                                      "time with none, a tuner or mode with default"};
}

std::uint64_t receive_limit(const Transfer& transfer) {
  return lower(transfer.row.limit_bits_per_s, transfer.tuner_limit);
}

bool competes(const Transfer& transfer) {
  return transfer.row.step == TransferStep::kFetch && transfer.in_engine && transfer.active &&
         !transfer.engine_paused && !transfer.row.paused && !transfer.held_back;
}

OtherTransfer as_other(const Transfer& transfer) {
  OtherTransfer other;
  other.id = transfer.row.id;
  for (const auto& peer : transfer.plan.peers) other.sources.push_back(peer.node);
  if (transfer.snapshot) other.receive_bits_per_s = transfer.snapshot->receive_bits_per_s;
  return other;
}

}  // namespace gridtorrent::client
