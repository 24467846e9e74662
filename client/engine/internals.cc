#include "client/engine/internals.h"

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <algorithm>
#include <boost/variant/get.hpp>
#include <ctime>
#include <libtorrent/aux_/session_impl.hpp>
#include <libtorrent/aux_/socket_type.hpp>
#include <libtorrent/peer_connection.hpp>
#include <libtorrent/peer_list.hpp>
#include <libtorrent/ssl_stream.hpp>
#include <libtorrent/torrent.hpp>
#include <libtorrent/torrent_peer.hpp>
#include <memory>
#include <vector>

namespace gridtorrent::client::engine {
namespace {

constexpr int kBlockBytes = 16 * 1024;  // libtorrent's, in every torrent

using TlsStream = lt::ssl_stream<lt::tcp::socket>;

// libtorrent has no setting for the depth of one connection. An explicit instantiation may name private members
// ([temp.spec.general]/6); that the members are still there and what they were is the compiler's to check.
template <typename Name, typename Name::type kMember>
struct Reveal {
  friend typename Name::type member_of(Name) { return kMember; }
};
struct DesiredQueueSize {
  using type = std::uint16_t lt::peer_connection::*;
  friend type member_of(DesiredQueueSize);
};
struct MostOutstanding {
  using type = std::uint16_t lt::peer_connection::*;
  friend type member_of(MostOutstanding);
};
struct DownloadQueue {
  using type = lt::aux::vector<lt::pending_block> lt::peer_connection::*;
  friend type member_of(DownloadQueue);
};
struct RequestQueue {
  using type = std::vector<lt::pending_block> lt::peer_connection::*;
  friend type member_of(RequestQueue);
};
struct RequestedAt {
  using type = lt::aux::relative_time lt::peer_connection::*;
  friend type member_of(RequestedAt);
};
struct LastPieceAt {
  using type = lt::aux::relative_time lt::peer_connection::*;
  friend type member_of(LastPieceAt);
};
struct OutstandingBytes {
  using type = int lt::peer_connection::*;
  friend type member_of(OutstandingBytes);
};
struct PeerList {
  using type = std::unique_ptr<lt::peer_list> lt::torrent_hot_members::*;
  friend type member_of(PeerList);
};
struct ListenSockets {
  using type = std::vector<std::shared_ptr<lt::aux::listen_socket_t>> lt::aux::session_impl::*;
  friend type member_of(ListenSockets);
};
struct PeerTlsContext {
  using type = boost::asio::ssl::context lt::aux::session_impl::*;
  friend type member_of(PeerTlsContext);
};
struct DatagramSocket {
  using type = lt::udp::socket lt::udp_socket::*;
  friend type member_of(DatagramSocket);
};
template struct Reveal<PeerList, &lt::torrent_hot_members::m_peer_list>;
template struct Reveal<ListenSockets, &lt::aux::session_impl::m_listen_sockets>;
template struct Reveal<PeerTlsContext, &lt::aux::session_impl::m_peer_ssl_ctx>;
template struct Reveal<DatagramSocket, &lt::udp_socket::m_socket>;
template struct Reveal<DownloadQueue, &lt::peer_connection::m_download_queue>;
template struct Reveal<RequestQueue, &lt::peer_connection::m_request_queue>;
template struct Reveal<RequestedAt, &lt::peer_connection::m_requested>;
template struct Reveal<LastPieceAt, &lt::peer_connection::m_last_piece>;
template struct Reveal<OutstandingBytes, &lt::peer_connection::m_outstanding_bytes>;
template struct Reveal<DesiredQueueSize, &lt::peer_connection::m_desired_queue_size>;
template struct Reveal<MostOutstanding, &lt::peer_connection::m_max_out_request_queue>;

int told_index() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

/// OpenSSL's, at each step of a handshake. Asio starts it right after the connection was accepted.
void on_tls_step(const SSL* tls, int where, int) {
  if ((where & SSL_CB_HANDSHAKE_START) == 0) return;
  const auto* told = static_cast<const std::function<void()>*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(tls), told_index()));
  if (told != nullptr) (*told)();
}

