#include "base/rpc/server.h"

#include <dlfcn.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>

#include <cstdlib>

#include "base/rpc/channel.h"
#include "base/rpc/guarded_port.h"
#include "common/text.h"

namespace gridtorrent::rpc {

namespace {

// gRPC has ended all calls; what it said last is on its way to callers who may be slow.
constexpr std::chrono::milliseconds kFlushTime{2'000};

void apply_limits(grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(kMaxReceiveBytes);
  builder.SetMaxSendMessageSize(kMaxSendBytes);
  builder.SetResourceQuota(grpc::ResourceQuota("server").Resize(std::size_t{512} << 20).SetMaxThreads(64));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 32);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, 8192);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, 10'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 60'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 30'000);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 2);
}

/// The reflection library turns itself on for every server of a process that links it: so it is loaded only on demand.
Status load_reflection() {
  static void* const library = ::dlopen("libgrpc++_reflection.so.1.51", RTLD_NOW | RTLD_GLOBAL);
  if (library != nullptr) return {};
  return Error{Code::kUnsupported, "--reflection needs the library libgrpc++_reflection (Debian: libgrpc++1.51)"};
}

}  // namespace

Result<std::unique_ptr<TlsServer>> TlsServer::start(const ServerOptions& options) {
  GT_ASSIGN(const HostPort address, parse_host_port(options.listen));
  route_grpc_log();
  if (options.reflection) GT_TRY(load_reflection());
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  apply_limits(builder);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, 600'000);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS, 3'600'000);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS, 30'000);
  // A message in small pieces holds the reads that they came in: the guard reckons with reads of this size at most.
  builder.AddChannelArgument(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, static_cast<int>(http2::kReadSliceBytes));
  auto acceptor = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, grpc::InsecureServerCredentials());
  for (grpc::Service* service : options.services) builder.RegisterService(service);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (!server) return Error{Code::kInternal, "gRPC does not start"};
  GuardedPort::Options guarded;
  guarded.host = address.host;
  guarded.port = address.port;
  guarded.pem_file = options.pem_file;
  guarded.connections_by_address = options.connections_by_address;
  guarded.metrics = options.metrics;
  guarded.known = options.known;
  guarded.hand_to_grpc = [to = acceptor.get()](UniqueFd socket) {
    Acceptor::NewConnectionParameters connection;
    connection.fd = socket.release();
    to->HandleNewConnection(&connection);
  };
  auto port = GuardedPort::start(std::move(guarded));
  if (!port) {
    server->Shutdown(std::chrono::system_clock::now());
    server->Wait();
    if (port.error().code != Code::kConflict) return port.error();
    return Error{Code::kConflict,
                 "cannot listen on " + escape_for_display(options.listen) +
                     ": the port is in use, or the address is none of this host's; choose another with "
                     "--listen"};
  }
  server->GetHealthCheckService()->SetServingStatus(true);
  return std::unique_ptr<TlsServer>(new TlsServer(std::move(acceptor), std::move(server), std::move(*port)));
}

TlsServer::TlsServer(std::unique_ptr<Acceptor> acceptor, std::unique_ptr<grpc::Server> server,
                     std::unique_ptr<GuardedPort> port)
    : acceptor_(std::move(acceptor)), server_(std::move(server)), port_(std::move(port)) {}

TlsServer::~TlsServer() {
  drain(std::chrono::milliseconds(0));
}

void TlsServer::drain(std::chrono::milliseconds grace) {
  set_serving(false);
  // gRPC loses sockets that are handed to it while it shuts down.
  port_->stop_accepting();
  server_->Shutdown(std::chrono::system_clock::now() + grace);
  server_->Wait();
  port_->finish(kFlushTime);
}

std::uint16_t TlsServer::port() const {
  return port_->port();
}

bool TlsServer::crowded_within(std::chrono::milliseconds time) const {
  return port_->crowded_within(time);
}

void TlsServer::reload_certificate() {
  port_->reload_certificate();
}

void TlsServer::set_serving(bool serving) {
  server_->GetHealthCheckService()->SetServingStatus(serving);
}

std::unique_ptr<grpc::Server> start_local_server(const std::vector<grpc::Service*>& services) {
  grpc::ServerBuilder builder;
  apply_limits(builder);
  for (grpc::Service* service : services) builder.RegisterService(service);
  return builder.BuildAndStart();
}

Status check_trace_environment() {
  const char* trace = std::getenv("GRPC_TRACE");
  if (trace == nullptr) return {};
  for (const std::string_view word : {"http", "api", "all"}) {
    if (std::string_view(trace).find(word) != std::string_view::npos) {
      return Error{Code::kInvalid,
                   "GRPC_TRACE=" + escape_for_display(trace) + " would print tokens: unset it, then start again"};
    }
  }
  return {};
}

}  // namespace gridtorrent::rpc
