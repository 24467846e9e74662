// A get whose disk is not there: what is missing, how it waits, and how it begins anew.
#include "client/core/get_job.h"
#include "common/text.h"

namespace gridtorrent::client {

/// Nothing is made anew where something was: the disk that holds it may not be mounted, and the one below it is
/// another.
std::optional<Error> GetFlow::staging_away(const TransferRow& row) {
  const StagingPlan staging = staging_of(row, {});
  if (!c_.is_missing(staging.staging_folder())) return std::nullopt;
  return Error{Code::kDisk, escape_for_display(staging.staging()) +
                                ", where it is put together, is not there: is its disk mounted? It goes on by itself "
                                "once the folder is there again; `gridtorrent transfer resume " +
                                row.id.str() + "` begins anew in " + escape_for_display(row.target)};
}

/// The same of a commit, which may have moved BASE to its place already.
std::optional<Error> GetFlow::commit_away(const TransferRow& row) {
  return c_.is_missing(below(row.place(), row.base_name)) ? staging_away(row) : std::nullopt;
}

/// The same of what is looked at before it is fetched, copied or adopted; nothing once somebody asked for it.
std::optional<Error> GetFlow::check_away(const Copy& copy) {
  const TransferRow& row = copy.row;
  if (copy.asked || !copy.metadata) return std::nullopt;
  if (row.replaces.is_nil() && row.old_place != row.id) return staging_away(row);
  Earlier there{row, copy.metadata, {}};
  if (!row.replaces.is_nil()) {
    if (c_.ports.files.has_replaced(staging_of(row, copy.wanted), copy.metadata->manifest)) return std::nullopt;
    auto earlier = earlier_of(row);
    if (!earlier) return std::nullopt;
    there = *std::move(earlier);
  } else if (auto held = held_entries(copy.metadata->manifest, row.globs, row.lost)) {
    there.held = *std::move(held);
  }
  if (!c_.are_away(there.row, there.metadata->manifest, there.held)) return std::nullopt;
  return Error{Code::kDisk, escape_for_display(join_path(there.row.target, there.row.base_name)) +
                                " is not there: is its disk mounted? It goes on by itself once it is there again; "
                                "`gridtorrent transfer resume " +
                                row.id.str() + "` no longer waits for it"};
}

bool GetFlow::hold_back_if_away(const TransferId& id) {
  const auto copy = copy_of(id);
  const auto away = copy && copy->row.step == TransferStep::kFetch ? staging_away(copy->row) : std::nullopt;
  if (away) hold_back(id, *away);
  return away.has_value();
}

void GetFlow::hold_back(const TransferId& id, const Error& away) {
  const auto lock = c_.book.lock();
  auto* transfer = c_.book.find(id);
  if (transfer == nullptr) return;
  const TransferStep step = transfer->row.step;
  if (!waits_for_a_disk(step)) return;
  c_.log(NodeLogLevel::kWarning, display_name(transfer->row) + ": " + away.message);
  transfer->held_back = transfer->away = true;
  transfer->row.error = away;
  note_counters(*transfer, c_.ports.clock.mono());
  transfer->clock_runs = false;
  if (transfer->in_engine) {
    c_.take_out_of_engine(*transfer);
    transfer->recheck = true;
  }
  transfer->announce.soon(c_.ports.clock.mono());
  if (step == TransferStep::kCheckLocal) c_.settle_siblings(transfer->row.content.id);
  c_.book.save_or_log(*transfer);
  c_.book.touch(*transfer);
}

void GetFlow::begin_anew(Transfer& transfer) {
  c_.take_out_of_engine(transfer);
  transfer.held_back = transfer.away = transfer.anew = false;
  transfer.recheck = transfer.asked = true;
  transfer.row.error.reset();
  transfer.announce.soon(c_.ports.clock.mono());
  if (transfer.row.step == TransferStep::kCheckLocal) return c_.book.save_or_log(transfer);
  transfer.row.old_place = transfer.row.replaces;
  transfer.row.step = transfer.row.replaces.is_nil() ? TransferStep::kPrepare : TransferStep::kCheckLocal;
  c_.book.save_or_log(transfer);
  // What was verified there is not here.
  if (const auto saved = c_.ports.store.save_resume(transfer.row.id, ""); !saved)
    c_.log(NodeLogLevel::kError, "resume data of " + transfer.row.id.str() + ": " + saved.error().message);
}

}  // namespace gridtorrent::client
