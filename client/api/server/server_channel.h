#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <mutex>
#include <string>

#include "client/api/call/operation.h"
#include "client/api/server/server_api.h"
#include "common/clock.h"
#include "common/ids.h"
#include "common/rng.h"
#include "gridtorrent/v1/ccm.grpc.pb.h"
#include "gridtorrent/v1/tracker.grpc.pb.h"

namespace gridtorrent::client::api {

/// The connection to the server with its stubs and the caller's token. Thread-safe; the token has its own mutex.
class ServerChannel {
 public:
  ServerChannel(ServerApiOptions options, std::shared_ptr<grpc::Channel> channel);

  /// Of a short call, with the token of now; a missing answer says why, as exactly as can be found out.
  CallTerms terms() const { return terms(options_.deadline); }
  CallTerms terms(std::chrono::milliseconds deadline) const;
  std::string token() const;
  void set_token(std::string token);
  const ServerApiOptions& options() const { return options_; }
  WallTime now() const { return clock_.wall(); }
  /// The request with a request id of its own, where it has none.
  template <class Request>
  Request with_id(Request request = {}) {
    if (request.request_id().empty()) request.set_request_id(make_request_id(clock_.wall(), rng_));
    return request;
  }

  v1::Accounts::Stub& accounts() { return *accounts_; }
  v1::Contents::Stub& contents() { return *contents_; }
  v1::Collaboration::Stub& collaboration() { return *collaboration_; }
  v1::Nodes::Stub& nodes() { return *nodes_; }
  v1::Tasks::Stub& tasks() { return *tasks_; }

 private:
  const ServerApiOptions options_;
  SystemClock clock_;
  SystemRng rng_;
  std::unique_ptr<v1::Accounts::Stub> accounts_;
  std::unique_ptr<v1::Contents::Stub> contents_;
  std::unique_ptr<v1::Collaboration::Stub> collaboration_;
  std::unique_ptr<v1::Nodes::Stub> nodes_;
  std::unique_ptr<v1::Tasks::Stub> tasks_;
  mutable std::mutex mutex_;
  std::string token_;
};

}  // namespace gridtorrent::client::api
