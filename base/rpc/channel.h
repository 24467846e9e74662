#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "base/rpc/status.h"
#include "common/result.h"

namespace gridtorrent::rpc {

/// Unary calls end after this unless the caller says otherwise.
inline constexpr std::chrono::milliseconds kDefaultDeadline{15'000};

/// Keepalive of 45 s (servers allow one ping each 30 s), messages up to 4 MiB, reconnects between 0.2 s and 10 s.
grpc::ChannelArguments client_channel_arguments();

/// A TLS channel to `host_port`, trusting only the CA certificates (PEM) of `ca_file`. kInvalid where the address has
/// no port, or the file cannot be read or holds no certificate. Connects lazily, and again after losses.
Result<std::shared_ptr<grpc::Channel>> connect_tls(const std::string& host_port, const std::string& ca_file);

/// Sends gRPC's own messages to base/logging (at level debug), not to stderr. Channels and servers made here do so by
/// themselves.
void route_grpc_log();

/// "host:port" → both; IPv6 addresses in brackets. kInvalid names what is wrong. Port 0 is fine here.
struct HostPort {
  std::string host;  ///< without brackets
  std::uint16_t port = 0;
  std::string str() const;  ///< with brackets where the host needs them
};
Result<HostPort> parse_host_port(const std::string& text);

/// Readies a context: deadline (0: none, for streams that live on heartbeats), bearer token unless empty.
void prepare(grpc::ClientContext& context, std::chrono::milliseconds deadline, const std::string& token = {});

/// One unary call, waiting at most `deadline`:
///   call(stub, &Stub::GetContent, request, token) → Result<GetContentReply>.
template <class Stub, class Request, class Reply>
Result<Reply> call(Stub& stub, grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Reply*),
                   const Request& request, const std::string& token = {},
                   std::chrono::milliseconds deadline = kDefaultDeadline) {
  grpc::ClientContext context;
  prepare(context, deadline, token);
  Reply reply;
  const grpc::Status status = (stub.*method)(&context, request, &reply);
  if (!status.ok()) return from_grpc(status);
  return reply;
}

}  // namespace gridtorrent::rpc
