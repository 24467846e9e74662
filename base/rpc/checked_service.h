#pragma once

#include <grpcpp/impl/service_type.h>

#include <deque>
#include <string>

#include "common/result.h"

namespace gridtorrent::rpc {

/// A service with the methods of another one, in front of which it stands: a unary call whose message cannot be parsed
/// goes to its handler, too, with message_is_malformed(), so that Door counts it and says what is wrong. gRPC 1.51
/// would answer UNIMPLEMENTED and tell nobody. Streams are left to gRPC. To be registered instead of the other, which
/// must outlive it.
class CheckedService final : public grpc::Service {
 public:
  /// `full_name`: "gridtorrent.v1.Accounts", of a service whose descriptor is linked in.
  CheckedService(const std::string& full_name, grpc::Service& inner);

 private:
  std::deque<std::string> names_;  ///< gRPC keeps pointers into it
};

/// While a handler is entered on this thread: whether its message could not be parsed and must not be used.
bool message_is_malformed();
/// What such a call is answered. kInvalid.
Error malformed_message();

}  // namespace gridtorrent::rpc
