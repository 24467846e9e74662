#include "base/rpc/backend_name.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace gridtorrent::rpc {
namespace {
constexpr std::string_view kNamePrefix = "gt/";
constexpr std::string_view kPeerPrefix = "unix-abstract:gt/";
}  // namespace

std::string backend_name(const net::PeerAddress& caller, std::uint64_t connection, std::string_view process) {
  return std::string(kNamePrefix) + caller.ip + "," + std::to_string(connection) + "," + std::string(process);
}

std::optional<BackendPeer> parse_backend_name(std::string_view grpc_peer) {
  if (!grpc_peer.starts_with(kPeerPrefix)) return std::nullopt;
  std::string address(grpc_peer.substr(kPeerPrefix.size()));
  // gRPC may write the comma, and the colons of IPv6, in percent encoding.
  for (const auto& [encoded, plain] : {std::pair<std::string_view, char>{"%2C", ','}, {"%3A", ':'}}) {
    for (auto at = address.find(encoded); at != std::string::npos; at = address.find(encoded)) {
      address.replace(at, encoded.size(), 1, plain);
    }
  }
  BackendPeer peer;
  const std::size_t end = std::min(address.size(), address.find(','));
  peer.ip = address.substr(0, end);
  if (end < address.size()) std::from_chars(&address[end + 1], address.data() + address.size(), peer.connection);
  return peer;
}

}  // namespace gridtorrent::rpc
