#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <mutex>
#include <string>

#include "base/rpc/channel.h"
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

  /// One unary call with deadline and token; a missing answer says why, as exactly as can be found out.
  template <class Stub, class Request, class Reply>
  Result<Reply> call(Stub& stub, grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Reply*),
                     const Request& request) {
    auto reply = rpc::call(stub, method, request, token(), options_.deadline);
    if (!reply) return explain(reply.error());
    return reply;
  }

  /// Every page of a list until `limit` items (0: all). `items` gives the reply's repeated field.
  template <class Item, class Stub, class Request, class Reply>
  Result<Listed<Item>> pages(Stub& stub, grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Reply*),
                             Request request, std::size_t limit,
                             google::protobuf::RepeatedPtrField<Item>* (Reply::*items)()) {
    Listed<Item> list;
    for (;;) {
      if (limit > 0) request.set_limit(static_cast<std::uint32_t>(limit - list.items.size()));
      GT_ASSIGN(Reply reply, call(stub, method, request));
      for (Item& item : *(reply.*items)()) list.items.push_back(std::move(item));
      const bool last = reply.next_page().empty();
      list.cut = limit > 0 && (list.items.size() > limit || (list.items.size() == limit && !last));
      // An older server knows no limit.
      if (limit > 0 && list.items.size() > limit) list.items.resize(limit);
      if (last || list.cut) return list;
      if (reply.next_page() == request.page()) {
        return Error{Code::kInternal, "the server " + options_.address + " gave the same page of a list twice"};
      }
      request.set_page(reply.next_page());
    }
  }

  /// For errors that mean "no answer": names server and CA file.
  Error explain(const Error& error) const;
  std::string token() const;
  void set_token(std::string token);
  const ServerApiOptions& options() const { return options_; }
  WallTime now() const { return clock_.wall(); }
  std::string new_request_id() { return make_request_id(clock_.wall(), rng_); }
  template <class Request>
  void ensure_request_id(Request& request) {
    if (request.request_id().empty()) request.set_request_id(new_request_id());
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
