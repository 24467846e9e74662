#pragma once

#include <atomic>
#include <cstdint>
#include <libtorrent/peer_connection_handle.hpp>
#include <libtorrent/socket.hpp>
#include <optional>
#include <string>
#include <utility>

#include "client/core/engine.h"
#include "client/engine/lane_rules.h"
#include "client/engine/nagle.h"
#include "client/engine/wire.h"

namespace gridtorrent::client::engine {

/// One connection of a torrent. Guarded by its Swarm's mutex, but for `peer` and `nagle`, which are used in the network
/// thread alone.
struct Lane {
  explicit Lane(lt::peer_connection_handle handle) : peer(std::move(handle)) {}
  lt::peer_connection_handle peer;
  Nagle nagle;
  bool outgoing = false;
  lt::tcp::endpoint remote;
  std::string local;
  LaneState state = LaneState::kConnecting;
  NodeId node;                    ///< nil: not known, or foreign
  std::optional<TlsProof> proof;  ///< of a TLS edition, once it was admitted
  bool greeted = false;           ///< its extended handshake had our key
  bool foreign = false;           ///< speaks BitTorrent, but not our extension
  bool established = false;
  MonoTime since{};  ///< of the present state
  int number = 0;
  int lanes_id = 0, grant_id = 0, stats_id = 0;  ///< the peer's numbers for our messages; 0: it takes none
  std::uint64_t received_bytes = 0, sent_bytes = 0;
  std::uint64_t receive_bits_per_s = 0, send_bits_per_s = 0;
  int outstanding_blocks = 0;
  bool has_to_send = false;             ///< asked for or written, and not out yet
  std::uint64_t paced_bytes_per_s = 0;  ///< as last told to the kernel; 0: as it likes
  std::optional<TcpFigures> own, theirs;
  std::atomic<std::uint32_t> round_trip_us = 0;  ///< as our end sees it; read for each block
  std::atomic<std::uint32_t> least_round_trip_us = 0;
  std::atomic<int> planned_blocks = 0;  ///< outstanding, by the plan; 0: ours to size
  std::string congestion_control;       ///< as last asked of the kernel
  std::string client;
  bool complete = false;

  /// Looks at TCP on our end: `own` and the round trips, which stay as they were where nothing can be read. Network
  /// thread.
  void read_tcp();
  /// What is about to be sent, or was just queued, is not to wait for what was sent before. Network thread.
  void hurry(MonoTime now);
  /// A HAVE was sent, which may travel with others. Network thread.
  void told_of_piece(MonoTime now);
};

/// "192.0.2.1:50000", "[2001:db8::1]:50000".
std::string show(const lt::tcp::endpoint& endpoint);

}  // namespace gridtorrent::client::engine
