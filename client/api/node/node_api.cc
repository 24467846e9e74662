#include "client/api/node/node_api.h"

#include <grpcpp/create_channel_posix.h>
#include <grpcpp/grpcpp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cassert>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include "base/rpc/unix_socket.h"
#include "client/api/call/call_loop.h"
#include "client/api/call/waiting.h"
#include "client/api/node/node_connection.h"
#include "common/text.h"
#include "common/unique_fd.h"

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
                                    "with `gridtorrent node start`, or name its socket with --socket"};
  }
  return Error{Code::kUnreachable, "no node answers at " + shown + " (" + errno_text(error) +
                                       "): start it with `gridtorrent node start`, or name its socket with --socket"};
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

/// The thread of the asynchronous form begins when that is first asked for: most programs need one form alone.
struct NodeApi::Impl {
  Impl(NodeApiOptions options, const std::shared_ptr<grpc::Channel>& channel)
      : connection(std::move(options), channel) {}

  /// The asynchronous call `method`, waited for.
  template <class T, class Method, class... Arguments>
  Result<T> wait(Method method, Arguments&&... arguments) {
    return wait_until<T>({}, method, std::forward<Arguments>(arguments)...);
  }
  template <class T, class Method, class... Arguments>
  Result<T> wait_until(std::stop_token stop, Method method, Arguments&&... arguments) {
    CallLoop loop;
    AsyncNodeApi node(connection, loop);
    return loop.wait<T>(
        [&](Answer<T> done) { return (node.*method)(std::forward<Arguments>(arguments)..., std::move(done)); },
        std::move(stop));
  }
  template <class Method, class... Arguments>
  Status wait_for_end(std::stop_token stop, Method method, Arguments&&... arguments) {
    CallLoop loop;
    AsyncNodeApi node(connection, loop);
    return loop.wait<void>(
        [&](Ended on_end) { return (node.*method)(std::forward<Arguments>(arguments)..., std::move(on_end)); },
        std::move(stop));
  }

  const NodeConnection connection;
  std::once_flag begun;
  std::optional<CallThread> thread;
  std::optional<AsyncNodeApi> async;
};

Result<std::unique_ptr<NodeApi>> NodeApi::open(NodeApiOptions options) {
  assert(may_wait());
  GT_ASSIGN(UniqueFd fd, connect_socket(options.socket_path));
  auto channel = grpc::CreateCustomInsecureChannelFromFd("gridtorrentd", fd.release(), channel_arguments());
  return std::unique_ptr<NodeApi>(new NodeApi(std::make_unique<Impl>(std::move(options), channel)));
}

