#include "base/rpc/server.h"

#include <dlfcn.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <cstdlib>

#include "base/rpc/channel.h"
#include "common/text.h"

namespace gridtorrent::rpc {

namespace {

constexpr unsigned kCertificateRefreshSeconds = 5;

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
  namespace tls = grpc::experimental;
  auto provider = std::make_shared<tls::FileWatcherCertificateProvider>(options.pem_file, options.pem_file,
                                                                        kCertificateRefreshSeconds);
  tls::TlsServerCredentialsOptions credentials(provider);
  credentials.watch_identity_key_cert_pairs();
  credentials.set_cert_request_type(GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);

  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  apply_limits(builder);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, 600'000);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS, 3'600'000);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS, 30'000);
  // Otherwise a second server on the same port starts without a word, and each gets half of the callers.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  int port = 0;
  builder.AddListeningPort(address.str(), tls::TlsServerCredentials(credentials), &port);
  for (grpc::Service* service : options.services) builder.RegisterService(service);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (!server || port == 0) {
    return Error{Code::kConflict,
                 "cannot listen on " + escape_for_display(options.listen) +
                     ": the port is in use, or the address is none of this host's; choose another with "
                     "--listen"};
  }
  server->GetHealthCheckService()->SetServingStatus(true);
  return std::unique_ptr<TlsServer>(new TlsServer(std::move(server), static_cast<std::uint16_t>(port)));
}

TlsServer::~TlsServer() {
  drain(std::chrono::milliseconds(0));
}

void TlsServer::drain(std::chrono::milliseconds grace) {
  set_serving(false);
  server_->Shutdown(std::chrono::system_clock::now() + grace);
  server_->Wait();
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
