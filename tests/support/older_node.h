#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/rpc/hello.h"
#include "common/clock.h"
#include "gridtorrent/v1/control.grpc.pb.h"

namespace gridtorrent::client {

/// A node from before the calls that tell of changes, keep rates and change many transfers: it lists its transfers and
/// pauses one. Thread-safe.
class OlderNode final : public v1::Control::Service {
 public:
  explicit OlderNode(const std::string& socket_path) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + socket_path, grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~OlderNode() override { stop(); }

  void stop() { server_->Shutdown(std::chrono::system_clock::now()); }
  void put(const std::string& id, const std::string& state) {
    const std::lock_guard lock(mutex_);
    states_[id] = state;
  }
  void remove(const std::string& id) {
    const std::lock_guard lock(mutex_);
    states_.erase(id);
  }
  std::function<void()> on_list;  ///< before each list

  grpc::Status Status(grpc::ServerContext*, const v1::StatusRequest*, v1::StatusReply* reply) override {
    *reply->mutable_hello() = rpc::make_hello(SystemClock().wall());
    return grpc::Status::OK;
  }
  grpc::Status ListTransfers(grpc::ServerContext*, const v1::ListTransfersRequest*,
                             v1::ListTransfersReply* reply) override {
    if (on_list) on_list();
    const std::lock_guard lock(mutex_);
    for (const auto& [id, state] : states_) *reply->add_transfers() = transfer(id, state);
    return grpc::Status::OK;
  }
  grpc::Status PauseTransfer(grpc::ServerContext*, const v1::TransferRequest* request,
                             v1::TransferReply* reply) override {
    const std::lock_guard lock(mutex_);
    if (!states_.contains(request->transfer_id())) return {grpc::StatusCode::NOT_FOUND, "no transfer of this id"};
    states_[request->transfer_id()] = "paused";
    *reply->mutable_transfer() = transfer(request->transfer_id(), "paused");
    return grpc::Status::OK;
  }

 private:
  static v1::Transfer transfer(const std::string& id, const std::string& state) {
    v1::Transfer one;
    one.set_transfer_id(id);
    one.set_state(state);
    return one;
  }

  std::mutex mutex_;
  std::map<std::string, std::string> states_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace gridtorrent::client
