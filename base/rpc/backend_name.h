#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/net/address.h"

namespace gridtorrent::rpc {

/// What the abstract Unix address of our end of a socket pair carries, for gRPC to see it as its peer.
struct BackendPeer {
  std::string ip;
  std::uint64_t connection = 0;  ///< its number in this process, from 1 on
};

/// That address: `process` makes it unique on this host.
std::string backend_name(const net::PeerAddress& caller, std::uint64_t connection, std::string_view process);
/// From gRPC's text of such a peer ("unix-abstract:…"); nothing: it is none.
std::optional<BackendPeer> parse_backend_name(std::string_view grpc_peer);

}  // namespace gridtorrent::rpc
