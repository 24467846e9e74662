#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <optional>
#include <string_view>

namespace gridtorrent::client::remote {

/// The value of grpc-retry-pushback-ms (gRPC proposal A6): milliseconds before the same call may come again, an hour at
/// most. Nothing where it is negative or no number, which forbids to try again by oneself.
std::optional<std::chrono::milliseconds> parse_pushback(std::string_view text);

/// What the trailers of an ended call ask for; nothing without such a trailer.
std::optional<std::chrono::milliseconds> pushback_of(const grpc::ClientContext& context);

}  // namespace gridtorrent::client::remote
