#include "client/core/node_steps.h"

#include <algorithm>

#include "client/core/plan_input.h"
#include "client/plan/controller.h"
#include "common/shell_words.h"
#include "common/text.h"

namespace gridtorrent::client {
namespace {

constexpr std::size_t kAtOnce = 200;

Status check_settings(const TransferSettings& settings) {
  if (settings.lanes && (*settings.lanes < 0 || *settings.lanes > kMaxLanesPerPeer)) {
    return Error{Code::kInvalid, "--lanes takes 1 to " + std::to_string(kMaxLanesPerPeer) + ", or auto"};
  }
  if (settings.seeders && (*settings.seeders < 0 || *settings.seeders > 1000)) {
    return Error{Code::kInvalid, "--seeders takes 1 to 1000, or auto"};
  }
  return {};
}

/// What the transfer's tuner is asked for from now on.
Result<TuningWish> wish_after(const TransferRow& row, const TransferSettings& settings, std::string_view usual_tuner) {
  if (settings.wish != WishChange{} && !in_progress(row.step) && row.step != TransferStep::kFailed) {
    return Error{Code::kConflict,
                 "transfer " + row.id.str() + " fetches nothing any more: there is nothing that a tuner could do"};
  }
  return wish_from_now_on(row, settings.wish, settings.limit_bits_per_s.value_or(row.limit_bits_per_s), usual_tuner);
}

/// Where one that failed begins again.
TransferStep step_to_retry(const TransferRow& row) {
  if (row.unpublished) return TransferStep::kHash;
  if (!row.replaces.is_nil()) return TransferStep::kCheckLocal;
  const bool nothing_there = row.kind == TransferKind::kGet && row.stamp.empty();
  return nothing_there ? TransferStep::kPrepare : TransferStep::kAttach;
}

Status pause(TransferRow& row) {
  if (row.step == TransferStep::kFailed || row.step == TransferStep::kCancel) {
    return Error{Code::kConflict, "transfer " + row.id.str() + " has ended; it cannot be paused"};
  }
  row.paused = true;
  return {};
}

Status resume(TransferRow& row) {
  if (row.step == TransferStep::kCancel) {
    return Error{Code::kConflict, "transfer " + row.id.str() + " was cancelled; get the content again"};
  }
  row.paused = false;
  if (row.step != TransferStep::kFailed) return {};
  row.step = step_to_retry(row);
  row.error.reset();
  row.fetched = {};
  return {};
}

Status set(TransferRow& row, const TransferSettings& settings, std::string_view usual_tuner) {
  GT_TRY(check_settings(settings));
  GT_ASSIGN(row.wish, wish_after(row, settings, usual_tuner));
  if (settings.lanes) row.lanes_wish = *settings.lanes;
  if (settings.seeders) row.seeders_wish = *settings.seeders;
  if (settings.priority) row.priority = *settings.priority;
  if (settings.limit_bits_per_s) row.limit_bits_per_s = *settings.limit_bits_per_s;
  return {};
}

Error still_under_way(const TransferRow& row) {
  const std::string which = "transfer " + row.id.str() + " (" + display_name(row) + ")";
  if (row.step == TransferStep::kAttach) {
    return {Code::kConflict, which + " is being verified: wait for it, or `gridtorrent transfer cancel " +
                                 row.id.str() + "` takes it off the list and leaves its files"};
  }
  return {Code::kConflict, which + " is not done yet: `gridtorrent transfer cancel " + row.id.str() + "` gives it up"};
}

/// It fetches, or publishes.
bool is_under_way(const TransferRow& row) {
  const bool publishes = row.step == TransferStep::kHash || (row.unpublished && row.step != TransferStep::kFailed);
  return in_progress(row.step) || publishes;
}

Status may_stop_seeding(const TransferRow& row) {
  if (is_under_way(row)) return still_under_way(row);
  if (row.step == TransferStep::kHold) return {};
  return Error{Code::kConflict, "transfer " + row.id.str() + " (" + display_name(row) +
                                    ") seeds nothing: `gridtorrent transfer forget " + row.id.str() +
                                    "` takes it off the list"};
}

Status may_forget(const TransferRow& row) {
  if (is_under_way(row)) return still_under_way(row);
  return {};
}

Status end(TransferRow& row, Status allowed) {
  GT_TRY(allowed);
  row.step = TransferStep::kCancel;
  row.error.reset();
  return {};
}

/// It is served meanwhile.
Status verify(TransferRow& row) {
  const std::string which = "transfer " + row.id.str() + " (" + display_name(row) + ")";
  if (is_under_way(row) && row.step != TransferStep::kAttach) {
    return Error{Code::kConflict, which + " is not done yet, and what arrives is verified: wait for it"};
  }
  const bool has_files = row.step == TransferStep::kHold || row.step == TransferStep::kAttach ||
                         (row.step == TransferStep::kFailed && step_to_retry(row) == TransferStep::kAttach);
  if (!has_files) {
    return Error{Code::kConflict, which + " has no files to verify: `gridtorrent transfers` lists what has"};
  }
  if (row.paused) {
    return Error{Code::kConflict, which + " is paused: resume it with `gridtorrent transfer resume " + row.id.str() +
                                      "`, or verify it where it is with `gridtorrent verify " +
                                      shell_arguments({join_path(row.target, row.base_name)}) + "`"};
  }
  row.step = TransferStep::kAttach;
  row.error.reset();
  return {};
}

bool ends(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kCancel:
    case ChangeKind::kStopSeeding:
    case ChangeKind::kForget:
    case ChangeKind::kRemove:
      return true;
    default:
      return false;
  }
}

}  // namespace

