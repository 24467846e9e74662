#pragma once

#include <grpcpp/support/status.h>

#include <chrono>
#include <string_view>

#include "common/result.h"

namespace gridtorrent::rpc {

/// The one map from our codes to gRPC's and back. The binary details carry google.rpc.Status with ErrorInfo (reason:
/// the code's name, domain "gridtorrent"), RequestInfo where `request_id` is not empty, and RetryInfo for kBusy
/// and kUnreachable.
grpc::Status to_grpc(const Error& error, std::string_view request_id = {},
                     std::chrono::milliseconds retry_after = std::chrono::seconds(1));

/// Exact where the server is ours (by ErrorInfo), else by gRPC's code. A status without a message gets one; messages of
/// failed connections become one line that says what failed (refused, name unknown, certificate not trusted).
Error from_grpc(const grpc::Status& status);

/// The request id that an error of ours carries; empty without one.
std::string request_id_of(const grpc::Status& status);

}  // namespace gridtorrent::rpc
