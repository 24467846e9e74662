#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>

#include "client/api/call/operation.h"
#include "client/api/node/node_api.h"
#include "gridtorrent/v1/control.grpc.pb.h"

namespace gridtorrent::client::api {

/// The connection to the node. Immutable but for gRPC's own state; thread-safe.
struct NodeConnection {
  NodeConnection(NodeApiOptions given, const std::shared_ptr<grpc::Channel>& channel)
      : options(std::move(given)), stub(v1::Control::NewStub(channel)) {}

  CallTerms terms(std::chrono::milliseconds deadline) const;
  /// With the caller's login, where it names none.
  template <class Request>
  Request own(Request request) const {
    if (request.user_id().empty()) request.set_user_id(options.user_id);
    return request;
  }

  const NodeApiOptions options;
  const std::unique_ptr<v1::Control::Stub> stub;
};

}  // namespace gridtorrent::client::api
