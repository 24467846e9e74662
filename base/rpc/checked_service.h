#pragma once

#include <grpcpp/impl/service_type.h>

#include <deque>
#include <optional>
#include <string>

#include "base/rpc/method.h"
#include "common/result.h"

namespace gridtorrent::rpc {

/// A service with the methods of another one, in front of which it stands: a call whose message cannot be parsed, or is
/// larger than the method declares, goes to its handler, too, with message_trouble(), so that Door counts it and says
/// what is wrong. gRPC 1.51 would answer UNIMPLEMENTED and tell nobody. What clients stream is left to gRPC, which ends
/// the stream at such a message. To be registered instead of the other, which must outlive it.
class CheckedService final : public grpc::Service {
 public:
  /// `full_name`: "gridtorrent.v1.Accounts", of a service whose descriptor is linked in; all its methods are declared.
  CheckedService(const std::string& full_name, grpc::Service& inner, Methods declared);

 private:
  std::deque<std::string> names_;  ///< gRPC keeps pointers into it
};

/// While a handler is entered on this thread: why its message must not be used, and what the call is answered.
/// kInvalid, or kExhausted where it is too large.
std::optional<Error> message_trouble();

}  // namespace gridtorrent::rpc
