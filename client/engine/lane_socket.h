#pragma once

#include <cstddef>
#include <cstdint>
#include <libtorrent/peer_connection_handle.hpp>
#include <memory>
#include <optional>
#include <string>

#include "client/engine/lane_standing.h"
#include "client/engine/loss_events.h"
#include "client/plan/sample.h"

namespace gridtorrent::client::engine {

/// The TCP socket below a lane, as far as lanes are measured and set: so that what decides about them is tested without
/// libtorrent and the kernel. Network thread only. Once the connection has ended, nothing is known and nothing is done.
class LaneSocket {
 public:
  virtual ~LaneSocket() = default;

  /// Without loss events and pace, which the kernel does not know.
  virtual std::optional<TcpFigures> figures() const = 0;
  virtual std::optional<LossFacts> loss_facts() const = 0;
  virtual std::optional<TcpLiveness> liveness() const = 0;
  /// A connection that was begun and that nobody has answered yet.
  virtual bool connecting() const = 0;
  /// Written to it and never sent yet.
  virtual std::size_t unsent_bytes() const = 0;

  /// Whether small messages go out one by one.
  virtual void set_no_delay(bool on) = 0;
  /// Packets go out spread over the round trip, at most so many bytes a second; 0: no limit. Never called: in bursts.
  virtual void set_pacing(std::uint64_t bytes_per_s) = 0;
  virtual void set_receive_buffer(int bytes) = 0;
  /// Of what this end sends. False: the kernel does not offer it to us.
  virtual bool set_congestion_control(const std::string& name) = 0;
  /// Ends the connection in both directions; what was written is still sent.
  virtual void end() = 0;
  /// For who waits for sockets; -1: there is none.
  virtual int descriptor() const = 0;
};

/// The kernel's socket of a connection.
std::unique_ptr<LaneSocket> socket_below(const lt::peer_connection_handle& peer);

}  // namespace gridtorrent::client::engine
