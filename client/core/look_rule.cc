#include "client/core/look_rule.h"

#include "client/core/announcer.h"

namespace gridtorrent::client {

bool rests(const Transfer& transfer) {
  switch (transfer.row.step) {
    case TransferStep::kHold:
    case TransferStep::kFailed:
    case TransferStep::kForgotten:
      return true;
    case TransferStep::kHash:
    case TransferStep::kCheckLocal:
    case TransferStep::kFetch:
    case TransferStep::kAttach:
      return transfer.row.paused && !transfer.job_running;
    default:
      return false;
  }
}

bool sleeps_on(const Transfer& transfer, MonoTime now) {
  if (transfer.row.step != TransferStep::kHold || transfer.in_engine || transfer.job_running) return false;
  if (transfer.row.checksums_due || !transfer.notice.empty()) return false;
  return !look_due(transfer, now);
}

bool look_due(const Transfer& transfer, MonoTime by) {
  if (!rests(transfer) || transfer.look_due) return true;
  if (transfer.in_engine && (transfer.snapshot_due || transfer.plan_due)) return true;
  if (transfer.enters_engine() && !transfer.job_running) return true;
  if (transfer.look_again && by >= *transfer.look_again && !transfer.job_running) return true;
  return announce_due(transfer, by);
}

}  // namespace gridtorrent::client
