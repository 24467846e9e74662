#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <condition_variable>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "client/core/node.h"
#include "common/clock.h"
#include "gridtorrent/v1/control.pb.h"

namespace gridtorrent::client::control {

/// When all streams together look for changes: at once after a pause, and no more often than once in a pause.
class TickPace {
 public:
  explicit TickPace(std::chrono::milliseconds pause) : pause_(pause) {}
  /// True where a look is due at `revision` of the node's transfers; it then counts as made.
  bool due(MonoTime now, std::uint64_t revision) {
    if (now < next_ || revision == looked_at_) return false;
    next_ = now + pause_;
    looked_at_ = revision;
    return true;
  }
  std::uint64_t looked_at() const { return looked_at_; }
  MonoTime next() const { return next_; }

 private:
  const std::chrono::milliseconds pause_;
  MonoTime next_{};
  std::uint64_t looked_at_ = 0;
};

/// The streams of WatchTransfers. One thread, "gt-streams", serves them all; a stream has no thread. It keeps only its
/// place and the one event that is being written, so a caller that does not read costs no memory. Callers at the same
/// place share an event. Thread-safe; outlives the gRPC server. With nothing to tell, the thread sleeps.
class TransferStreams {
 public:
  struct Limits {
    std::chrono::milliseconds pause{250};  ///< between two looks for changes
    std::size_t most = 32;                 ///< streams at once
  };
  using Reactor = grpc::ServerWriteReactor<v1::TransfersEvent>;

  TransferStreams(Node& node, Limits limits);
  ~TransferStreams();

  /// gRPC's handler: a stream from `request` on, or one that ends at once with kInvalid or kExhausted.
  Reactor* open(grpc::CallbackServerContext& context, const v1::WatchTransfersRequest& request);
  /// Ends all streams with kCancelled and the thread; what opens later ends at once.
  void stop();

  /// A stream that ends at once with `error`.
  static Reactor* refuse(const Error& error);

 private:
  class Stream;
  struct Shared {
    JournalPlace after;
    std::shared_ptr<const v1::TransfersEvent> event;
  };

  void run();
  /// On the thread: a page to each stream that waits for one. True where one was given.
  bool serve(std::uint64_t until);
  std::shared_ptr<const v1::TransfersEvent> next_event(JournalPlace& place, std::uint64_t until);
  /// From any thread: the thread is to look again.
  void ring();
  void written(Stream& stream, bool ok);
  void cancelled(Stream& stream);
  void done(Stream& stream);

  Node& node_;
  const Limits limits_;
  TickPace pace_;                           ///< of the thread
  std::map<std::uint64_t, Shared> shared_;  ///< of the thread: events of this tick, by the revision they start from

  std::mutex mutex_;  ///< guards the rest; never held while the node is called
  std::condition_variable changed_;
  bool rung_ = false, stopping_ = false;
  std::list<std::shared_ptr<Stream>> streams_;
  std::thread thread_;  ///< begins with the first stream
};

}  // namespace gridtorrent::client::control
