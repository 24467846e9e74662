#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "common/unique_fd.h"

namespace gridtorrent::net {

/// The other end of a TCP connection.
struct PeerAddress {
  std::string ip;  ///< numeric; an IPv4-mapped IPv6 address as IPv4, no zone
  std::uint16_t port = 0;
};

/// Of an AF_INET or AF_INET6 address; empty of any other.
PeerAddress peer_address(const sockaddr_storage& address);

/// The key that an address is limited by: itself for IPv4, its /64 for IPv6.
std::string address_bucket(std::string_view ip);

/// Listening TCP sockets (non-blocking) on every address of `host`; "0.0.0.0" and "::" are all addresses of both
/// families. Port 0 takes a free one, the same on all.
struct Listening {
  std::vector<UniqueFd> sockets;  ///< at least one
  std::uint16_t port = 0;
};
/// kConflict: the port is in use, or the address is none of this host's; kInvalid: no such host.
Result<Listening> listen_tcp(const std::string& host, std::uint16_t port);

}  // namespace gridtorrent::net
