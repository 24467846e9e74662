#include "client/api/node/node_api.h"

#include <grpcpp/create_channel_posix.h>
#include <grpcpp/grpcpp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/rpc/channel.h"
#include "base/rpc/hello.h"
#include "base/rpc/status.h"
#include "base/rpc/unix_socket.h"
#include "common/clock.h"
#include "common/ids.h"
#include "common/rng.h"
#include "common/text.h"
#include "common/unique_fd.h"
#include "gridtorrent/v1/control.grpc.pb.h"

namespace gridtorrent::client::api {
namespace {

/// Connected by ourselves and not by gRPC, so that the errno can be told.
Result<UniqueFd> connect_socket(const std::string& path) {
  GT_TRY(rpc::check_socket_path(path));
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  if (fd && ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  const int error = errno;
  const std::string shown = escape_for_display(path);
  if (error == EACCES || error == EPERM) {
    return Error{Code::kDenied, "the control socket " + shown + " belongs to another user's node: start your own " +
                                    "gridtorrentd, or name its socket with --socket"};
  }
  return Error{Code::kUnreachable, "no node answers at " + shown + " (" + errno_text(error) +
                                       "): start gridtorrentd, or name its socket with --socket"};
}

grpc::ChannelArguments channel_arguments() {
  // Not rpc::client_channel_arguments(), of which gRPC would take the first value: nobody on the way can lose this
  // connection, so it needs no keepalive, and lists of files may be long.
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetMaxReceiveMessageSize(-1);
  return arguments;
}

}  // namespace

/// Immutable after construction but for gRPC's own state; thread-safe.
struct NodeApi::Impl {
  Impl(NodeApiOptions given, const std::shared_ptr<grpc::Channel>& channel)
      : options(std::move(given)), stub(v1::Control::NewStub(channel)) {}

  template <class Request, class Reply>
  Result<Reply> call(grpc::Status (v1::Control::Stub::*method)(grpc::ClientContext*, const Request&, Reply*),
                     Request request) {
    return call(method, std::move(request), options.deadline);
  }

  template <class Request, class Reply>
  Result<Reply> call(grpc::Status (v1::Control::Stub::*method)(grpc::ClientContext*, const Request&, Reply*),
                     Request request, std::chrono::milliseconds deadline) {
    own(request);
    grpc::ClientContext context;
    rpc::prepare(context, deadline);
    Reply reply;
    const grpc::Status status = ((*stub).*method)(&context, request, &reply);
    if (!status.ok()) return explain(status);
    return reply;
  }

  template <class Reply, class Request, class Take>
  Status stream(std::unique_ptr<grpc::ClientReader<Reply>> (v1::Control::Stub::*method)(grpc::ClientContext*,
                                                                                        const Request&),
                Request request, const Take& take, std::stop_token stop) {
    own(request);
    grpc::ClientContext context;
    rpc::prepare(context, std::chrono::milliseconds(0));
    const auto reader = ((*stub).*method)(&context, request);
    const rpc::StopGuard guard(std::move(stop), context);
    Reply reply;
    bool wanted = true;
    while (wanted && reader->Read(&reply)) wanted = take(reply);
    if (!wanted) context.TryCancel();
    const grpc::Status status = reader->Finish();
    if (!wanted || status.ok()) return {};
    if (guard.stopped()) return Error{Code::kCancelled, "cancelled"};
    return explain(status);
  }

  Result<v1::Transfer> on_transfer(grpc::Status (v1::Control::Stub::*method)(grpc::ClientContext*,
                                                                             const v1::TransferRequest&,
                                                                             v1::TransferReply*),
                                   const std::string& transfer_id) {
    v1::TransferRequest request;
    request.set_transfer_id(transfer_id);
    auto reply = call(method, std::move(request));
    if (!reply) return reply.error();
    return std::move(*reply->mutable_transfer());
  }

  template <class Request>
  void own(Request& request) const {
    if (request.user_id().empty()) request.set_user_id(options.user_id);
  }

  /// The node's own errors come with details; without them it was the connection that failed.
  Error explain(const grpc::Status& status) const {
    const Error error = rpc::from_grpc(status);
    if (error.code != Code::kUnreachable || !status.error_details().empty()) return error;
    return {error.code, "the node at " + escape_for_display(options.socket_path) + " went away (" + error.message +
                            "): see its log, and start gridtorrentd again"};
  }

