#include "client/engine/network_loop.h"

#include <boost/asio/post.hpp>
#include <chrono>
#include <thread>
#include <utility>

namespace gridtorrent::client::engine {
namespace {

constexpr auto kPause = std::chrono::milliseconds(5);
/// Shorter than the changes that a tuner acts on (some round trips of a long path), and longer than a round trip.
constexpr auto kSampleEvery = std::chrono::milliseconds(250);
constexpr int kManyHandlers = 1000;

MonoTime now_mono() {
  return std::chrono::steady_clock::now();
}

}  // namespace

void NetworkLoop::attach(lt::io_context& network) {
  network_ = &network;
  timer_.emplace(network);
  sample_timer_.emplace(network);
}

void NetworkLoop::tick_soon() {
  if (armed_ || !timer_) return;
  armed_ = true;
  timer_->expires_after(kPause);
  timer_->async_wait([this](const boost::system::error_code& error) {
    if (error || !timer_) return;  // stopped
    armed_ = false;
    on_tick_();
  });
}

void NetworkLoop::sample() {
  if (samples_ || !sample_timer_ || !sampler_) return;
  samples_ = true;
  sample_timer_->expires_after(kSampleEvery);
  sample_timer_->async_wait([this](const boost::system::error_code& error) {
    if (error || !sample_timer_) return;  // stopped
    samples_ = false;
    if (sampler_()) sample();
  });
}

void NetworkLoop::data_goes(std::uint32_t round_trip_us) {
  if (!clock_.data_flows(now_mono(), round_trip_us) || resting_ || stopped_) return;
  resting_ = true;
  boost::asio::post(*network_, [this] { rest(); });
}

void NetworkLoop::data_comes(int fd, std::uint32_t round_trip_us) {
  data_goes(round_trip_us);
  if (resting_ && !stopped_) acks_.received(fd, now_mono());
}

/// All that is ready comes first, lane by lane, so that no lane's acknowledgements wait for the others', however often
/// handling it makes more ready (a TLS lane takes a turn for each record). Where there is always more, the processor is
/// what is short, and there is no rest; the lanes are heard by the loop itself until the next look, for this one may
/// not have come to them.
void NetworkLoop::rest() {
  int left = kManyHandlers;
  const auto handle = [&] {
    while (!stopped_ && left > 0 && network_->poll_one() > 0) --left;
  };
  acks_.look(now_mono(), handle);
  handle();
  if (stopped_) return;
  const auto rest = clock_.rest(now_mono());
  resting_ = rest.has_value();
  if (!rest || left == 0) acks_.end();
  if (!rest) return;
  if (left > 0) std::this_thread::sleep_for(*rest);
  boost::asio::post(*network_, [this] { this->rest(); });
}

int NetworkLoop::handle_ready() {
  int handled = 0;
  while (handled < kManyHandlers && network_->poll_one() > 0) ++handled;
  return handled;
}

void NetworkLoop::stop() {
  stopped_ = true;
  acks_.end();
  timer_.reset();
  sample_timer_.reset();
  on_tick_ = {};
  sampler_ = {};
}

}  // namespace gridtorrent::client::engine
