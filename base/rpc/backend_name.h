#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/net/address.h"

namespace gridtorrent::rpc {

/// The abstract Unix address that our end of a socket pair is bound to, for gRPC to see it as its peer: it carries the
/// caller's address and must be unique on this host.
std::string backend_name(const net::PeerAddress& caller, std::string_view unique);
/// The caller's address in gRPC's text of such a peer ("unix-abstract:…"); nothing: it is none.
std::optional<std::string> address_in_backend_name(std::string_view grpc_peer);

}  // namespace gridtorrent::rpc
