#pragma once

#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <libtorrent/fwd.hpp>
#include <libtorrent/io_context.hpp>
#include <optional>

namespace gridtorrent::client::engine {

/// Calls back in libtorrent's network thread soon after it was asked to, for what cannot wait for libtorrent's own
/// round of a second. All in that thread, but for the constructor.
class Ticker {
 public:
  explicit Ticker(std::function<void()> on_tick) : on_tick_(std::move(on_tick)) {}

  /// Once, before the network thread runs: `network` is its loop.
  void attach(lt::io_context& network) { timer_.emplace(network); }
  /// One call, 5 ms from the first time this was asked for since the last call.
  void wake();
  /// No calls from now on; before the loop ends, which the timer must not outlive.
  void stop();

 private:
  std::function<void()> on_tick_;
  std::optional<boost::asio::steady_timer> timer_;
  bool armed_ = false;
};

}  // namespace gridtorrent::client::engine
