#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "base/http2/guard.h"
#include "base/metrics/metrics.h"
#include "base/net/tls_terminator.h"
#include "base/rpc/certificate_file.h"
#include "base/rpc/known_connections.h"
#include "base/rpc/refusals.h"
#include "common/clock.h"

namespace gridtorrent::rpc {

/// A TCP port in front of a gRPC server in this process: TLS by base/net, each connection watched by base/http2 and
/// handed to gRPC as one end of a socket pair. gRPC 1.51 bounds neither a header block nor unfinished messages
/// (docs/security.md). Thread-safe.
class GuardedPort {
 public:
  struct Options {
    std::string host;
    std::uint16_t port = 0;
    std::string pem_file;
    std::size_t connections_by_address = 512;
    net::StrangerPlaces::Limits strangers;
    KnownConnections* known = nullptr;  ///< outlives the port; none: every connection stays a stranger's
    http2::GuardLimits guard;
    http2::MessageBudget::Limits messages;
    metrics::Registry* metrics = nullptr;  ///< outlives the port; none: nothing is counted
    /// Gives gRPC the socket; owns it from then on.
    std::function<void(UniqueFd)> hand_to_grpc;
  };
  /// Serves when it returns. Errors: of CertificateFile::open and net::listen_tcp.
  static Result<std::unique_ptr<GuardedPort>> start(Options options);

  std::uint16_t port() const { return terminator_->port(); }
  void reload_certificate() { certificate_->reload_if_changed(); }
  /// Whether a limit kept callers out or waiting within so long: then it is no wonder that one could not connect.
  bool crowded_within(std::chrono::milliseconds time) const;
  /// From here on nothing is handed to gRPC any more.
  void stop_accepting();
  /// After gRPC has shut down: what it said last is delivered, so long at most.
  void finish(std::chrono::milliseconds patience) { terminator_->finish(patience); }

 private:
  explicit GuardedPort(Options options);
  net::TlsTerminator::Options terminator_options();
  void refused(net::Reason reason, const net::PeerAddress& from);
  Result<net::Backend> open_backend(const net::PeerAddress& caller, std::function<void()> known);
  void each_second(std::size_t connections);

  const Options options_;
  SystemClock clock_;
  std::string process_name_;  ///< random: other users of this host cannot take our names first
  RefusalLog refusals_;
  std::atomic<MonoTime> crowded_at_ = MonoTime::min();
  std::mutex handing_;
  bool closed_ = false;  ///< under handing_
  http2::MessageBudget budget_;
  std::unique_ptr<CertificateFile> certificate_;
  std::unique_ptr<net::TlsTerminator> terminator_;
};

/// How many connections fit into the process's limit of descriptors: each takes three, and files need some too.
std::size_t connections_for(std::size_t descriptors);

}  // namespace gridtorrent::rpc
