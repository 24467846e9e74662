#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "client/control/settings.h"
#include "client/core/node.h"
#include "common/clock.h"
#include "common/ids.h"
#include "common/result.h"

namespace gridtorrent::rpc {
class UnixListener;
}

namespace gridtorrent::client::control {

/// A node that was enrolled anew while it runs.
struct Reenrolled {
  NodeId node;
  WallTime credential_expires;
  bool restart_needed = false;  ///< it is another node now, from its next start on
};
using ReenrolFn = std::function<Result<Reenrolled>(const std::string& enroll_token)>;

struct ControlOptions {
  std::string
      socket_path;    ///< made with mode 0600, its folder with 0700 if missing; replaced if nobody answers behind it
  ReenrolFn reenrol;  ///< on the caller's thread; blocks on the server
  std::function<bool()> credential_refused;    ///< whether the server refuses the node's credential
  SettingsPort settings;                       ///< without it, GetSettings and SetSettings are kUnsupported
  std::string hash_backend;                    ///< for `doctor`, as ManyHasher::backend says
  Clock* clock = nullptr;                      ///< must outlive the server
  std::chrono::milliseconds watch_pause{100};  ///< between two changes that a watcher is told of, but for the last
  /// At once, those that watch apart; one more is refused with kExhausted.
  int max_calls = 64;
  std::size_t max_watches = 1000;                  ///< of WatchTransfer at once, and of WatchTuning; likewise
  std::chrono::milliseconds transfers_pause{250};  ///< between two looks for changes, for WatchTransfers
  std::size_t max_transfer_streams = 32;           ///< of WatchTransfers at once; likewise
  std::chrono::milliseconds status_pause{1000};    ///< between two looks at the node, for WatchStatus
};

/// The daemon's side of the control API (proto/gridtorrent/v1/control.proto): gRPC on a Unix socket that serves this
/// process's own uid only (SO_PEERCRED), and of its logins only the node's owner (kDenied otherwise). A thin door: it
/// translates between messages and `Node`, which does everything. Each of the four calls that watch has one thread for
/// all its streams; each other call holds one of gRPC's synchronous server threads (at most `max_calls`); publish and
/// verify add one thread each while they last, so that a reader that does not read never slows the hashing down.
class ControlServer {
 public:
  /// Takes the socket's place before there is anything to serve, and so before what costs more than a place; nobody is
  /// answered yet. kInvalid: path over 107 bytes; kConflict: another daemon answers there; kDisk: it cannot be made.
  class Place {
   public:
    static Result<Place> take(const std::string& socket_path);
    Place();
    Place(Place&&) noexcept;
    Place& operator=(Place&&) noexcept;
    ~Place();

   private:
    friend class ControlServer;
    std::unique_ptr<rpc::UnixListener> listener_;
  };
  /// `place` is that of the options' path. kConflict: another daemon has taken it meanwhile.
  static Result<std::unique_ptr<ControlServer>> start(ControlOptions options, Node& node, Place place);
  /// Takes the place, too.
  static Result<std::unique_ptr<ControlServer>> start(ControlOptions options, Node& node);
  /// Refuses new calls, cancels those under way (a publish keeps its checkpoint), waits for them and removes the
  /// socket.
  virtual ~ControlServer() = default;
  virtual const std::string& socket_path() const = 0;
};

}  // namespace gridtorrent::client::control
