#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/net/accept_loop.h"
#include "base/net/connection_limits.h"
#include "base/net/event_loop.h"
#include "base/net/filter.h"
#include "base/net/handshake.h"
#include "base/net/pump.h"
#include "base/net/stranger_places.h"

namespace gridtorrent::net {

/// A TCP port with TLS in front of a server of plain text on this host: accepts, shakes hands, and carries each
/// connection's bytes through a filter to a backend. Knows no protocol above TLS. Threads: "net-accept",
/// "net-shake-N", "net-pump-N". Thread-safe.
class TlsTerminator {
 public:
  struct Options {
    std::string host;
    std::uint16_t port = 0;  ///< 0 takes a free one
    std::string protocol;    ///< for ALPN; a caller that does not speak it is refused
    std::size_t pump_threads = 2;
    std::size_t handshake_threads = 1;
    ConnectionLimits::Limits limits;
    StrangerPlaces::Limits strangers;
    /// The certificate for new connections; any thread.
    std::function<std::shared_ptr<const crypto::TlsServerContext>()> tls;
    MakeFilter make_filter;
    OpenBackend open_backend;
    Refused refused;
    std::function<void(std::size_t connections)> each_second;
  };
  /// Serves when it returns. `clock` outlives it. Errors: those of listen_tcp.
  static Result<std::unique_ptr<TlsTerminator>> start(Options options, const Clock& clock);
  /// finish(0).
  ~TlsTerminator();

  std::uint16_t port() const { return accept_->port(); }
  std::size_t connections() const { return limits_.taken(); }
  std::size_t strangers_waiting() const { return strangers_.waiting(); }

  /// Takes no new connections, and drops those that still shake hands. Connections that stand go on. Idempotent.
  void stop_accepting();
  /// stop_accepting(), then waits until backends and callers have ended their connections, so long at most; what is
  /// left then is closed. Idempotent.
  void finish(std::chrono::milliseconds patience);

 private:
  explicit TlsTerminator(Options options, const Clock& clock);
  EventLoop& next_pump_loop();

  const Clock& clock_;
  StrangerPlaces strangers_;
  Handshake::Parts handshake_parts_;
  PumpParts pump_parts_;
  ConnectionLimits limits_;
  std::vector<std::unique_ptr<EventLoop>> pumps_;
  std::atomic<std::size_t> next_pump_ = 0;
  std::size_t next_handshake_ = 0;  ///< of the accepting thread
  std::vector<std::unique_ptr<EventLoop>> handshakes_;
  std::unique_ptr<AcceptLoop> accept_;
};

}  // namespace gridtorrent::net