/// It sent bad data and may bring whole pieces only, or is gone from the list.
bool is_on_parole(const lt::peer_connection& peer) {
  return peer.peer_info_struct() == nullptr || peer.peer_info_struct()->on_parole;
}

WallTime time_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return {};
  return {static_cast<std::int64_t>(::timegm(&parts)) * 1000};
}

/// Of a base that is not accessible, which no other cast may name ([expr.cast]/4).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
const lt::peer_list* peer_list_of(const lt::torrent& torrent) {
  return (((const lt::torrent_hot_members&)torrent).*member_of(PeerList{})).get();
}
#pragma GCC diagnostic pop

}  // namespace

int socket_of(const lt::peer_connection_handle& peer) {
  const auto connection = peer.native_handle();
  if (!connection) return -1;
  if (auto* tls = boost::get<TlsStream>(&connection->get_socket())) {
    auto& below = tls->next_layer();
    return below.is_open() ? below.native_handle() : -1;
  }
  auto* socket = boost::get<lt::tcp::socket>(&connection->get_socket());
  return socket != nullptr && socket->is_open() ? socket->native_handle() : -1;
}

std::optional<TlsProof> tls_proof_of(const lt::peer_connection_handle& peer) {
  const auto connection = peer.native_handle();
  auto* const stream = connection ? boost::get<TlsStream>(&connection->get_socket()) : nullptr;
  if (stream == nullptr) return std::nullopt;
  SSL* const tls = stream->handle();
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(SSL_get1_peer_certificate(tls), X509_free);
  TlsProof proof;
  unsigned char* der = nullptr;
  const int size = certificate ? i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate.get()), &der) : 0;
  const bool hashed = size > 0 && EVP_Digest(der, static_cast<std::size_t>(size), proof.key.data(), nullptr,
                                             EVP_sha256(), nullptr) == 1;
  OPENSSL_free(der);
  if (!hashed) return std::nullopt;
  proof.not_before = time_of(X509_get0_notBefore(certificate.get()));
  proof.not_after = time_of(X509_get0_notAfter(certificate.get()));
  proof.is_1_3 = SSL_version(tls) >= TLS1_3_VERSION;
  return proof;
}

PayloadCounters payload_of(const lt::peer_connection_handle& peer) {
  const auto connection = peer.native_handle();
  if (!connection) return {};
  return {connection->statistics().total_payload_download(), connection->statistics().total_payload_upload()};
}

void set_request_depth(const lt::peer_connection_handle& peer, int blocks) {
  const auto connection = peer.native_handle();
  if (!connection) return;
  const int most = (*connection).*member_of(MostOutstanding{});
  (*connection).*member_of(DesiredQueueSize{}) = static_cast<std::uint16_t>(std::clamp(blocks, 1, std::max(most, 1)));
}

void set_request_depth_at_arrival(const lt::peer_connection_handle& peer, int blocks, int at_once) {
  const auto connection = peer.native_handle();
  if (!connection) return;
  // The block that is just arriving is still among those that are outstanding.
  const int asked = static_cast<int>(((*connection).*member_of(DownloadQueue{})).size()) - 1;
  set_request_depth(peer, blocks - asked < at_once ? std::max(asked, 1) : blocks);
}

void set_asks(const lt::peer_connection_handle& peer, bool asks) {
  if (const auto connection = peer.native_handle()) connection->no_download(!asks);
}

void forget_request(const lt::peer_connection_handle& peer, int piece, int start, int length) {
  const auto connection = peer.native_handle();
  if (!connection) return;
  const lt::piece_block block(lt::piece_index_t(piece), start / kBlockBytes);
  std::vector<lt::pending_block>& queue = (*connection).*member_of(DownloadQueue{});
  if (std::erase_if(queue, [&](const lt::pending_block& pending) { return pending.block == block; }) == 0) return;
  int& outstanding = (*connection).*member_of(OutstandingBytes{});
  outstanding = std::max(0, outstanding - length);
}

