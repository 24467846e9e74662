#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "base/rpc/door.h"

namespace gridtorrent::rpc {

/// Ends a deferred call with its outcome: exactly once, from any thread, before the Door goes.
using EndCall = std::function<void(const Status&)>;

/// The untyped half of `deferred`: `begin` returns an error, and the call ends with it; or success, and then it calls
/// its EndCall once.
void run_deferred(Door& door, grpc::CallbackServerContext* context, const Method& method,
                  std::function<Status(const Call&, EndCall)> begin, std::function<void(const grpc::Status&)> finish);

/// As Door::unary, for a call that waits for others without a thread of ours. `handler`: Status(const Call&, const
/// Request&, Reply&, EndCall), on an executor thread; request and reply live until the call ends.
template <class Request, class Reply, class Handler>
grpc::ServerUnaryReactor* deferred(Door& door, grpc::CallbackServerContext* context, const Method& method,
                                   const Request* request, Reply* reply, Handler handler) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  run_deferred(
      door, context, method,
      [request, reply, handler = std::move(handler)](const Call& call, EndCall end) -> Status {
        GT_TRY(check_named(*request));
        return handler(call, *request, *reply, std::move(end));
      },
      [reactor](const grpc::Status& status) { reactor->Finish(status); });
  return reactor;
}

}  // namespace gridtorrent::rpc
