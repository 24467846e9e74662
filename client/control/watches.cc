#include "client/control/watches.h"

#include <algorithm>
#include <utility>

#include "client/control/convert.h"

namespace gridtorrent::client::control {
namespace {

using std::chrono::milliseconds;

/// Between two rounds over all streams: many transfers that change cost no more than 200 rounds a second.
constexpr milliseconds kRest{5};
constexpr milliseconds kTuningPause{250};

MonoTime now() {
  return SystemClock().mono();
}

}  // namespace

TransferWatches::TransferWatches(Node& node, Limits limits)
    : node_(node),
      limits_(limits),
      streams_(limits.most, "transfers are", [this] { thread_.ring(); }),
      thread_("gt-watches", [this] { return serve(); }) {
  bell_->thread = &thread_;
}

TransferWatches::~TransferWatches() {
  stop();
}

TransferWatches::Reactor* TransferWatches::open(const TransferId& id, bool while_seeding) {
  return streams_.open({.id = id, .while_seeding = while_seeding});
}

void TransferWatches::stop() {
  {
    const std::lock_guard lock(bell_->mutex);
    bell_->thread = nullptr;
  }
  thread_.stop();
  streams_.end();
}

void TransferWatches::note_changes() {
  std::vector<TransferId> rung;
  {
    const std::lock_guard lock(bell_->mutex);
    rung = std::exchange(bell_->rung, {});
  }
  if (rung.empty()) return;
  const std::set<TransferId> changed(rung.begin(), rung.end());
  for (const auto& id : changed) awaited_.erase(id);
  for (const auto& stream : streams_.all()) {
    if (changed.contains(stream->state.id)) stream->state.look = true;
  }
}

TransferWatches::Seen& TransferWatches::see(const TransferId& id, Round& round) {
  const auto known = round.find(id);
  if (known != round.end()) return known->second;
  Seen& seen = round.emplace(id, Seen{node_.transfer(id), nullptr}).first->second;
  // One bell for all streams of a transfer.
  if (seen.view && awaited_.insert(id).second) {
    node_.ring_on_change(id, seen.view->revision, [bell = bell_, id] {
      const std::lock_guard lock(bell->mutex);
      if (bell->thread == nullptr) return;
      bell->rung.push_back(id);
      bell->thread->ring();
    });
  }
  return seen;
}

void TransferWatches::tell(Streams::Stream& stream, Seen& seen, MonoTime now) {
  Watch& watch = stream.state;
  const auto& view = seen.view;
  watch.look = watch.late = false;
  if (!view) {
    const bool was_forgotten = watch.told && watch.while_seeding && view.error().code == Code::kNotFound;
    return streams_.finish(stream, was_forgotten ? gridtorrent::Status() : view.error());
  }
  const bool ends = watch.while_seeding ? view->state == TransferState::kCancelled : is_final(view->state);
  if (!ends && watch.told && view->revision == watch.told_revision) return;
  if (!ends && now < watch.next) {
    watch.late = true;
    return;
  }
  if (!seen.message) {
    auto reply = std::make_shared<v1::TransferReply>();
    *reply->mutable_transfer() = to_message(*view);
    seen.message = std::move(reply);
  }
  if (ends) return streams_.write_last(stream, seen.message);
  watch.told = true;
  watch.told_revision = view->revision;
  watch.next = now + limits_.pause;
  streams_.write(stream, seen.message);
}

std::optional<MonoTime> TransferWatches::serve() {
  const MonoTime began = now();
  if (began < rests_until_) return rests_until_;
  note_changes();
  std::optional<MonoTime> due;
  Round round;
  for (const auto& stream : streams_.waiting()) {
    const Watch& watch = stream->state;
    if (watch.look || (watch.late && began >= watch.next)) tell(*stream, see(watch.id, round), began);
    if (watch.late) due = due ? std::min(*due, watch.next) : watch.next;
  }
  rests_until_ = now() + kRest;
  return due;
}

TuningWatches::TuningWatches(Node& node, std::size_t most)
    : node_(node),
      streams_(most, "tunings are", [this] { thread_.ring(); }),
      thread_("gt-tunings", [this] { return serve(); }) {}

TuningWatches::~TuningWatches() {
  stop();
}

TuningWatches::Reactor* TuningWatches::open(const TransferId& id) {
  return streams_.open({.id = id});
}

void TuningWatches::stop() {
  thread_.stop();
  streams_.end();
}

void TuningWatches::tell(Streams::Stream& stream, const Result<TuningRecord>& record) {
  Watch& watch = stream.state;
  watch.looked = true;
  if (!record) return streams_.finish(stream, record.error());
  const bool news = record->revision != watch.told_revision;
  if (!news && !record->running) return streams_.finish(stream, {});
  if (!news) return;
  const auto message = std::make_shared<const v1::Tuning>(to_message(*record, watch.told_revision));
  watch.told_revision = record->revision;
  if (record->running) return streams_.write(stream, message);
  streams_.write_last(stream, message);
}

std::optional<MonoTime> TuningWatches::serve() {
  const bool due = now() >= next_;
  std::map<TransferId, Result<TuningRecord>> round;
  for (const auto& stream : streams_.waiting()) {
    const Watch& watch = stream->state;
    if (!due && watch.looked) continue;
    const auto seen = round.find(watch.id);
    tell(*stream, seen != round.end() ? seen->second : round.emplace(watch.id, node_.tuning(watch.id)).first->second);
  }
  if (due) next_ = now() + kTuningPause;
  return streams_.empty() ? std::nullopt : std::optional(next_);
}

}  // namespace gridtorrent::client::control
