#include "client/engine/ticker.h"

#include <chrono>
#include <utility>

namespace gridtorrent::client::engine {
namespace {

constexpr auto kPause = std::chrono::milliseconds(5);

}  // namespace

void Ticker::wake() {
  if (armed_ || !timer_) return;
  armed_ = true;
  timer_->expires_after(kPause);
  timer_->async_wait([this](const boost::system::error_code& error) {
    if (error || !timer_) return;  // stopped
    armed_ = false;
    on_tick_();
  });
}

void Ticker::stop() {
  timer_.reset();
  on_tick_ = {};
}

}  // namespace gridtorrent::client::engine
