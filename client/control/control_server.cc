#include "client/control/control_server.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/resource_quota.h>

#include <chrono>
#include <utility>

#include "base/rpc/unix_socket.h"
#include "client/control/service.h"

namespace gridtorrent::client::control {
namespace {

/// How long calls under way may take to notice that the node stops.
constexpr std::chrono::seconds kDrain{5};
constexpr int kMinPingIntervalMs = 10'000;

class RunningServer final : public ControlServer {
 public:
  RunningServer(ControlOptions options, Node& node, std::unique_ptr<rpc::UnixListener> listener)
      : options_(std::move(options)),
        service_(node, *options_.clock, options_.hash_backend, {options_.watch_pause, options_.max_watches},
                 {options_.transfers_pause, options_.max_transfer_streams}, {options_.status_pause},
                 {options_.reenrol, options_.credential_refused, options_.settings}),
        listener_(std::move(listener)) {}

  ~RunningServer() override {
    listener_->stop();
    service_.stop();
    if (server_) server_->Shutdown(std::chrono::system_clock::now() + kDrain);
  }

  Status run() {
    grpc::ResourceQuota quota("control");
    // Two more than calls: gRPC polls with threads of the same quota.
    quota.SetMaxThreads(options_.max_calls + 2);
    grpc::ServerBuilder builder;
    builder.SetResourceQuota(quota);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kMinPingIntervalMs);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
    builder.SetSyncServerOption(grpc::ServerBuilder::NUM_CQS, 1);
    builder.SetSyncServerOption(grpc::ServerBuilder::MIN_POLLERS, 1);
    builder.SetSyncServerOption(grpc::ServerBuilder::MAX_POLLERS, 2);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    if (!server_) return Error{Code::kInternal, "gRPC would not start the control server"};
    return listener_->serve(*server_);
  }

  const std::string& socket_path() const override { return options_.socket_path; }

 private:
  const ControlOptions options_;
  ControlService service_;
  std::unique_ptr<rpc::UnixListener> listener_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace

ControlServer::Place::Place() = default;
ControlServer::Place::Place(Place&&) noexcept = default;
ControlServer::Place& ControlServer::Place::operator=(Place&&) noexcept = default;
ControlServer::Place::~Place() = default;

Result<ControlServer::Place> ControlServer::Place::take(const std::string& socket_path) {
  Place place;
  GT_ASSIGN(place.listener_, rpc::UnixListener::bind(socket_path));
  return place;
}

Result<std::unique_ptr<ControlServer>> ControlServer::start(ControlOptions options, Node& node, Place place) {
  GT_CHECK(options.clock != nullptr && place.listener_ != nullptr);
  auto server = std::make_unique<RunningServer>(std::move(options), node, std::move(place.listener_));
  GT_TRY(server->run());
  return std::unique_ptr<ControlServer>(std::move(server));
}

Result<std::unique_ptr<ControlServer>> ControlServer::start(ControlOptions options, Node& node) {
  GT_ASSIGN(Place place, Place::take(options.socket_path));
  return start(std::move(options), node, std::move(place));
}

}  // namespace gridtorrent::client::control
