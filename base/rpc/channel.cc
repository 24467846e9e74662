#include "base/rpc/channel.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>

#include <charconv>
#include <fstream>
#include <mutex>
#include <sstream>

#include "base/logging/logging.h"
#include "common/text.h"

namespace gridtorrent::rpc {

namespace {

void log_from_grpc(gpr_log_func_args* arguments) {
  // gRPC reports peers' mistakes as errors; none of it is ours to act on.
  logging::debug(arguments->message, {{"from", "grpc"}});
}

void log_from_protobuf(google::protobuf::LogLevel, const char*, int, const std::string& message) {
  // It writes a line for each malformed message, which anybody can send.
  logging::debug(message, {{"from", "protobuf"}});
}

constexpr int kKeepaliveMs = 45'000;  // servers count pings below 30 s as abuse
constexpr int kKeepaliveTimeoutMs = 20'000;
constexpr int kMaxMessageBytes = 4 << 20;

}  // namespace

void route_grpc_log() {
  static std::once_flag once;
  std::call_once(once, [] {
    gpr_set_log_function(log_from_grpc);
    google::protobuf::SetLogHandler(log_from_protobuf);
  });
}

grpc::ChannelArguments client_channel_arguments() {
  route_grpc_log();
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 200);
  // In spite of its name this is how long one attempt to connect may take: a TLS handshake over a slow path needs
  // seconds.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 10'000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 10'000);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  // Channels to one address are independent: closing one's credentials must not keep another's connection.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // A proxy of the environment would see the names of hosts and break on plain Unix sockets.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(kMaxMessageBytes);
  return arguments;
}

std::string HostPort::str() const {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<HostPort> parse_host_port(const std::string& text) {
  const Error wrong{Code::kInvalid, "'" + escape_for_display(text) + "' is no HOST:PORT (IPv6: [ADDRESS]:PORT)"};
  const auto colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return wrong;
  HostPort result;
  result.host = text.substr(0, colon);
  const bool bracketed = result.host.front() == '[' && result.host.back() == ']';
  if (bracketed) {
    result.host = result.host.substr(1, result.host.size() - 2);
  } else if (result.host.find_first_of(":[]") != std::string::npos) {
    return wrong;
  }
  if (result.host.empty() || result.host.find_first_of(" /\t\n") != std::string::npos) return wrong;
  const char* begin = text.data() + colon + 1;
  const char* end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(begin, end, result.port);
  if (failed != std::errc() || stop != end) return wrong;
  return result;
}

Result<std::shared_ptr<grpc::Channel>> connect_tls(const std::string& host_port, const std::string& ca_file) {
  GT_ASSIGN(const HostPort address, parse_host_port(host_port));
  std::ifstream file(ca_file, std::ios::binary);
  std::ostringstream pem;
  pem << file.rdbuf();
  if (!file) {
    return Error{Code::kInvalid,
                 "cannot read the CA file " + escape_for_display(ca_file) + ": give the server's ca.pem with --ca"};
  }
  if (pem.str().find("-----BEGIN CERTIFICATE-----") == std::string::npos) {
    return Error{Code::kInvalid, escape_for_display(ca_file) + " holds no certificate in PEM form"};
  }
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = pem.str();
  return grpc::CreateCustomChannel("dns:///" + address.str(), grpc::SslCredentials(options),
                                   client_channel_arguments());
}

void prepare(grpc::ClientContext& context, std::chrono::milliseconds deadline, const std::string& token) {
  if (deadline.count() > 0) context.set_deadline(std::chrono::system_clock::now() + deadline);
  if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
}

}  // namespace gridtorrent::rpc
