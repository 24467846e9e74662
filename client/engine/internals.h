#pragma once

#include <cstdint>
#include <functional>
#include <libtorrent/peer_connection_handle.hpp>
#include <libtorrent/session_handle.hpp>
#include <optional>

#include "client/engine/lane_rules.h"

namespace gridtorrent::client::engine {

/// The only door to libtorrent's internal headers, which move between releases (2.1 puts them under aux_): internals.cc
/// alone includes them. Network thread only.

/// The kernel's socket of a connection, plain or TLS; -1 if it is none of TCP's.
int socket_of(const lt::peer_connection_handle& peer);

/// What the other end of a TLS connection proved; nothing where it is plain, or no certificate was shown.
std::optional<TlsProof> tls_proof_of(const lt::peer_connection_handle& peer);

struct PayloadCounters {
  std::int64_t received = 0, sent = 0;  ///< bytes of payload over the connection's life
};
PayloadCounters payload_of(const lt::peer_connection_handle& peer);

/// How many blocks libtorrent has outstanding on this connection, until the next one arrives: it reckons anew with
/// each, and tells the plugin right after. Within what the peer's `reqq` allows.
void set_request_depth(const lt::peer_connection_handle& peer, int blocks);

/// The same while a block arrives, which is not counted. Requests wait until at least `at_once` blocks can be asked
/// for.
void set_request_depth_at_arrival(const lt::peer_connection_handle& peer, int blocks, int at_once);

/// Whether libtorrent may choose further blocks for this connection. What was asked for still comes.
void set_asks(const lt::peer_connection_handle& peer, bool asks);

/// Takes a request off libtorrent's books that it believes to be outstanding on this connection and that never went
/// out. Left there, the entry would keep the lane from ever asking for a busy block again, and stall it once it is
/// snubbed.
void forget_request(const lt::peer_connection_handle& peer, int piece, int start, int length);

/// Takes a request over from another connection: libtorrent believes the block to be outstanding on `to` from now on,
/// and on `from` to come unwanted or be refused, as after its own cancel. It picks one busy block at a time for a
/// connection, and only for one that has nothing else to bring. Its picker keeps one request counted, which is now
/// `to`'s: it is free again where that refuses it or closes. What is to be written on both is the caller's to send.
/// False, and nothing is changed: `from` is not asked for it, `to` is already, or may not be.
bool move_request(const lt::peer_connection_handle& from, const lt::peer_connection_handle& to, int piece, int start,
                  int length);

/// Closes the UDP sockets that libtorrent opens beside each listening socket. Nothing here is sent or heard over them
/// (no DHT, no uTP, no UDP trackers), and they are as many as the lane ports. Sockets that are opened later (an address
/// that came back) have to be closed anew.
void close_udp(const lt::session_handle& session);

/// Calls `told` for each connection to a TLS lane port as soon as it is accepted, which libtorrent tells nobody; null:
/// no more. `told` outlives that.
void tell_of_tls_connections(const lt::session_handle& session, const std::function<void()>* told);

/// libtorrent's peer list has each endpoint once, so that an endpoint which is dialled again is not connected again.
/// From now on it lists this connection under a port below 1024 that no entry of the torrent has, and never redials it.
/// The search begins at `from`, which others should not be able to guess: who connects from that very port can end the
/// connection. Returns the port; 0: none is free, or the connection is no longer listed, and nothing was changed.
std::uint16_t list_apart(const lt::peer_connection_handle& peer, std::uint16_t from);
/// Under which port libtorrent lists the connection: that of its other end, that of `list_apart`, or what its other end
/// says in an extended handshake (BEP 10, `p`). 0: it is no longer listed.
std::uint16_t listed_port(const lt::peer_connection_handle& peer);

/// libtorrent redials what it still believes to be reachable; dialling is ours alone (swarm.h).
void forbid_redial(const lt::peer_connection_handle& peer);

}  // namespace gridtorrent::client::engine