bool move_request(const lt::peer_connection_handle& from, const lt::peer_connection_handle& to, int piece, int start,
                  int length) {
  const auto giver = from.native_handle(), taker = to.native_handle();
  if (!giver || !taker || is_on_parole(*giver) || is_on_parole(*taker)) return false;
  const lt::piece_block block(lt::piece_index_t(piece), start / kBlockBytes);
  const auto is_it = [&](const lt::pending_block& pending) { return pending.block == block; };
  std::vector<lt::pending_block>& given = (*giver).*member_of(DownloadQueue{});
  std::vector<lt::pending_block>& taken = (*taker).*member_of(DownloadQueue{});
  const auto pending = std::ranges::find_if(given, is_it);
  if (pending == given.end() || pending->not_wanted || pending->timed_out) return false;
  if (std::ranges::any_of(taken, is_it) || std::ranges::any_of((*taker).*member_of(RequestQueue{}), is_it))
    return false;
  pending->not_wanted = true;
  taken.emplace_back(block);
  (*taker).*member_of(OutstandingBytes{}) += length;
  // Its time to answer begins, as where libtorrent asks who has nothing outstanding: what stands in its queue may be a
  // request that was held back.
  const lt::time_point now = lt::clock_type::now();
  ((*taker).*member_of(RequestedAt{})).set(taker->connected_time(), now);
  ((*taker).*member_of(LastPieceAt{})).set(taker->connected_time(), now);
  return true;
}

/// As when the system closes them: what waits on them ends with operation_aborted, of which libtorrent takes no notice.
void close_udp(const lt::session_handle& session) {
  const auto impl = session.native_handle();
  if (!impl) return;
  for (const auto& listening : (*impl).*member_of(ListenSockets{})) {
    if (!listening->udp_sock) continue;
    lt::udp::socket& socket = listening->udp_sock->sock.*member_of(DatagramSocket{});
    lt::error_code ignored;
    if (socket.is_open()) socket.close(ignored);
  }
}

void tell_of_tls_connections(const lt::session_handle& session, const std::function<void()>* told) {
  const auto impl = session.native_handle();
  if (!impl) return;
  SSL_CTX* const context = ((*impl).*member_of(PeerTlsContext{})).native_handle();
  SSL_CTX_set_ex_data(context, told_index(), const_cast<std::function<void()>*>(told));
  SSL_CTX_set_info_callback(context, told == nullptr ? nullptr : on_tls_step);
}

std::uint16_t list_apart(const lt::peer_connection_handle& peer, std::uint16_t from) {
  const auto connection = peer.native_handle();
  const auto torrent = connection ? connection->associated_torrent().lock() : nullptr;
  const lt::peer_list* const list = torrent ? peer_list_of(*torrent) : nullptr;
  if (list == nullptr || connection->peer_info_struct() == nullptr) return 0;
  // Entries are erased by address and port: of two that are alike, the wrong one would go.
  std::bitset<kListingPorts> taken;
  const auto take = [&](std::uint16_t port) {
    if (port < kListingPorts) taken.set(port);
  };
  for (const lt::torrent_peer* entry : *list) take(entry->port);
  take(connection->remote().port());
  const std::uint16_t port = free_listing(taken, from);
  if (port == 0) return 0;
  // The list is sorted by address alone, and who is connected is no candidate for a dial.
  connection->peer_info_struct()->port = port;
  connection->peer_info_struct()->connectable = false;
  return port;
}

std::uint16_t listed_port(const lt::peer_connection_handle& peer) {
  const auto connection = peer.native_handle();
  return connection && connection->peer_info_struct() != nullptr ? connection->peer_info_struct()->port : 0;
}

void forbid_redial(const lt::peer_connection_handle& peer) {
  const auto connection = peer.native_handle();
  if (connection && connection->peer_info_struct() != nullptr) connection->peer_info_struct()->connectable = false;
}

}  // namespace gridtorrent::client::engine
