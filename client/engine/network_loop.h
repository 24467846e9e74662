#pragma once

#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <libtorrent/fwd.hpp>
#include <libtorrent/io_context.hpp>
#include <optional>
#include <utility>

#include "client/engine/round_clock.h"
#include "client/engine/unread_acks.h"

namespace gridtorrent::client::engine {

/// What we have libtorrent's network thread do beside its own: a call back soon, for what cannot wait for libtorrent's
/// round of a second; samples of what lanes carry; and rests between two looks at its sockets while data flows from
/// afar (RoundClock). All in that thread, but for the constructor.
class NetworkLoop {
 public:
  explicit NetworkLoop(std::function<void()> on_tick) : on_tick_(std::move(on_tick)) {}

  /// Once, before the network thread runs: `network` is its loop.
  void attach(lt::io_context& network);
  /// One call, 5 ms from the first time this was asked for since the last call.
  void tick_soon();
  /// What to call every 250 ms while lanes carry something; returns whether they do. Before `attach`.
  void set_sampler(std::function<bool()> sampler) { sampler_ = std::move(sampler); }
  /// Lanes may carry something: the calls begin, unless they are under way.
  void sample();
  /// A block was asked of us over a lane of that least round trip (0: not known).
  void data_goes(std::uint32_t round_trip_us);
  /// A block came over this socket, which we are told of when it closes.
  void data_comes(int fd, std::uint32_t round_trip_us);
  void socket_closes(int fd) { acks_.closes(fd); }
  /// No calls and no rests from now on; before the loop ends, which the timer must not outlive.
  void stop();
  /// Handles what is ready on the sockets, from within a handler; no more than a thousand things, where there is always
  /// more. Returns how many.
  int handle_ready();

 private:
  void rest();

  std::function<void()> on_tick_;
  std::function<bool()> sampler_;
  lt::io_context* network_ = nullptr;
  std::optional<boost::asio::steady_timer> timer_, sample_timer_;
  bool armed_ = false, samples_ = false;
  RoundClock clock_;
  UnreadAcks acks_;
  bool resting_ = false;  ///< `rest` is queued
  bool stopped_ = false;
};

}  // namespace gridtorrent::client::engine
