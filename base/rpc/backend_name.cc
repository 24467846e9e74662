#include "base/rpc/backend_name.h"

#include <algorithm>
#include <utility>

namespace gridtorrent::rpc {
namespace {
constexpr std::string_view kNamePrefix = "gt/";
constexpr std::string_view kPeerPrefix = "unix-abstract:gt/";
}  // namespace

std::string backend_name(const net::PeerAddress& caller, std::string_view unique) {
  return std::string(kNamePrefix) + caller.ip + "," + std::to_string(caller.port) + "," + std::string(unique);
}

std::optional<std::string> address_in_backend_name(std::string_view grpc_peer) {
  if (!grpc_peer.starts_with(kPeerPrefix)) return std::nullopt;
  std::string address(grpc_peer.substr(kPeerPrefix.size()));
  // gRPC may write the comma, and the colons of IPv6, in percent encoding.
  for (const auto& [encoded, plain] : {std::pair<std::string_view, char>{"%2C", ','}, {"%3A", ':'}}) {
    for (auto at = address.find(encoded); at != std::string::npos; at = address.find(encoded)) {
      address.replace(at, encoded.size(), 1, plain);
    }
  }
  address.resize(std::min(address.size(), address.find(',')));
  return address;
}

}  // namespace gridtorrent::rpc