NodeApi::NodeApi(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
NodeApi::~NodeApi() = default;

AsyncNodeApi& NodeApi::async() {
  std::call_once(impl_->begun, [&] {
    impl_->thread.emplace();
    impl_->async.emplace(impl_->connection, impl_->thread->loop());
  });
  return *impl_->async;
}

Result<v1::StatusReply> NodeApi::status() {
  return impl_->wait<v1::StatusReply>(&AsyncNodeApi::status);
}

Status NodeApi::watch_status(const NodeStatusFn& on_change, std::stop_token stop) {
  return impl_->wait_for_end(std::move(stop), &AsyncNodeApi::watch_status, on_change);
}

Result<v1::Settings> NodeApi::settings() {
  return impl_->wait<v1::Settings>(&AsyncNodeApi::settings);
}

Result<v1::Settings> NodeApi::set_settings(v1::SetSettingsRequest request) {
  return impl_->wait<v1::Settings>(&AsyncNodeApi::set_settings, std::move(request));
}

Result<v1::NodeLimits> NodeApi::set_limits(v1::SetNodeLimitsRequest request) {
  return impl_->wait<v1::NodeLimits>(&AsyncNodeApi::set_limits, std::move(request));
}

Status NodeApi::publish(v1::PublishRequest request, const PublishEventFn& on_event, std::stop_token stop) {
  return impl_->wait_for_end(std::move(stop), &AsyncNodeApi::publish, std::move(request), on_event);
}

Result<v1::GetReply> NodeApi::get(v1::GetRequest request, std::stop_token stop) {
  return impl_->wait_until<v1::GetReply>(std::move(stop), &AsyncNodeApi::get, std::move(request));
}

Status NodeApi::estimate(v1::EstimateRequest request, const EstimateEventFn& on_event, std::stop_token stop) {
  return impl_->wait_for_end(std::move(stop), &AsyncNodeApi::estimate, std::move(request), on_event);
}

Result<v1::GetReply> NodeApi::seed(v1::SeedRequest request, std::stop_token stop) {
  return impl_->wait_until<v1::GetReply>(std::move(stop), &AsyncNodeApi::seed, std::move(request));
}

Status NodeApi::watch_transfer(const std::string& transfer_id, const TransferFn& on_change, std::stop_token stop) {
  return impl_->wait_for_end(std::move(stop), &AsyncNodeApi::watch_transfer, transfer_id, on_change);
}

Result<v1::ListTransfersReply> NodeApi::list_transfers() {
  return impl_->wait<v1::ListTransfersReply>(&AsyncNodeApi::list_transfers);
}

Result<v1::Transfer> NodeApi::get_transfer(const std::string& transfer_id) {
  return impl_->wait<v1::Transfer>(&AsyncNodeApi::get_transfer, transfer_id);
}

Result<v1::Transfer> NodeApi::pause_transfer(const std::string& transfer_id) {
  return impl_->wait<v1::Transfer>(&AsyncNodeApi::pause_transfer, transfer_id);
}

Result<v1::Transfer> NodeApi::resume_transfer(const std::string& transfer_id) {
  return impl_->wait<v1::Transfer>(&AsyncNodeApi::resume_transfer, transfer_id);
}

Result<v1::Transfer> NodeApi::cancel_transfer(const std::string& transfer_id) {
  return impl_->wait<v1::Transfer>(&AsyncNodeApi::cancel_transfer, transfer_id);
}

Result<v1::Transfer> NodeApi::set_transfer(v1::SetTransferRequest request) {
  return impl_->wait<v1::Transfer>(&AsyncNodeApi::set_transfer, std::move(request));
}

Result<v1::Tuning> NodeApi::explain_transfer(const std::string& transfer_id) {
  return impl_->wait<v1::Tuning>(&AsyncNodeApi::explain_transfer, transfer_id);
}

Status NodeApi::watch_tuning(const std::string& transfer_id, const TuningFn& on_change, std::stop_token stop) {
  return impl_->wait_for_end(std::move(stop), &AsyncNodeApi::watch_tuning, transfer_id, on_change);
}

Result<v1::ListTuningsReply> NodeApi::list_tunings() {
  return impl_->wait<v1::ListTuningsReply>(&AsyncNodeApi::list_tunings);
}

Result<v1::ListTunersReply> NodeApi::list_tuners() {
  return impl_->wait<v1::ListTunersReply>(&AsyncNodeApi::list_tuners);
}

Result<v1::History> NodeApi::list_history() {
  return impl_->wait<v1::History>(&AsyncNodeApi::list_history);
}

Result<v1::History> NodeApi::forget_history(const std::string& node_id) {
  return impl_->wait<v1::History>(&AsyncNodeApi::forget_history, node_id);
}

Status NodeApi::verify(v1::VerifyRequest request, const VerifyEventFn& on_event, std::stop_token stop) {
  return impl_->wait_for_end(std::move(stop), &AsyncNodeApi::verify, std::move(request), on_event);
}

Status NodeApi::watch_transfers(v1::WatchTransfersRequest since, const TransfersEventFn& on_event,
                                std::stop_token stop) {
  return impl_->wait_for_end(std::move(stop), &AsyncNodeApi::watch_transfers, std::move(since), on_event);
}

Status NodeApi::follow_transfer(const std::string& transfer_id, const TransferFn& on_change, std::stop_token stop) {
  return impl_->wait_for_end(std::move(stop), &AsyncNodeApi::follow_transfer, transfer_id, on_change);
}

Result<v1::RateHistoryReply> NodeApi::rate_history(v1::RateHistoryRequest request) {
  return impl_->wait<v1::RateHistoryReply>(&AsyncNodeApi::rate_history, std::move(request));
}

Result<v1::Transfer> NodeApi::choose_files(v1::ChooseFilesRequest request) {
  return impl_->wait<v1::Transfer>(&AsyncNodeApi::choose_files, std::move(request));
}

Result<v1::ListChosenFilesReply> NodeApi::list_chosen_files(const std::string& transfer_id) {
  return impl_->wait<v1::ListChosenFilesReply>(&AsyncNodeApi::list_chosen_files, transfer_id);
}

Result<v1::RemoveFilesReply> NodeApi::remove_files(v1::RemoveFilesRequest request) {
  return impl_->wait<v1::RemoveFilesReply>(&AsyncNodeApi::remove_files, std::move(request));
}

Result<v1::ChangeTransfersReply> NodeApi::change_transfers(v1::ChangeTransfersRequest request) {
  return impl_->wait<v1::ChangeTransfersReply>(&AsyncNodeApi::change_transfers, std::move(request));
}

Status NodeApi::scan_publish(const std::string& path, const ScanPublishEventFn& on_event, std::stop_token stop) {
  return impl_->wait_for_end(std::move(stop), &AsyncNodeApi::scan_publish, path, on_event);
}

Status NodeApi::scan_chosen(v1::ScanPublishRequest request, const ScanPublishEventFn& on_event, std::stop_token stop) {
  return impl_->wait_for_end(std::move(stop), &AsyncNodeApi::scan_chosen, std::move(request), on_event);
}

Result<v1::Transfer> NodeApi::start_publish(v1::PublishRequest request, std::stop_token stop) {
  return impl_->wait_until<v1::Transfer>(std::move(stop), &AsyncNodeApi::start_publish, std::move(request));
}

Result<v1::ReenrollReply> NodeApi::reenroll(const std::string& enroll_token) {
  return impl_->wait<v1::ReenrollReply>(&AsyncNodeApi::reenroll, enroll_token);
}

}  // namespace gridtorrent::client::api
