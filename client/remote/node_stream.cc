#include "client/remote/node_stream.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "base/rpc/channel.h"
#include "base/rpc/status.h"
#include "common/units.h"

namespace gridtorrent::client::remote {
namespace {

using std::chrono::milliseconds;

/// A completion queue for one call with at most one operation under way; drained on destruction, as gRPC demands.
class OneCallQueue {
 public:
  ~OneCallQueue() {
    queue_.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) {
    }
  }
  OneCallQueue() = default;
  OneCallQueue(const OneCallQueue&) = delete;
  OneCallQueue& operator=(const OneCallQueue&) = delete;

  enum class Outcome : std::uint8_t { kDone, kFailed, kTimeout };
  Outcome wait(milliseconds timeout) {
    void* tag = nullptr;
    bool ok = false;
    const auto deadline = std::chrono::system_clock::now() + timeout;
    if (queue_.AsyncNext(&tag, &ok, deadline) == grpc::CompletionQueue::TIMEOUT) return Outcome::kTimeout;
    return ok ? Outcome::kDone : Outcome::kFailed;
  }
  bool wait() {
    void* tag = nullptr;
    bool ok = false;
    return queue_.Next(&tag, &ok) && ok;
  }
  grpc::CompletionQueue& get() { return queue_; }

 private:
  grpc::CompletionQueue queue_;
};

}  // namespace

int attempt_after(int attempt, milliseconds lasted) {
  return lasted >= kStreamWorks ? 0 : attempt;
}

milliseconds backoff_pause(int attempt, milliseconds min, milliseconds max, std::uint64_t random) {
  // Beyond 30 doublings any sensible maximum is reached.
  const std::int64_t grown = min.count() << std::clamp(attempt, 0, 30);
  const auto ceiling = static_cast<double>(std::min(max.count(), std::max(grown, min.count())));
  const double part = static_cast<double>(random) / static_cast<double>(std::numeric_limits<std::uint64_t>::max());
  return milliseconds(static_cast<std::int64_t>(ceiling * part));
}

Error NodeStream::run(const v1::WatchNodeRequest& request, const std::string& token, const EventFn& on_event,
                      std::stop_token stop) {
  grpc::ClientContext context;
  rpc::prepare(context, milliseconds(0), token);
  OneCallQueue queue;
  const std::stop_callback cancel(stop, [&context] { context.TryCancel(); });
  auto reader = stub_.PrepareAsyncWatchNode(&context, request, &queue.get());
  void* const tag = &context;
  reader->StartCall(tag);
  Status reason;
  if (queue.wait()) {
    milliseconds patience = timeouts_.first_message;
    v1::NodeEvent event;
    for (;;) {
      reader->Read(&event, tag);
      auto outcome = queue.wait(patience);
      if (outcome == OneCallQueue::Outcome::kTimeout) {
        reason = Error{Code::kUnreachable, "nothing heard from it for " + format_duration(patience)};
        context.TryCancel();
        queue.wait();
        break;
      }
      if (outcome == OneCallQueue::Outcome::kFailed) break;
      reason = on_event(event);
      if (!reason) {
        context.TryCancel();
        break;
      }
      patience = timeouts_.silence;
    }
  }
  grpc::Status status;
  reader->Finish(&status, tag);
  queue.wait();
  if (stop.stop_requested()) return {Code::kCancelled, "stopped"};
  if (!reason) return reason.error();
  if (status.ok()) return {Code::kUnreachable, "the server ended the stream"};
  return rpc::from_grpc(status);
}

}  // namespace gridtorrent::client::remote
