#include "client/core/transfer_book.h"

#include <algorithm>
#include <utility>

namespace gridtorrent::client {
namespace {

void add_totals(PeerTotals& into, std::uint64_t received, std::uint64_t sent, int lanes_peak) {
  into.received_bytes += received;
  into.sent_bytes += sent;
  into.lanes_peak = std::max(into.lanes_peak, lanes_peak);
}

/// Peers as the engine counts them, with earlier counts added, and those that are gone.
std::vector<PeerSnapshot> merged_peers(const Transfer& transfer) {
  std::vector<PeerSnapshot> peers;
  std::map<NodeId, PeerTotals> earlier = transfer.earlier;
  if (transfer.snapshot) {
    for (auto peer : transfer.snapshot->peers) {
      const auto before = earlier.find(peer.node);
      if (!peer.node.is_nil() && before != earlier.end()) {
        peer.received_bytes += before->second.received_bytes;
        peer.sent_bytes += before->second.sent_bytes;
        peer.lanes_peak = std::max(peer.lanes_peak, before->second.lanes_peak);
        earlier.erase(before);
      }
      peers.push_back(std::move(peer));
    }
  }
  for (const auto& [node, totals] : earlier) {
    PeerSnapshot gone;
    gone.node = node;
    gone.received_bytes = totals.received_bytes;
    gone.sent_bytes = totals.sent_bytes;
    gone.lanes_peak = totals.lanes_peak;
    peers.push_back(std::move(gone));
  }
  return peers;
}

void view_live_figures(const Transfer& transfer, TransferView& view) {
  if (!transfer.snapshot) return;
  const auto& snapshot = *transfer.snapshot;
  view.receive_bits_per_s = snapshot.receive_bits_per_s;
  view.send_bits_per_s = snapshot.send_bits_per_s;
  for (const auto& peer : snapshot.peers) {
    view.lanes += peer.lanes_in_use();
    if (peer.receive_bits_per_s > 0) ++view.seeders;
  }
  if (view.state == TransferState::kFetching) {
    if (view.receive_bits_per_s > 0) {
      view.eta = std::chrono::seconds((view.total_bytes - view.verified_bytes) * 8 / view.receive_bits_per_s);
    }
    if (snapshot.state == TorrentState::kChecking) view.state = TransferState::kVerifying;
  }
}

void view_publishing(const Transfer& transfer, TransferView& view) {
  view.publishing = transfer.publishing;
  const std::uint64_t rate = transfer.publishing ? transfer.publishing->bits_per_s : 0;
  if (rate == 0 || view.state != TransferState::kHashing) return;
  view.eta = std::chrono::seconds((view.total_bytes - view.verified_bytes) * 8 / rate);
}

std::string waiting_text(const Transfer& transfer) {
  std::string text = transfer.waiting_for;
  const auto add = [&text](const std::string& more) {
    if (!more.empty()) text += (text.empty() ? "" : "; ") + more;
  };
  for (const auto& problem : transfer.no_paths) add(problem.message);
  for (const auto& problem : transfer.problems) {
    const bool told = std::any_of(transfer.no_paths.begin(), transfer.no_paths.end(),
                                  [&](const auto& other) { return other.node == problem.node; });
    if (!told) add(problem.message);
  }
  if (transfer.row.step == TransferStep::kHold && transfer.barred) add(transfer.barred_reason);
  add(transfer.notice);
  return text;
}

}  // namespace

Transfer* TransferBook::find(const TransferId& id) {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

TransferBook::Transfers::iterator TransferBook::place_of(const TransferId& id) {
  return std::ranges::lower_bound(transfers_, id, {}, [](const auto& one) -> const TransferId& { return one.first; });
}

Transfer& TransferBook::insert(TransferRow row) {
  auto made = std::make_unique<Transfer>();
  made->row = std::move(row);
  Transfer& transfer = *made;
  const TransferId id = transfer.row.id;
  const auto place = place_of(id);
  std::vector<std::function<void()>> bells;
  if (place != transfers_.end() && place->first == id) {
    bells = std::move(place->second->bells);
    place->second = std::move(made);
  } else {
    transfers_.emplace(place, id, std::move(made));
  }
  by_id_[id] = &transfer;
  for (const auto& bell : bells) bell();
  journal_.touched(id);
  ring();
  return transfer;
}

void TransferBook::erase(TransferId id) {
  if (by_id_.erase(id) == 0) return;
  const auto found = place_of(id);
  const auto watched = found->second->watched;
  const auto bells = std::move(found->second->bells);
  transfers_.erase(found);
  if (watched) watched->notify_all();
  for (const auto& bell : bells) bell();
  journal_.removed(id);
  ring();
}

Status TransferBook::save(Transfer& transfer) {
  return store_.put_transfer(transfer.row);
}

Status TransferBook::save(const std::vector<TransferRow>& rows) {
  return store_.put_transfers(rows);
}

void TransferBook::save_or_log(Transfer& transfer) {
  if (const auto saved = save(transfer); !saved) {
    log_(NodeLogLevel::kError, "transfer " + transfer.row.id.str() + " is not written down: " + saved.error().message);
  }
}

void TransferBook::touch(Transfer& transfer) {
  ++transfer.revision;
  if (transfer.watched) transfer.watched->notify_all();
  for (const auto& bell : std::exchange(transfer.bells, {})) bell();
  if (is_gone(transfer)) {
    journal_.removed(transfer.row.id);
  } else {
    journal_.touched(transfer.row.id);
  }
  ring();
}

void TransferBook::touch_all() {
  journal_.touched_otherwise();
  ring();
}

void TransferBook::ring_after(std::uint64_t seen, std::function<void()> bell) {
  bell_ = std::move(bell);
  if (journal_.revision() > seen) ring();
}

void TransferBook::ring_on_change(const TransferId& id, std::uint64_t seen, std::function<void()> bell) {
  auto* transfer = find(id);
  if (transfer == nullptr || transfer->revision != seen) return bell();
  transfer->bells.push_back(std::move(bell));
}

void TransferBook::ring() {
  if (const auto bell = std::exchange(bell_, {})) bell();
}

void TransferBook::wait_for_change(Lock& lock, const TransferId& id, std::uint64_t seen,
                                   std::chrono::milliseconds timeout) {
  auto* transfer = find(id);
  if (transfer == nullptr || transfer->revision != seen) return;
  if (!transfer->watched) transfer->watched = std::make_shared<std::condition_variable>();
  const auto watched = transfer->watched;  // outlives the transfer while somebody waits
  watched->wait_for(lock, timeout, [&] {
    transfer = find(id);
    return transfer == nullptr || transfer->revision != seen;
  });
}

bool is_gone(const Transfer& transfer) {
  return transfer.row.step == TransferStep::kForgotten ||
         (transfer.row.step == TransferStep::kCancel && transfer.discarded);
}

TransferView make_view(const Transfer& transfer) {
  TransferView view = make_summary(transfer);
  view.peers = merged_peers(transfer);
  return view;
}

TransferView make_summary(const Transfer& transfer) {
  const auto& row = transfer.row;
  TransferView view;
  view.id = row.id;
  view.content = row.content.id;
  view.version = row.content.version;
  view.name = row.content.name;
  view.owner = row.content.owner;
  view.state = visible_state(row, transfer.active, transfer.held_back, transfer.seeds());
  view.total_bytes = row.wanted_bytes;
  const bool done =
      row.step == TransferStep::kHold || row.step == TransferStep::kVerify || row.step == TransferStep::kCommit;
  if (done) {
    view.verified_bytes = row.wanted_bytes;
  } else if (row.step == TransferStep::kHash || row.step == TransferStep::kAttach ||
             row.step == TransferStep::kCheckLocal) {
    view.verified_bytes = transfer.job_done;
    if (row.step == TransferStep::kHash) view.total_bytes = transfer.job_total;
  } else if (transfer.snapshot) {
    view.verified_bytes = verified_of_wanted(*transfer.snapshot, row.wanted_bytes);
  } else {
    view.verified_bytes = row.verified_bytes;
  }
  view_live_figures(transfer, view);
  view.lanes_peak = std::max(row.lanes_peak, view.lanes);
  view.path = join_path(row.target, row.base_name);
  if (!row.paused || !transfer.held_back) view.error = row.error;  // paused by hand, it does not go on by itself
  view.waiting_for = waiting_text(transfer);
  view.received_bytes = transfer.earlier_received;
  view.sent_bytes = transfer.earlier_sent;
  view.redundant_bytes = transfer.earlier_redundant;
  if (transfer.snapshot) {
    view.received_bytes += transfer.snapshot->received_payload_bytes;
    view.sent_bytes += transfer.snapshot->sent_payload_bytes;
    view.redundant_bytes += transfer.snapshot->redundant_bytes;
  }
  view.fetch_time = row.fetch_time;
  if (transfer.clock_runs && transfer.snapshot_at > transfer.fetching_since) {
    view.fetch_time +=
        std::chrono::duration_cast<std::chrono::milliseconds>(transfer.snapshot_at - transfer.fetching_since);
  }
  view.source = row.source;
  view.priority = row.priority;
  view.limit_bits_per_s = row.limit_bits_per_s;
  view.lanes_wish = row.lanes_wish;
  view.seeders_wish = row.seeders_wish;
  view.wish = row.wish;
  view.fetched = row.fetched;
  view.seeds_later = row.step == TransferStep::kHold && !transfer.barred_reason.empty() && !row.content.withdrawn;
  view.plan_reason = transfer.plan.reason;
  view.findings = transfer.findings;
  if (row.unpublished && row.step == TransferStep::kHash) view_publishing(transfer, view);
  view.created = row.created;
  view.revision = transfer.revision;
  return view;
}

std::map<NodeId, PeerTotals> traffic_totals(const Transfer& transfer) {
  auto totals = transfer.earlier;
  if (transfer.snapshot) {
    for (const auto& peer : transfer.snapshot->peers) {
      if (peer.node.is_nil()) continue;
      auto& total = totals[peer.node];
      total.node = peer.node;
      add_totals(total, peer.received_bytes, peer.sent_bytes, peer.lanes_peak);
    }
  }
  return totals;
}

void note_counters(Transfer& transfer, MonoTime now) {
  auto& row = transfer.row;
  row.peers.clear();
  for (const auto& [node, totals] : traffic_totals(transfer)) row.peers.push_back(totals);
  row.received_bytes = transfer.earlier_received;
  row.sent_bytes = transfer.earlier_sent;
  row.redundant_bytes = transfer.earlier_redundant;
  if (transfer.snapshot) {
    row.received_bytes += transfer.snapshot->received_payload_bytes;
    row.sent_bytes += transfer.snapshot->sent_payload_bytes;
    row.redundant_bytes += transfer.snapshot->redundant_bytes;
  }
  if (row.step == TransferStep::kFetch && transfer.snapshot && transfer.snapshot->state != TorrentState::kChecking) {
    row.verified_bytes = verified_of_wanted(*transfer.snapshot, row.wanted_bytes);
  }
  if (transfer.clock_runs) {
    row.fetch_time += std::chrono::duration_cast<std::chrono::milliseconds>(now - transfer.fetching_since);
    transfer.fetching_since = now;
  }
}

void fold_counters(Transfer& transfer, MonoTime now) {
  note_counters(transfer, now);
  transfer.earlier = traffic_totals(transfer);
  transfer.earlier_received = transfer.row.received_bytes;
  transfer.earlier_sent = transfer.row.sent_bytes;
  transfer.earlier_redundant = transfer.row.redundant_bytes;
  if (transfer.snapshot) transfer.earlier_refused += transfer.snapshot->refused_lanes;
  transfer.snapshot.reset();
  transfer.in_engine = false;
  transfer.engine_paused = false;
}

void mark_failed(Transfer& transfer, const Error& error) {
  transfer.row.step = TransferStep::kFailed;
  transfer.row.error = error;
  transfer.held_back = transfer.away = transfer.anew = false;
  transfer.clock_runs = false;
  transfer.metadata.reset();
  transfer.file_sizes.reset();
  transfer.verifier.reset();
  transfer.swarm.clear();
  transfer.announce.heard = false;
  transfer.waiting_for.clear();
}

}  // namespace gridtorrent::client
