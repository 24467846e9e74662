#pragma once

#include <atomic>
#include <cstdint>
#include <libtorrent/peer_connection_handle.hpp>
#include <libtorrent/socket.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/core/engine.h"
#include "client/engine/lane_rules.h"
#include "client/engine/lane_socket.h"
#include "client/engine/lane_standing.h"
#include "client/engine/loss_events.h"
#include "client/engine/nagle.h"
#include "client/engine/wire.h"

namespace gridtorrent::client::engine {

/// What a lane carried up to a moment, looked at more often than the rounds of a second.
struct LaneMeter {
  MonoTime at{};
  std::uint64_t received_bytes = 0, sent_bytes = 0;  ///< payload, over the lane's life
  std::uint64_t receive_bits_per_s = 0;              ///< since the look before
  /// At a look. Payload moved since the one before: true.
  bool look(MonoTime now, std::uint64_t received, std::uint64_t sent);
};

/// One connection of a torrent. Guarded by its Swarm's mutex; in the network thread, which alone changes them,
/// `peer`, `node`, `liveness`, `socket`, `nagle`, `losses`, the peer's numbers for our messages, `delivered`, and the
/// rates and the pace of what is sent are used without it.
struct Lane {
  Lane(lt::peer_connection_handle handle, std::unique_ptr<LaneSocket> socket_below)
      : peer(std::move(handle)), socket(std::move(socket_below)) {}
  lt::peer_connection_handle peer;
  const std::unique_ptr<LaneSocket> socket;
  Nagle nagle;
  LossEvents losses;  ///< of what we send
  MonoTime looked{};  ///< for these
  MonoTime tcp_read{};
  std::chrono::microseconds empty{0};  ///< for so long nothing waited to be sent, as far as looks tell
  bool outgoing = false;
  lt::tcp::endpoint remote;
  std::uint16_t listed_port = 0;  ///< under which libtorrent lists it (`list_apart`); 0: under that of `remote`
  std::string local;
  LaneState state = LaneState::kConnecting;
  NodeId node;                    ///< nil: not known, or foreign
  std::optional<TlsProof> proof;  ///< of a TLS edition, once it was admitted
  bool proven = false;            ///< `node` is whose key the other end has: by its certificate, or by gt_proof
  Nonce nonce{};                  ///< ours, of plain editions
  std::optional<Nonce> their_nonce;
  bool proof_sent = false;
  std::optional<LaneProof> their_proof;  ///< not checked yet
  bool greeted = false;                  ///< its extended handshake had our key
  bool foreign = false;                  ///< speaks BitTorrent, but not our extension
  bool established = false;
  bool delivered = false;  ///< a block that we asked for came over it; network thread
  MonoTime since{};        ///< of the present state
  MonoTime opened{};
  int number = 0;
  /// The peer's numbers for our messages; 0: none.
  int lanes_id = 0, grant_id = 0, stats_id = 0, proof_id = 0, congestion_id = 0;
  std::optional<int> peer_wants;  ///< its last gt_lanes over this lane
  int peer_grant = kUsualLanes;
  bool patient = false;     ///< a dial that may take long: kPatientConnect
  bool unanswered = false;  ///< being connected, and TCP at the other end has not answered yet, as last measured
  TcpLiveness liveness;     ///< as last measured
  MonoTime carried{};       ///< when payload last went over it
  std::uint64_t usual_bits_per_s = 0;  ///< payload, both ways, smoothed over some seconds
  std::uint64_t received_bytes = 0, sent_bytes = 0;
  std::uint64_t receive_bits_per_s = 0, send_bits_per_s = 0;
  LaneMeter meter;
  int outstanding_blocks = 0;
  std::optional<MonoTime> awaits_first;  ///< it was asked for blocks then, and has brought nothing yet
  bool has_to_send = false;              ///< asked for or written, and not out yet
  int unread_bytes = 0;                  ///< written, and not taken by the kernel yet: the other end does not read
  /// Too many by the plan: it is asked for nothing more, and closed once what it was asked for has come. Written under
  /// the mutex, read for each block.
  std::atomic<bool> drains = false;
  MonoTime drains_since{};
  /// Its node, which only serves, is none of those that the plan fetches from: it is asked for nothing meanwhile.
  /// Written under the mutex, read for each block.
  std::atomic<bool> rests = false;
  bool taken_back = false;              ///< it was to end, or rested, and is wanted again, and has not been told yet
  int receive_buffer = 0;               ///< bytes, as told to the kernel; 0: sized by the kernel
  std::uint64_t paced_bytes_per_s = 0;  ///< as last told to the kernel; 0: no limit
  std::optional<TcpFigures> own, theirs;
  std::atomic<std::uint32_t> round_trip_us = 0;  ///< as our end sees it; read for each block
  std::atomic<std::uint32_t> least_round_trip_us = 0;
  std::atomic<int> planned_blocks = 0;                  ///< outstanding, by the plan; 0: ours to size
  std::vector<std::string> peer_congestion_controls{};  ///< that its hello grants us
  std::string asked_congestion_control;                 ///< our last gt_congestion
  std::string congestion_wish;                          ///< its last gt_congestion
  std::string congestion_control;                       ///< as last asked of the kernel for it; empty: as it was
  std::string usual_congestion_control;                 ///< as it was: the kernel's default
  std::string client;
  std::optional<MonoTime> complete{};  ///< since when it has shown that the other end has all

  /// Looks at TCP on our end: `own` and the round trips, which stay as they were where nothing can be read, and whether
  /// the other end answers. `node_load`: what the other end is told of this node. Network thread.
  void read_tcp(const EngineLoad& node_load, MonoTime now);
  /// Its buffer is sized for as many lanes as there are to be. Network thread.
  void size_receive_buffer(int lanes);
  /// Where there are fewer than when it was sized, it may have more. Never less: what the kernel promised stays
  /// promised (RFC 9293, 3.8.6). Network thread.
  void grow_receive_buffer(int lanes);
  /// Sends with what the other end asked for, where that is among `granted`, else as the kernel began. True: it is so
  /// from now on, and `own` says it. Network thread.
  bool grant_congestion_control(const std::vector<std::string>& granted);
  /// Cheap, so that it can be called for each block that is sent. Network thread.
  void look_for_losses(MonoTime now);
  /// Somebody dialled it who has proved nothing and sent nothing yet. Network thread.
  bool is_untried() const { return !outgoing && !proven && !delivered; }
  /// libtorrent may ask it for blocks.
  bool is_asked() const { return !drains && !rests; }
  /// The other end acknowledges nothing.
  bool silent() const { return is_silent(liveness); }
  /// Payload went over it in the last seconds.
  bool carries(MonoTime now) const;
  LaneStanding standing(MonoTime now) const;
  /// What is about to be sent, or was just queued, is not to wait for what was sent before. Network thread.
  void hurry(MonoTime now);
  /// A HAVE was sent, which may travel with others. Network thread.
  void told_of_piece(MonoTime now);
};

/// "192.0.2.1:50000", "[2001:db8::1]:50000".
std::string show(const lt::tcp::endpoint& endpoint);

}  // namespace gridtorrent::client::engine
