#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/rpc/method.h"
#include "common/result.h"

namespace gridtorrent::metrics {
class Registry;
}

namespace gridtorrent::rpc {

class GuardedPort;
class KnownConnections;

inline constexpr int kMaxReceiveBytes = kMostRequestBytes;  ///< larger things are streamed in chunks
inline constexpr int kMaxSendBytes = 4 << 20;
inline constexpr std::size_t kChunkBytes = 256 * 1024;

struct ServerOptions {
  std::string listen;    ///< HOST:PORT; port 0 takes a free one
  std::string pem_file;  ///< key and chain in one file; replaced by rename(2), it is read anew within seconds
  bool reflection = false;
  std::vector<grpc::Service*> services;  ///< callback services; must outlive the server
  metrics::Registry* metrics = nullptr;  ///< for connections; must outlive the server
  std::size_t connections_by_address = 512;
  KnownConnections* known = nullptr;  ///< must outlive the server
};

/// A gRPC server over TLS (1.2 or newer) behind a GuardedPort, with its limits, and the health
/// service. Thread-safe.
class TlsServer {
 public:
  /// Errors: kInvalid a bad address or certificate file, kConflict the port is in use or the address not of this host.
  static Result<std::unique_ptr<TlsServer>> start(const ServerOptions& options);
  /// drain(0).
  ~TlsServer();

  std::uint16_t port() const;

  /// Takes no new calls, lets those under way finish for so long, then cancels them; returns when all have ended.
  void drain(std::chrono::milliseconds grace);
  /// Looks at the certificate's file now, not only within a second.
  void reload_certificate();
  /// Whether a limit on connections kept callers out or waiting within so long.
  bool crowded_within(std::chrono::milliseconds time) const;
  /// What the health service says; serving after start().
  void set_serving(bool serving);

 private:
  using Acceptor = grpc::experimental::ExternalConnectionAcceptor;
  TlsServer(std::unique_ptr<Acceptor> acceptor, std::unique_ptr<grpc::Server> server,
            std::unique_ptr<GuardedPort> port);
  const std::unique_ptr<Acceptor> acceptor_;
  const std::unique_ptr<grpc::Server> server_;
  const std::unique_ptr<GuardedPort> port_;
};

/// The same limits for a server on a Unix socket: no port, connections come from UnixListener::serve.
std::unique_ptr<grpc::Server> start_local_server(const std::vector<grpc::Service*>& services);

/// Refuses (kInvalid) an environment in which gRPC would print tokens (GRPC_TRACE with http, api or all).
Status check_trace_environment();

}  // namespace gridtorrent::rpc
