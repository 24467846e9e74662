#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "common/result.h"
#include "gridtorrent/v1/tracker.grpc.pb.h"

namespace gridtorrent::client::remote {

/// How long to wait before attempt number `attempt` (from 0): "full jitter". `random` is uniform over all 64-bit
/// values.
std::chrono::milliseconds backoff_pause(int attempt, std::chrono::milliseconds min, std::chrono::milliseconds max,
                                        std::uint64_t random);

/// A stream that was there so long counts as one that works. Where two nodes have one credential, as after a machine
/// was cloned, each that connects displaces the other: without growing pauses they would do so each second, for good.
inline constexpr std::chrono::seconds kStreamWorks{60};
/// The attempt that the next pause counts from, after attempt number `attempt`, whose stream was there for `lasted`.
int attempt_after(int attempt, std::chrono::milliseconds lasted);

/// One attempt at the server's event stream: opens it and hands on what arrives until it ends, falls silent or `stop`
/// is requested. Everything runs on the caller's thread.
class NodeStream {
 public:
  struct Timeouts {
    std::chrono::milliseconds first_message;  ///< until the greeting
    std::chrono::milliseconds silence;        ///< between messages
  };
  /// An error ends the stream.
  using EventFn = std::function<Status(const v1::NodeEvent&)>;

  NodeStream(v1::Tasks::Stub& stub, Timeouts timeouts) : stub_(stub), timeouts_(timeouts) {}

  /// Always returns why it ended; kCancelled for `stop`.
  Error run(const v1::WatchNodeRequest& request, const std::string& token, const EventFn& on_event,
            std::stop_token stop);

 private:
  v1::Tasks::Stub& stub_;
  const Timeouts timeouts_;
};

}  // namespace gridtorrent::client::remote
