#pragma once

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "client/control/stream_set.h"
#include "client/control/stream_thread.h"
#include "client/core/node.h"
#include "common/clock.h"
#include "gridtorrent/v1/control.pb.h"

namespace gridtorrent::client::control {

/// When all streams together look for changes: at once after a pause, and no more often than once in a pause. Where
/// thousands of transfers change, the pause grows with the time that it takes to tell of them.
class TickPace {
 public:
  /// So many times as long as the telling took is the pause, so that it costs a node one per cent of a core at most;
  /// but no more than kLongest, or a window would seem to stand still.
  static constexpr int kRest = 100;
  static constexpr std::chrono::milliseconds kLongest{1000};

  explicit TickPace(std::chrono::milliseconds pause) : pause_(pause) {}
  /// True where a look is due at `revision` of the node's transfers; it then counts as made.
  bool due(MonoTime now, std::uint64_t revision) {
    if (now < next_ || revision == looked_at_) return false;
    next_ = now + pause_;
    looked_ = now;
    work_ = {};
    looked_at_ = revision;
    return true;
  }
  /// Telling of changes took so long. Several times after a look, they add up.
  void worked(std::chrono::microseconds took) {
    work_ += took;
    const std::chrono::microseconds pause = std::min<std::chrono::microseconds>(kRest * work_, kLongest);
    next_ = std::max(next_, looked_ + pause);
  }
  std::uint64_t looked_at() const { return looked_at_; }
  MonoTime next() const { return next_; }

 private:
  const std::chrono::milliseconds pause_;
  MonoTime next_{}, looked_{};
  std::chrono::microseconds work_{0};
  std::uint64_t looked_at_ = 0;
};

/// The streams of WatchTransfers. One thread, "gt-streams", serves them all; a stream has no thread. Callers at the
/// same place share an event. Thread-safe; outlives the gRPC server. With nothing to tell, the thread sleeps.
class TransferStreams {
 public:
  struct Limits {
    std::chrono::milliseconds pause{250};  ///< between two looks for changes
    std::size_t most = 32;                 ///< streams at once
  };
  using Streams = StreamSet<v1::TransfersEvent, JournalPlace>;
  using Reactor = Streams::Reactor;

  TransferStreams(Node& node, Limits limits);
  ~TransferStreams();

  /// gRPC's handler: a stream from `request` on, or one that ends at once with kExhausted.
  Reactor* open(const v1::WatchTransfersRequest& request);
  /// Ends all streams with kCancelled and the thread; what opens later ends at once.
  void stop();

 private:
  struct Shared {
    JournalPlace after;
    std::shared_ptr<const v1::TransfersEvent> event;
  };

  std::optional<MonoTime> serve();
  /// A page to each stream that waits for one. True where one was given; changes count as work.
  bool tell(std::uint64_t until);
  std::shared_ptr<const v1::TransfersEvent> next_event(JournalPlace& place, std::uint64_t until);

  Node& node_;
  TickPace pace_;                           ///< of the thread
  std::map<std::uint64_t, Shared> shared_;  ///< of the thread: events of this tick, by the revision they start from
  Streams streams_;
  StreamThread thread_;
};

}  // namespace gridtorrent::client::control