Status may_remove(const TransferRow& row) {
  const std::string which = "transfer " + row.id.str() + " (" + display_name(row) + ")";
  const std::string instead = ": `gridtorrent transfer stop-seeding " + row.id.str() + "` ends it and leaves them";
  if (is_under_way(row)) return still_under_way(row);
  if (row.kind == TransferKind::kPublish)
    return Error{Code::kConflict, "the files of " + which + " were published from here and are not removed" + instead};
  if (row.kind == TransferKind::kAttach)
    return Error{Code::kConflict, "the files of " + which + " came by other means and are not removed" + instead};
  if (row.step == TransferStep::kHold) return {};
  if (row.step == TransferStep::kFailed && !row.stamp.empty()) return {};
  return Error{Code::kConflict, which + " has put no files anywhere: `gridtorrent transfer forget " + row.id.str() +
                                    "` takes it off the list"};
}

Status may_choose(const TransferRow& row) {
  const std::string which = "transfer " + row.id.str() + " (" + display_name(row) + ")";
  const bool fetches = row.step == TransferStep::kPrepare || row.step == TransferStep::kFetch;
  if (row.kind == TransferKind::kGet && fetches) {
    if (row.replaces.is_nil()) return {};
    return Error{Code::kConflict, which +
                                      " is an update: it brings the files that are held of the version before; get "
                                      "further ones once it is done"};
  }
  if (row.kind == TransferKind::kGet && row.step == TransferStep::kHold) {
    return Error{Code::kConflict, which + " is done: `gridtorrent get " + row.content.id.str() +
                                      " --file PATTERN` to the same place brings further files"};
  }
  if (row.kind == TransferKind::kGet && row.step == TransferStep::kFailed) {
    return Error{Code::kConflict, which + " has failed: get the content again with the files that you want"};
  }
  if (row.step != TransferStep::kHash && in_progress(row.step)) {
    return Error{Code::kConflict, which + " is being verified: choose files once that is done"};
  }
  return Error{Code::kConflict, which + " fetches nothing, so there are no files to choose"};
}

Error not_there(const TransferRow& row) {
  return {Code::kConflict, "the files of transfer " + row.id.str() + " (" + display_name(row) + ") are not at " +
                               escape_for_display(join_path(row.target, row.base_name)) +
                               ", so they cannot be removed: mount their disk, or take the transfer off the list with "
                               "`gridtorrent transfer forget " +
                               row.id.str() + "`"};
}

Error is_exchanging(const TransferRow& row) {
  return {Code::kConflict, "transfer " + row.id.str() + " (" + display_name(row) +
                               ") is part of an update whose files take their place now, which cannot be broken off: "
                               "try again once `gridtorrent transfers` lists the update as seeding"};
}

Error unknown_transfer(const TransferId& id) {
  return {Code::kNotFound, "there is no transfer " + id.str() + " on this node; `gridtorrent transfers` lists them"};
}

Result<TransferRow> row_after(const TransferRow& row, const TransferChange& change, std::string_view usual_tuner) {
  if (row.step == TransferStep::kHash && !row.unpublished) {
    return Error{Code::kConflict,
                 "transfer " + row.id.str() + " is being hashed for publishing; end the publish command instead"};
  }
  TransferRow after = row;
  switch (change.kind) {
    case ChangeKind::kPause:
      GT_TRY(pause(after));
      break;
    case ChangeKind::kResume:
      GT_TRY(resume(after));
      break;
    case ChangeKind::kCancel:
      GT_TRY(end(after, {}));
      break;
    case ChangeKind::kStopSeeding:
      GT_TRY(end(after, may_stop_seeding(row)));
      break;
    case ChangeKind::kForget:
      GT_TRY(end(after, may_forget(row)));
      break;
    case ChangeKind::kRemove:
      GT_TRY(end(after, may_remove(row)));
      after.remove_files = true;
      break;
    case ChangeKind::kSet:
      GT_TRY(set(after, change.settings, usual_tuner));
      break;
    case ChangeKind::kVerify:
      GT_TRY(verify(after));
      break;
  }
  return after;
}

Result<TransferView> NodeSteps::change(const TransferId& id, const TransferChange& change) {
  const auto lock = c_.book.lock();
  GT_TRY(apply({&id, 1}, change, /*alone=*/true).front());
  return make_view(*c_.book.find(id));
}

