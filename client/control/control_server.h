#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "client/core/node.h"
#include "common/clock.h"
#include "common/result.h"

namespace gridtorrent::client::control {

struct ControlOptions {
  std::string
      socket_path;  ///< made with mode 0600, its folder with 0700 if missing; replaced if nobody answers behind it
  std::string hash_backend;                    ///< for `doctor`, as ManyHasher::backend says
  Clock* clock = nullptr;                      ///< must outlive the server
  std::chrono::milliseconds watch_pause{100};  ///< between two changes that a watcher is told of, but for the last
  int max_calls = 64;                          ///< at once, WatchTransfers apart; one more is refused with kExhausted
  std::chrono::milliseconds transfers_pause{250};  ///< between two looks for changes, for WatchTransfers
  std::size_t max_transfer_streams = 32;           ///< of WatchTransfers at once; likewise
};

/// The daemon's side of the control API (proto/gridtorrent/v1/control.proto): gRPC on a Unix socket that serves this
/// process's own uid only (SO_PEERCRED), and of its logins only the node's owner (kDenied otherwise). A thin door: it
/// translates between messages and `Node`, which does everything. WatchTransfers has one thread for all its streams;
/// each other call holds one of gRPC's synchronous server threads (at most `max_calls`); publish and verify add one
/// thread each while they last, so that a reader that does not read never slows the hashing down.
class ControlServer {
 public:
  /// kInvalid: path over 107 bytes; kConflict: another daemon answers there; kDisk: the socket cannot be made.
  static Result<std::unique_ptr<ControlServer>> start(ControlOptions options, Node& node);
  /// Refuses new calls, cancels those under way (a publish keeps its checkpoint), waits for them and removes the
  /// socket.
  virtual ~ControlServer() = default;
  virtual const std::string& socket_path() const = 0;
};

}  // namespace gridtorrent::client::control
