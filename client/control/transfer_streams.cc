#include "client/control/transfer_streams.h"

#include <utility>

#include "client/control/convert.h"

namespace gridtorrent::client::control {
namespace {

MonoTime now() {
  return SystemClock().mono();
}

v1::TransfersEvent to_event(const TransfersUpdate& update) {
  v1::TransfersEvent event;
  event.set_epoch(update.epoch);
  event.set_revision(update.page.snapshot && !update.page.last_page ? 0 : update.page.revision);
  event.set_snapshot(update.page.snapshot);
  event.set_last_page(update.page.last_page);
  event.set_total(update.total);
  for (const auto& view : update.changed) *event.add_changed() = to_message(view);
  for (const auto& id : update.page.removed) event.add_removed(id.str());
  *event.mutable_limits() = to_message(update.limits, update.limits_why);
  return event;
}

}  // namespace

TransferStreams::TransferStreams(Node& node, Limits limits)
    : node_(node),
      pace_(limits.pause),
      streams_(limits.most, "transfers are", [this] { thread_.ring(); }),
      thread_("gt-streams", [this] { return serve(); }) {}

TransferStreams::~TransferStreams() {
  stop();
}

TransferStreams::Reactor* TransferStreams::open(const v1::WatchTransfersRequest& request) {
  JournalPlace start;  // a snapshot that was broken off has told no revision: it is told again
  if (request.revision() > 0) start = {request.epoch(), request.revision(), false, {}};
  return streams_.open(std::move(start));
}

void TransferStreams::stop() {
  thread_.stop();
  node_.ring_after(0, {});
  streams_.end();
}

std::shared_ptr<const v1::TransfersEvent> TransferStreams::next_event(JournalPlace& place, std::uint64_t until) {
  const bool changes = !place.snapshot && !place.epoch.empty();
  if (const auto known = shared_.find(place.revision);
      changes && known != shared_.end() && known->second.after.epoch == place.epoch) {
    place = known->second.after;
    return known->second.event;
  }
  const auto from = place.revision;
  const auto update = node_.next_transfers(place, until);
  if (!update) return nullptr;
  auto event = std::make_shared<const v1::TransfersEvent>(to_event(*update));
  if (!update->page.snapshot) shared_[from] = {place, event};
  return event;
}

bool TransferStreams::tell(std::uint64_t until) {
  bool any = false;
  for (const auto& stream : streams_.waiting()) {
    const MonoTime began = now();
    const auto event = next_event(stream->state, until);
    if (!event) continue;
    any = true;
    streams_.write(*stream, event);
    // Who begins to watch is no reason for others to wait.
    if (!event->snapshot()) pace_.worked(std::chrono::duration_cast<std::chrono::microseconds>(now() - began));
  }
  return any;
}

std::optional<MonoTime> TransferStreams::serve() {
  const bool watched = !streams_.empty();
  const auto revision = node_.transfers_revision();
  if (watched && pace_.due(now(), revision)) shared_.clear();
  if (tell(pace_.looked_at())) return now();
  if (!watched) return std::nullopt;
  // Within the pause nobody is told anything: what changes then is no reason to wake up.
  if (now() < pace_.next()) return pace_.next();
  node_.ring_after(pace_.looked_at(), [this] { thread_.ring(); });
  return std::nullopt;
}

}  // namespace gridtorrent::client::control
