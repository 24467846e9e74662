#include "client/cli/watch_transfers.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>

#include "client/cli/interrupt.h"

namespace gridtorrent::client::cli {
namespace {

constexpr std::chrono::seconds kBetweenTables{1};

/// Without peers, which the stream does not tell of.
Json transfers_event(const v1::TransfersEvent& change, WallTime now) {
  Json json = event("transfers", now);
  json["snapshot"] = change.snapshot();
  json["last_page"] = !change.snapshot() || change.last_page();
  json["transfers"] = Json::array();
  for (const v1::Transfer& transfer : change.changed()) {
    Json one = to_json(transfer);
    one.erase("peers");
    json["transfers"].push_back(std::move(one));
  }
  json["removed"] = Json::array();
  for (const std::string& id : change.removed()) json["removed"].push_back(id);
  json["limits"] = to_json(change.limits());
  return json;
}

Status emit_changes(Context& c, api::NodeApi& node) {
  Interrupt interrupt;
  Status written;
  const Status ended = node.watch_transfers(
      {},
      [&](const v1::TransfersEvent& change) {
        c.emit(transfers_event(change, c.clock.wall()));
        written = c.terminal.finish();
        return written.ok();
      },
      interrupt.token());
  if (!written) return written;
  return interrupt.stopped() ? Status() : ended;
}

/// What the node's changes come to. Written by the thread of the calls, read by the command's; own mutex.
class Watched {
 public:
  bool take(const v1::TransfersEvent& change) {
    const std::lock_guard lock(mutex_);
    if (change.snapshot() && !in_snapshot_) transfers_.clear();
    in_snapshot_ = change.snapshot() && !change.last_page();
    for (const v1::Transfer& transfer : change.changed()) transfers_[transfer.transfer_id()] = transfer;
    for (const std::string& id : change.removed()) transfers_.erase(id);
    limits_ = change.limits();
    news_ = true;
    changed_.notify_all();
    return true;
  }
  void end(Status status) {
    const std::lock_guard lock(mutex_);
    ended_ = std::move(status);
    changed_.notify_all();
  }
  /// Waits for news. Nothing: stopped. An error: how the watch has ended.
  Result<std::optional<v1::ListTransfersReply>> next(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stop, [&] { return (news_ && !in_snapshot_) || ended_; });
    if (stop.stop_requested()) return std::optional<v1::ListTransfersReply>();
    if (!news_ || in_snapshot_) return ended_->ok() ? Error{Code::kUnreachable, "the node has gone"} : ended_->error();
    news_ = false;
    v1::ListTransfersReply all;
    for (const auto& [id, transfer] : transfers_) *all.add_transfers() = transfer;
    *all.mutable_limits() = limits_;
    return std::optional(std::move(all));
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::string, v1::Transfer> transfers_;
  v1::NodeLimits limits_;
  bool in_snapshot_ = false, news_ = false;
  std::optional<Status> ended_;
};

Status show_tables(api::NodeApi& node, const std::function<Status(const v1::ListTransfersReply&)>& show) {
  Watched watched;
  Interrupt interrupt;
  const api::Call call = node.async().watch_transfers(
      {}, [&](const v1::TransfersEvent& change) { return watched.take(change); },
      [&](const Status& status) { watched.end(status); });
  do {
    GT_ASSIGN(const std::optional<v1::ListTransfersReply> all, watched.next(interrupt.token()));
    if (!all) break;
    GT_TRY(show(*all));
  } while (!interrupt.wait_for(kBetweenTables));
  return {};
}

}  // namespace

Status watch_transfers(Context& context, const std::function<void(const v1::ListTransfersReply&)>& show) {
  GT_ASSIGN(api::NodeApi* const node, context.node());
  if (context.json) return emit_changes(context, *node);
  return show_tables(*node, [&](const v1::ListTransfersReply& all) {
    show(all);
    return context.terminal.finish();
  });
}

}  // namespace gridtorrent::client::cli