  const NodeApiOptions options;
  const std::unique_ptr<v1::Control::Stub> stub;
};

Result<std::unique_ptr<NodeApi>> NodeApi::open(NodeApiOptions options) {
  GT_ASSIGN(UniqueFd fd, connect_socket(options.socket_path));
  auto channel = grpc::CreateCustomInsecureChannelFromFd("gridtorrentd", fd.release(), channel_arguments());
  return std::unique_ptr<NodeApi>(new NodeApi(std::make_unique<Impl>(std::move(options), channel)));
}

NodeApi::NodeApi(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
NodeApi::~NodeApi() = default;

Result<v1::StatusReply> NodeApi::status() {
  const SystemClock clock;
  v1::StatusRequest request;
  *request.mutable_hello() = rpc::make_hello(clock.wall());
  auto reply = impl_->call(&v1::Control::Stub::Status, std::move(request));
  if (!reply) return reply;
  GT_TRY(rpc::check_hello(reply->hello(), clock.wall(), "the node"));
  return reply;
}

Result<v1::NodeLimits> NodeApi::set_limits(v1::SetNodeLimitsRequest request) {
  return impl_->call(&v1::Control::Stub::SetNodeLimits, std::move(request));
}

Status NodeApi::publish(v1::PublishRequest request, const PublishEventFn& on_event, std::stop_token stop) {
  if (request.request_id().empty()) {
    SystemRng rng;
    request.set_request_id(make_request_id(SystemClock().wall(), rng));
  }
  return impl_->stream(&v1::Control::Stub::Publish, std::move(request), on_event, std::move(stop));
}

Result<v1::GetReply> NodeApi::get(v1::GetRequest request) {
  return impl_->call(&v1::Control::Stub::Get, std::move(request), impl_->options.begin_deadline);
}

Status NodeApi::estimate(v1::EstimateRequest request, const EstimateEventFn& on_event, std::stop_token stop) {
  return impl_->stream(&v1::Control::Stub::Estimate, std::move(request), on_event, std::move(stop));
}

Result<v1::GetReply> NodeApi::seed(v1::SeedRequest request) {
  return impl_->call(&v1::Control::Stub::Seed, std::move(request));
}

Status NodeApi::watch_transfer(const std::string& transfer_id, const TransferFn& on_change, std::stop_token stop) {
  v1::TransferRequest request;
  request.set_transfer_id(transfer_id);
  return impl_->stream(
      &v1::Control::Stub::WatchTransfer, std::move(request),
      [&](const v1::TransferReply& reply) { return on_change(reply.transfer()); }, std::move(stop));
}

Result<v1::ListTransfersReply> NodeApi::list_transfers() {
  return impl_->call(&v1::Control::Stub::ListTransfers, v1::ListTransfersRequest());
}

Result<v1::Transfer> NodeApi::get_transfer(const std::string& transfer_id) {
  return impl_->on_transfer(&v1::Control::Stub::GetTransfer, transfer_id);
}

Result<v1::Transfer> NodeApi::pause_transfer(const std::string& transfer_id) {
  return impl_->on_transfer(&v1::Control::Stub::PauseTransfer, transfer_id);
}

Result<v1::Transfer> NodeApi::resume_transfer(const std::string& transfer_id) {
  return impl_->on_transfer(&v1::Control::Stub::ResumeTransfer, transfer_id);
}

Result<v1::Transfer> NodeApi::cancel_transfer(const std::string& transfer_id) {
  return impl_->on_transfer(&v1::Control::Stub::CancelTransfer, transfer_id);
}

Result<v1::Transfer> NodeApi::set_transfer(v1::SetTransferRequest request) {
  auto reply = impl_->call(&v1::Control::Stub::SetTransfer, std::move(request));
  if (!reply) return reply.error();
  return std::move(*reply->mutable_transfer());
}

Result<v1::Tuning> NodeApi::explain_transfer(const std::string& transfer_id) {
  v1::TransferRequest request;
  request.set_transfer_id(transfer_id);
  return impl_->call(&v1::Control::Stub::ExplainTransfer, std::move(request));
}

Status NodeApi::watch_tuning(const std::string& transfer_id, const TuningFn& on_change, std::stop_token stop) {
  v1::TransferRequest request;
  request.set_transfer_id(transfer_id);
  return impl_->stream(&v1::Control::Stub::WatchTuning, std::move(request), on_change, std::move(stop));
}

Result<v1::ListTuningsReply> NodeApi::list_tunings() {
  return impl_->call(&v1::Control::Stub::ListTunings, v1::ListTuningsRequest());
}

Result<v1::ListTunersReply> NodeApi::list_tuners() {
  return impl_->call(&v1::Control::Stub::ListTuners, v1::ListTunersRequest());
}

Result<v1::History> NodeApi::list_history() {
  return impl_->call(&v1::Control::Stub::ListHistory, v1::ListHistoryRequest());
}

Result<v1::History> NodeApi::forget_history(const std::string& node_id) {
  v1::ForgetHistoryRequest request;
  request.set_node_id(node_id);
  return impl_->call(&v1::Control::Stub::ForgetHistory, std::move(request));
}

Status NodeApi::verify(v1::VerifyRequest request, const VerifyEventFn& on_event, std::stop_token stop) {
  return impl_->stream(&v1::Control::Stub::Verify, std::move(request), on_event, std::move(stop));
}

}  // namespace gridtorrent::client::api
