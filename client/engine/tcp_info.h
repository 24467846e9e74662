#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "client/engine/lane_standing.h"
#include "client/engine/loss_events.h"
#include "client/engine/wire.h"

namespace gridtorrent::client::engine {

/// What the kernel knows about a TCP socket (Linux, TCP_INFO and TCP_CONGESTION), so no loss events and no pace;
/// nothing if it is no TCP socket.
std::optional<TcpFigures> read_tcp_figures(int fd);

/// What of these LossEvents looks at, more often; nothing if it is no TCP socket.
std::optional<LossFacts> read_loss_facts(int fd);

/// Whether the other end still acknowledges; nothing if it is no TCP socket.
std::optional<TcpLiveness> read_tcp_liveness(int fd);

/// A connection that was begun and that nobody has answered yet.
bool is_connecting(int fd);

/// Whether small messages go out one by one (TCP_NODELAY; libtorrent never sets it). Switched on, it sends what waited.
void set_no_delay(int fd, bool on);

/// Written to it and never sent yet.
std::size_t unsent_bytes(int fd);

/// TCP spreads what it sends on it over the round trip, as its window and its RTT say, and sends at most so many bytes
/// a second (SO_MAX_PACING_RATE; Linux 4.13 and later, whatever the queueing discipline); 0: no limit.
void set_pacing(int fd, std::uint64_t bytes_per_s);

/// A reader is not told of less than this (SO_RCVLOWAT; 1 at first), and the kernel acknowledges up to it unread.
void set_low_water_mark(int fd, int bytes);

/// Ends the connection in both directions, whoever holds the socket. What was written is still sent, unless the other
/// end sends, too.
void end_connection(int fd);

/// What the kernel allows to everybody (sysctl net.ipv4.tcp_allowed_congestion_control), read at each call: names with
/// spaces between; empty: it cannot be read.
std::string allowed_congestion_controls();

/// False if the kernel does not offer it to us.
bool set_congestion_control(int fd, const std::string& algorithm);

/// The kernel's limits for receive buffers (sysctl net.ipv4.tcp_rmem's last number, net.core.rmem_max), bytes; read
/// once.
struct ReceiveLimits {
  std::uint64_t autotuned_max = 0, settable_max = 0;
};
ReceiveLimits receive_limits();

/// libtorrent takes all that a socket holds in one read, so what the kernel may queue is memory of ours, too. How large
/// a buffer (SO_RCVBUF, bytes) each of `lanes` lanes may have for 64 MiB in all, and 4 MiB each where there are more
/// than 16; nothing: the kernel's own sizing is within that, or the largest that we may set would be too small for long
/// paths.
std::optional<int> receive_buffer_for(int lanes, const ReceiveLimits& limits);
/// The same for a lane whose buffer was set by hand and so is no longer sized by the kernel: never more than the kernel
/// would have given it, nor than we may set.
int largest_receive_buffer_for(int lanes, const ReceiveLimits& limits);
void set_receive_buffer(int fd, int bytes);
/// What the receive buffer of each of `lanes` lanes may grow to by that rule, bytes; 0: not known.
std::uint64_t receive_bytes_of_lane(int lanes, const ReceiveLimits& limits);
/// Memory of all TCP sockets above which the kernel makes them smaller (sysctl net.ipv4.tcp_mem's second number, given
/// in pages), bytes; 0: not known, as inside a network namespace.
std::uint64_t tcp_memory_pressure();

}  // namespace gridtorrent::client::engine
