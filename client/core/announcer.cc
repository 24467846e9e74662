#include "client/core/announcer.h"

#include <algorithm>
#include <set>
#include <utility>

namespace gridtorrent::client {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLookAgain{10'000};

AnnounceRequest request_for(const Transfer& transfer, SwarmRole role, const std::map<NodeId, PeerTotals>& totals) {
  AnnounceRequest request;
  request.content = transfer.row.content.id;
  request.version = transfer.row.content.version;
  request.role = role;
  request.total_bytes = transfer.row.content.bytes;
  if (transfer.row.step == TransferStep::kHold) {
    request.verified_bytes = transfer.row.wanted_bytes;
  } else if (transfer.snapshot) {
    request.verified_bytes = verified_of_wanted(*transfer.snapshot, transfer.row.wanted_bytes);
  }
  const std::uint64_t refused = transfer.earlier_refused + (transfer.snapshot ? transfer.snapshot->refused_lanes : 0);
  request.refused_lanes = refused - std::min(refused, transfer.announce.acknowledged_refused);
  for (const auto& [node, total] : totals) {
    PeerTraffic delta{node, total.received_bytes, total.sent_bytes};
    if (const auto known = transfer.announce.acknowledged.find(node); known != transfer.announce.acknowledged.end()) {
      delta.received_bytes -= std::min(delta.received_bytes, known->second.received_bytes);
      delta.sent_bytes -= std::min(delta.sent_bytes, known->second.sent_bytes);
    }
    if (delta.received_bytes > 0 || delta.sent_bytes > 0) request.traffic.push_back(delta);
  }
  return request;
}

/// One that begins to want data gets the time to dial that a new one gets: dialling it at once, because no lane was
/// needed for long, would meet its own dials half-way, and both would give way.
void take_over(SwarmPeer& known, const PeerInfo& peer, bool is_new, MonoTime now) {
  if (is_new || (peer.wants_data && !known.info.wants_data)) known.nothing_since = known.no_outgoing_since = now;
  known.info = peer;
}

/// Not seeded for a reason that the server may take back.
bool may_be_unbarred(const Transfer& transfer) {
  const bool barred = transfer.row.step == TransferStep::kHold && transfer.barred && !transfer.barred_reason.empty();
  return barred && !transfer.look_again && !transfer.row.paused;
}

bool stands(const Transfer& transfer, const NodeId& node) {
  if (!transfer.snapshot) return false;
  return std::any_of(transfer.snapshot->peers.begin(), transfer.snapshot->peers.end(),
                     [&](const auto& peer) { return peer.node == node && !peer.lanes.empty(); });
}

}  // namespace

std::optional<SwarmRole> swarm_role(const Transfer& transfer) {
  switch (transfer.row.step) {
    case TransferStep::kPrepare:
    case TransferStep::kFetch:
    case TransferStep::kVerify:
    case TransferStep::kCommit:
      if (transfer.row.wanted_bytes == 0) return std::nullopt;
      return transfer.row.paused || transfer.held_back ? SwarmRole::kPaused : SwarmRole::kFetching;
    case TransferStep::kCheckLocal:
    case TransferStep::kAttach:
      if (!transfer.in_engine || transfer.barred) return std::nullopt;
      return transfer.row.paused ? SwarmRole::kPaused : SwarmRole::kSeeding;
    case TransferStep::kHold:
      if (transfer.barred) return std::nullopt;
      if (transfer.row.paused) return SwarmRole::kPaused;
      if (transfer.row.wanted_bytes > 0 && !transfer.serves()) return std::nullopt;
      return SwarmRole::kSeeding;
    default:
      return std::nullopt;
  }
}

bool claim_ended(const Transfer& transfer) {
  switch (transfer.row.step) {
    case TransferStep::kFailed:
    case TransferStep::kCancel:
      return true;
    case TransferStep::kCheckLocal:
      return transfer.held_back;
    case TransferStep::kAttach:
      return !transfer.in_engine;
    case TransferStep::kHold:
      return transfer.row.content.withdrawn || transfer.look_again;
    default:
      return false;
  }
}

bool announce_due(const Transfer& transfer, MonoTime by) {
  const auto& state = transfer.announce;
  if (state.in_flight || by < state.due) return false;
  return (state.claimed && claim_ended(transfer)) || swarm_role(transfer) || may_be_unbarred(transfer);
}

void Announcer::step(Transfer& transfer, MonoTime now) {
  if (!announce_due(transfer, now)) return;
  auto& state = transfer.announce;
  if (state.claimed && claim_ended(transfer)) return withdraw(transfer);
  const auto role = swarm_role(transfer);
  if (!role) return look_again(transfer);
  auto totals = traffic_totals(transfer);
  auto request = request_for(transfer, *role, totals);
  request.refused_handshakes = refused_handshakes();
  if (transfer.row.verified != WallTime{}) {
    request.verified_age = std::max(c_.ports.clock.wall() - transfer.row.verified, milliseconds(0));
  }
  state.in_flight = state.claimed = true;
  state.again = false;
  state.told_meanwhile.clear();
  if (!c_.calls.post([this, id = transfer.row.id, request, totals] { send(id, request, totals); })) {
    state.in_flight = false;
    told_of_handshakes(request, /*kept=*/false);
  }
}

/// They belong to no transfer: one announce at a time carries them.
std::uint64_t Announcer::refused_handshakes() {
  if (telling_handshakes_) return 0;
  const std::uint64_t refused = c_.ports.engine.refused_handshakes() - acknowledged_handshakes_;
  telling_handshakes_ = refused > 0;
  return refused;
}

void Announcer::told_of_handshakes(const AnnounceRequest& request, bool kept) {
  if (request.refused_handshakes == 0) return;
  telling_handshakes_ = false;
  if (kept) acknowledged_handshakes_ += request.refused_handshakes;
}

/// Another transfer of the same content that speaks for this node, or is about to: its announces replace what was
/// claimed before.
Transfer* Announcer::successor_of(const Transfer& transfer) {
  for (auto& [id, other] : c_.book.all()) {
    const bool same =
        other->row.content.id == transfer.row.content.id && other->row.content.version == transfer.row.content.version;
    const bool claims = swarm_role(*other) || (other->row.step == TransferStep::kHold && !other->barred);
    if (other.get() != &transfer && same && claims) return other.get();
  }
  return nullptr;
}

void Announcer::withdraw(Transfer& transfer) {
  auto& state = transfer.announce;
  if (auto* successor = successor_of(transfer)) {
    state.claimed = false;
    successor->announce.claimed = true;
    return;
  }
  AnnounceRequest request;
  request.content = transfer.row.content.id;
  request.version = transfer.row.content.version;
  request.role = SwarmRole::kGone;
  request.total_bytes = transfer.row.content.bytes;
  state.again = false;
  state.in_flight = c_.calls.post([this, id = transfer.row.id, request] { send_withdrawal(id, request); });
}

void Announcer::send_withdrawal(const TransferId& id, const AnnounceRequest& request) {
  const auto reply = c_.ports.link.announce(request);
  const auto lock = c_.book.lock();
  const auto now = c_.ports.clock.mono();
  for (auto& [other, transfer] : c_.book.all()) {  // one that began to claim meanwhile may have been overtaken
    if (other != id && transfer->row.content.id == request.content) transfer->announce.soon(now);
  }
  auto* transfer = c_.book.find(id);
  if (transfer == nullptr) return c_.wake();
  auto& state = transfer->announce;
  state.in_flight = false;
  const bool unknown = !reply && (reply.error().code == Code::kNotFound || reply.error().code == Code::kInvalid);
  if (reply || unknown) {
    state.failures = 0;
    state.claimed = false;
    state.due = now;
  } else {
    state.due = now + c_.retry_pause(++state.failures);
    c_.log(NodeLogLevel::kDebug,
           display_name(transfer->row) + " is not withdrawn yet, trying again: " + reply.error().message);
  }
  c_.wake();
}

void Announcer::look_again(Transfer& transfer) {
  transfer.announce.in_flight =
      c_.calls.post([this, id = transfer.row.id, content = transfer.row.content.id] { ask_access(id, content); });
}

void Announcer::ask_access(const TransferId& id, const ContentId& content) {
  const auto asked = c_.ports.clock.wall();
  const auto info = c_.ports.link.content(content.str());
  const auto lock = c_.book.lock();
  auto* transfer = c_.book.find(id);
  if (transfer == nullptr) return;
  auto& state = transfer->announce;
  state.in_flight = false;
  const auto count = static_cast<std::int64_t>(c_.book.all().size());
  state.due = c_.ports.clock.mono() + std::max(kLookAgain, milliseconds(100 * count));
  if (!info || transfer->row.step != TransferStep::kHold || !transfer->barred) return;
  c_.rights.hear(asked);
  if (std::exchange(transfer->row.refused, false)) c_.book.save_or_log(*transfer);
  c_.take_over(*transfer, *info);
  c_.settle_hold(*transfer);
  if (!transfer->barred) state.soon(c_.ports.clock.mono());
  c_.book.touch(*transfer);
  c_.wake_for(*transfer);
}

void Announcer::follow_edition(const TransferId& id, const ContentId& content) {
  const auto info = c_.ports.link.content(content.str());
  const auto lock = c_.book.lock();
  auto* transfer = c_.book.find(id);
  if (transfer == nullptr) return;
  if (info) {
    c_.take_over(*transfer, *info);
  } else {
    auto& state = transfer->announce;
    state.due = c_.ports.clock.mono() + c_.retry_pause(++state.failures);
  }
  c_.wake_for(*transfer);
}

void Announcer::content_changed(const std::optional<ContentId>& content, MonoTime now) {
  if (!content) return everything_due(now);
  for (auto& [id, transfer] : c_.book.all()) {
    if (transfer->row.content.id == *content) transfer->announce.soon(now);
  }
}

void Announcer::everything_due(MonoTime now) {
  const auto count = c_.book.all().size();
  const auto spread_ms = count < 50 ? 1 : std::min<std::uint64_t>(10'000, count * 10);
  for (auto& [id, transfer] : c_.book.all()) {
    transfer->announce.soon(now + milliseconds(static_cast<std::int64_t>(c_.ports.rng.below(spread_ms))));
  }
}

void Announcer::send(const TransferId& id, AnnounceRequest request, std::map<NodeId, PeerTotals> totals) {
  const auto asked = c_.ports.clock.wall();
  const auto reply = c_.ports.link.announce(request);
  if (reply) c_.rights.hear(asked);
  auto lock = c_.book.lock();
  told_of_handshakes(request, reply.ok());
  auto* transfer = c_.book.find(id);
  if (transfer == nullptr) return;
  auto& state = transfer->announce;
  const auto now = c_.ports.clock.mono();
  state.in_flight = false;
  if (reply) {
    state.failures = 0;
    state.trouble.clear();
    state.heard = true;
    if (std::exchange(transfer->row.refused, false)) c_.book.save_or_log(*transfer);
    state.acknowledged = std::move(totals);
    state.acknowledged_refused += request.refused_lanes;
    state.due = state.again ? now : now + reply->next;
    merge(*transfer, reply->peers, now);
    auto& content = transfer->row.content;
    if (request.role != SwarmRole::kGone && reply->generation != content.generation) {
      transfer->swarm.clear();  // the peers' endpoints are those of the other edition
      lock.unlock();
      return follow_edition(id, request.content);
    }
    if (!reply->name.empty() && (content.name != reply->name || content.owner != reply->owner)) {
      content.name = reply->name;
      content.owner = reply->owner;
      c_.book.save_or_log(*transfer);
    }
    if (content.audience != reply->audience) {
      content.audience = reply->audience;
      c_.audiences_unsaved.insert(id);
    }
  } else {
    ++state.failures;
    state.due = now + c_.retry_pause(state.failures);
    if (reply.error().code == Code::kBusy) {
      state.trouble = "server busy, retrying: " + reply.error().message;
    } else if (may_pass(reply.error())) {
      state.trouble = "server down, retrying";
    } else {
      refused(*transfer, reply.error(), now);
      if (reply.error().code == Code::kConflict) {  // withdrawn?
        lock.unlock();
        return follow_edition(id, request.content);
      }
    }
  }
  c_.book.touch(*transfer);
  c_.wake_for(*transfer);
}

void Announcer::refused(Transfer& transfer, const Error& error, MonoTime now) {
  const bool not_yours = error.code == Code::kNotFound || error.code == Code::kDenied;
  const std::string trouble = not_yours ? std::string(kNotYours) + " (" + error.message + ")"
                                        : "the server refused the announce: " + error.message;
  if (trouble != transfer.announce.trouble) {
    c_.log(NodeLogLevel::kWarning, display_name(transfer.row) + ": " + trouble);
  }
  transfer.announce.trouble = trouble;
  if (!not_yours) return;
  transfer.announce.due = now + kLookAgain;
  transfer.row.refused = true;
  transfer.row.content.audience.clear();
  if (transfer.holds()) {
    c_.settle_only(transfer);
    transfer.barred_reason = "not seeded: " + trouble;
  }
  c_.book.save_or_log(transfer);
}

void Announcer::merge(Transfer& transfer, const std::vector<PeerInfo>& peers, MonoTime now) {
  const auto& told = transfer.announce.told_meanwhile;
  std::set<NodeId> named = told;
  for (const auto& peer : peers) {
    if (peer.node == c_.options.node || peer.node.is_nil() || told.contains(peer.node)) continue;
    named.insert(peer.node);
    const auto [slot, is_new] = transfer.swarm.try_emplace(peer.node);
    take_over(slot->second, peer, is_new, now);
  }
  std::erase_if(transfer.swarm,
                [&](const auto& known) { return !named.contains(known.first) && !stands(transfer, known.first); });
  transfer.plan_due = true;
}

void Announcer::peer_changed(const ContentId& content, std::uint32_t version, const PeerInfo& peer, MonoTime now) {
  if (peer.node == c_.options.node || peer.node.is_nil()) return;
  for (auto& [id, transfer] : c_.book.all()) {
    if (transfer->row.content.id != content || transfer->row.content.version != version || !swarm_role(*transfer)) {
      continue;
    }
    const auto [slot, is_new] = transfer->swarm.try_emplace(peer.node);
    take_over(slot->second, peer, is_new, now);
    if (transfer->announce.in_flight) transfer->announce.told_meanwhile.insert(peer.node);
    transfer->plan_due = true;
    c_.wake_for(*transfer);
  }
}

}  // namespace gridtorrent::client
