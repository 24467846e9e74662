#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "client/control/stream_set.h"
#include "client/control/stream_thread.h"
#include "common/clock.h"
#include "gridtorrent/v1/control.pb.h"

namespace gridtorrent::client::control {

/// Whether `now` tells more than `before`: clocks, and free space that changed by less than a hundredth, are no news.
bool is_news(const v1::StatusReply& before, const v1::StatusReply& now);

/// The streams of WatchStatus. One thread, "gt-status", looks at the node while there are streams, and sleeps
/// otherwise; a stream has no thread. Thread-safe; outlives the gRPC server.
class StatusStreams {
 public:
  struct Limits {
    std::chrono::milliseconds pause{1000};  ///< between two looks
    std::size_t most = 32;                  ///< streams at once
  };
  using Told = std::shared_ptr<const v1::StatusReply>;
  using Streams = StreamSet<v1::StatusReply, Told>;
  using Reactor = Streams::Reactor;

  /// `look` is called on the thread.
  StatusStreams(std::function<v1::StatusReply()> look, Limits limits);
  ~StatusStreams();

  /// gRPC's handler: a stream that is told of the status now and of each change, or one that ends at once with
  /// kExhausted.
  Reactor* open();
  /// Ends all streams with kCancelled and the thread; what opens later ends at once.
  void stop();

 private:
  std::optional<MonoTime> serve();
  /// To those that were not told yet, and to all where the node was looked at anew.
  void tell();

  const std::function<v1::StatusReply()> look_;
  const Limits limits_;
  Streams streams_;

  MonoTime next_{};  ///< of the thread, as the next: when to look again
  Told seen_;        ///< at the last look
  StreamThread thread_;
};

}  // namespace gridtorrent::client::control