ChangeOutcome NodeSteps::change_all(std::span<const TransferId> ids, const TransferChange& change) {
  ChangeOutcome outcome;
  for (std::size_t from = 0; from < ids.size(); from += kAtOnce) {
    const auto part = ids.subspan(from, std::min(kAtOnce, ids.size() - from));
    std::vector<Status> results;
    {
      const auto lock = c_.book.lock();
      results = apply(part, change, /*alone=*/false);
    }
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (results[i]) {
        ++outcome.changed;
      } else {
        outcome.failures.emplace_back(part[i], results[i].error());
      }
    }
  }
  return outcome;
}

Result<TransferRow> NodeSteps::next_row(const TransferId& id, const TransferChange& change) {
  auto* transfer = c_.book.find(id);
  if (transfer == nullptr || transfer->row.step == TransferStep::kForgotten) return unknown_transfer(id);
  if (transfer->exchanges && (ends(change.kind) || change.kind == ChangeKind::kVerify))
    return is_exchanging(transfer->row);
  // Out of the engine, its present count is gone.
  if (ends(change.kind)) note_counters(*transfer, c_.ports.clock.mono());
  auto row = row_after(transfer->row, change, c_.options.tuning.tuner);
  if (row && change.kind == ChangeKind::kRemove && transfer->look_again) return not_there(transfer->row);
  return row;
}

std::vector<Status> NodeSteps::apply(std::span<const TransferId> ids, const TransferChange& change, bool alone) {
  std::vector<Status> results;
  std::vector<TransferRow> rows;
  for (const TransferId& id : ids) {
    auto row = next_row(id, change);
    results.push_back(row ? Status() : Status(row.error()));
    if (row) rows.push_back(*std::move(row));
  }
  if (rows.empty()) return results;
  if (const auto saved = c_.book.save(rows); !saved) {
    for (Status& result : results) {
      if (result) result = saved;
    }
    return results;
  }
  std::set<ContentId> ended;
  for (TransferRow& row : rows) {
    Transfer& transfer = *c_.book.find(row.id);
    if (ends(change.kind)) ended.insert(row.content.id);
    take_effect(transfer, std::move(row), change.kind, alone);
  }
  if (!ended.empty()) c_.settle_siblings(ended);
  c_.wake();
  return results;
}

void NodeSteps::take_effect(Transfer& transfer, TransferRow after, ChangeKind kind, bool alone) {
  const TransferStep before = transfer.row.step;
  const bool was_paused = transfer.row.paused;
  const bool other_limit = transfer.row.limit_bits_per_s != after.limit_bits_per_s;
  const bool other_wish = transfer.row.wish != after.wish;
  transfer.row = std::move(after);
  switch (kind) {
    case ChangeKind::kPause:
      if (before == TransferStep::kCheckLocal || before == TransferStep::kAttach || before == TransferStep::kHash) {
        transfer.stop.request_stop();
      }
      transfer.asked = transfer.anew = false;  // its disk may be unmounted meanwhile
      break;
    case ChangeKind::kResume:
      resumed(transfer, before);
      // After a pause, or as one of many, it is only looked for again.
      transfer.anew = transfer.held_back && transfer.away && !was_paused && alone;
      break;
    case ChangeKind::kCancel:
    case ChangeKind::kStopSeeding:
    case ChangeKind::kForget:
    case ChangeKind::kRemove:
      cancelled(transfer, before);
      break;
    case ChangeKind::kSet:
      if (other_limit) set_limit(transfer);
      if (other_wish) transfer.target_told = {};  // whether the new one is missed has not been told
      break;
    case ChangeKind::kVerify:
      break;  // the next round begins it
  }
  if (kind != ChangeKind::kSet) transfer.announce.soon(c_.ports.clock.mono());
  transfer.snapshot_due = transfer.plan_due = true;
  c_.book.touch(transfer);
}

void NodeSteps::resumed(Transfer& transfer, TransferStep before) {
  transfer.disk_retry = transfer.retry_at = {};
  if (transfer.look_again) transfer.look_again = c_.ports.clock.mono();
  if (before != TransferStep::kFailed) return;
  transfer.disk_errors = transfer.verify_rounds = 0;
  transfer.fresh = false;
  transfer.recheck = transfer.asked = true;
}

void NodeSteps::cancelled(Transfer& transfer, TransferStep before) {
  if (before == TransferStep::kCancel) return;
  transfer.stop.request_stop();
  transfer.sums_stop.request_stop();
  transfer.held_back = transfer.away = transfer.anew = false;
  c_.take_out_of_engine(transfer);
  transfer.swarm.clear();
  transfer.retry_at = {};
  const bool may_be_staged = in_progress(before) || before == TransferStep::kFailed;
  transfer.discarded = !transfer.row.remove_files && (transfer.row.unpublished || !may_be_staged);
}

void NodeSteps::set_limit(Transfer& transfer) {
  if (!transfer.in_engine) return;
  const bool seeding = transfer.row.step == TransferStep::kHold;
  c_.ports.engine.set_rate_limit(transfer.row.id, seeding ? 0 : receive_limit(transfer),
                                 seeding ? transfer.row.limit_bits_per_s : 0);
}

}  // namespace gridtorrent::client
