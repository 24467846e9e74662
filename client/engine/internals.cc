#include "client/engine/internals.h"

#include <boost/variant/get.hpp>
#include <libtorrent/aux_/socket_type.hpp>
#include <libtorrent/peer_connection.hpp>
#include <libtorrent/torrent_peer.hpp>

namespace gridtorrent::client::engine {

int socket_of(const lt::peer_connection_handle& peer) {
  const auto connection = peer.native_handle();
  if (!connection) return -1;
  auto* socket = boost::get<lt::tcp::socket>(&connection->get_socket());
  return socket != nullptr && socket->is_open() ? socket->native_handle() : -1;
}

PayloadCounters payload_of(const lt::peer_connection_handle& peer) {
  const auto connection = peer.native_handle();
  if (!connection) return {};
  return {connection->statistics().total_payload_download(), connection->statistics().total_payload_upload()};
}

void forbid_redial(const lt::peer_connection_handle& peer) {
  const auto connection = peer.native_handle();
  if (connection && connection->peer_info_struct() != nullptr) connection->peer_info_struct()->connectable = false;
}

}  // namespace gridtorrent::client::engine
