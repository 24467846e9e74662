#include "client/control/transfer_streams.h"

#include <pthread.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "base/rpc/status.h"
#include "client/control/convert.h"

namespace gridtorrent::client::control {
namespace {

/// One that is never served.
class Refusal final : public TransferStreams::Reactor {
 public:
  explicit Refusal(const Error& error) { Finish(rpc::to_grpc(error)); }
  void OnDone() override { delete this; }
};

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

/// gRPC calls the On… methods on its own threads, one at a time but for OnCancel.
class TransferStreams::Stream final : public Reactor {
 public:
  Stream(TransferStreams& streams, JournalPlace start) : place(std::move(start)), streams_(streams) {}

  void OnWriteDone(bool ok) override { streams_.written(*this, ok); }
  void OnCancel() override { streams_.cancelled(*this); }
  void OnDone() override { streams_.done(*this); }

  JournalPlace place;       ///< of the thread
  std::uint64_t until = 0;  ///< of the thread: what the last tick saw
  // The rest is guarded by the streams' mutex.
  bool writing = false, finished = false;
  bool ends = false;  ///< it finishes once nothing is being written
  std::shared_ptr<const v1::TransfersEvent> event;

 private:
  TransferStreams& streams_;
};

TransferStreams::TransferStreams(Node& node, Limits limits) : node_(node), limits_(limits), pace_(limits.pause) {}

TransferStreams::~TransferStreams() {
  stop();
}

TransferStreams::Reactor* TransferStreams::refuse(const Error& error) {
  return new Refusal(error);  // deletes itself in OnDone
}

TransferStreams::Reactor* TransferStreams::open(grpc::CallbackServerContext&,
                                                const v1::WatchTransfersRequest& request) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return refuse({Code::kUnreachable, "the node is shutting down: try again once it runs"});
  if (streams_.size() >= limits_.most) {
    return refuse({Code::kExhausted, "transfers are watched by " + std::to_string(limits_.most) +
                                         " programs already: close one of them, then try again"});
  }
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  JournalPlace start;  // a snapshot that was broken off has told no revision: it is told again
  if (request.revision() > 0) start = {request.epoch(), request.revision(), false, {}};
  auto stream = std::make_shared<Stream>(*this, std::move(start));
  streams_.push_back(stream);
  rung_ = true;
  changed_.notify_all();
  return stream.get();
}

void TransferStreams::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  node_.ring_after(0, {});
  std::vector<std::shared_ptr<Stream>> idle;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& stream : streams_) {
      stream->ends = true;
      if (!stream->writing && !std::exchange(stream->finished, true)) idle.push_back(stream);
    }
  }
  for (const auto& stream : idle) stream->Finish(rpc::to_grpc(Error{Code::kCancelled, "the node is shutting down"}));
}

void TransferStreams::ring() {
  const std::lock_guard lock(mutex_);
  rung_ = true;
  changed_.notify_all();
}

void TransferStreams::written(Stream& stream, bool ok) {
  std::shared_ptr<const v1::TransfersEvent> gone;  // freed without the lock
  bool finish = false;
  {
    const std::lock_guard lock(mutex_);
    gone = std::move(stream.event);
    stream.writing = false;
    if (!ok || stream.ends) finish = !std::exchange(stream.finished, true);
    rung_ = true;
    changed_.notify_all();
  }
  if (finish) stream.Finish(rpc::to_grpc(Error{Code::kCancelled, "the call has ended"}));
}

void TransferStreams::cancelled(Stream& stream) {
  bool finish = false;
  {
    const std::lock_guard lock(mutex_);
    stream.ends = true;
    if (!stream.writing) finish = !std::exchange(stream.finished, true);
  }
  if (finish) stream.Finish(rpc::to_grpc(Error{Code::kCancelled, "the caller ended the call"}));
}

void TransferStreams::done(Stream& stream) {
  std::shared_ptr<Stream> last;  // its destructor runs without the lock
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(streams_, &stream, [](const auto& one) { return one.get(); });
  last = std::move(*found);
  streams_.erase(found);
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

bool TransferStreams::serve(std::uint64_t until) {
  std::vector<std::shared_ptr<Stream>> waiting;
  {
    const std::lock_guard lock(mutex_);
    std::ranges::copy_if(streams_, std::back_inserter(waiting),
                         [](const auto& one) { return !one->writing && !one->ends && !one->finished; });
  }
  bool any = false;
  for (const auto& stream : waiting) {
    stream->until = until;
    const auto event = next_event(stream->place, until);
    if (!event) continue;
    any = true;
    {
      const std::lock_guard lock(mutex_);
      if (stream->ends || stream->finished) continue;
      stream->writing = true;
      stream->event = event;
    }
    // Finish waits for the end of this write, so the stream is not done before.
    stream->StartWrite(event.get());
  }
  return any;
}

void TransferStreams::run() {
  pthread_setname_np(pthread_self(), "gt-streams");
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    rung_ = false;
    const bool watched = !streams_.empty();
    lock.unlock();
    const auto revision = node_.transfers_revision();
    if (watched && pace_.due(now(), revision)) shared_.clear();
    const bool any = serve(pace_.looked_at());
    // Within the pause nobody is told anything: what changes then is no reason to wake up.
    const bool resting = now() < pace_.next();
    if (!any && !resting && watched) node_.ring_after(pace_.looked_at(), [this] { ring(); });
    lock.lock();
    if (any) continue;
    const auto woken = [this] { return rung_ || stopping_; };
    if (resting && watched) {
      changed_.wait_until(lock, pace_.next(), woken);
    } else {
      changed_.wait(lock, woken);
    }
  }
}

}  // namespace gridtorrent::client::control
