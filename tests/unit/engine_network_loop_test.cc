#include "client/engine/network_loop.h"

#include <gtest/gtest.h>

#include <array>
#include <boost/asio/post.hpp>
#include <functional>

#include "tests/support/loopback_connection.h"

namespace gridtorrent::client::engine {
namespace {

constexpr std::uint32_t kFarUs = 50'000, kNearUs = 1'000;

class Loop : public testing::Test {
 protected:
  Loop() { loop_.attach(network_); }
  /// Blocks that follow each other closely.
  void data_comes(const LoopbackConnection& lane, std::uint32_t round_trip_us) {
    for (int i = 0; i < 10; ++i) loop_.data_comes(lane.receiver(), round_trip_us);  // not all of them 10 ms apart
  }
  lt::io_context network_;
  int ticks_ = 0;
  NetworkLoop loop_{[this] { ++ticks_; }};
  const LoopbackConnection lane_;
};

TEST_F(Loop, DoesNotHearALaneBetweenLooksWhileItBringsBlocksFromAfar) {
  data_comes(lane_, kFarUs);
  EXPECT_GT(lane_.low_water_mark(), 1);
}

TEST_F(Loop, HearsAllAgainOnceNoBlocksCome) {
  data_comes(lane_, kFarUs);
  network_.run();  // until the last rest
  EXPECT_EQ(lane_.low_water_mark(), 1);
}

TEST_F(Loop, HearsAllAgainAsSoonAsBlocksComeFromNear) {
  const LoopbackConnection near;
  data_comes(lane_, kFarUs);
  data_comes(near, kNearUs);
  EXPECT_EQ(network_.run(), 1U) << "one look";
  EXPECT_EQ(lane_.low_water_mark(), 1);
  EXPECT_EQ(near.low_water_mark(), 1);
  data_comes(near, kNearUs);
  EXPECT_EQ(near.low_water_mark(), 1);
}

TEST_F(Loop, SamplesAsLongAsLanesCarrySomethingAndBeginsAnew) {
  int samples = 0;
  loop_.set_sampler([&] { return ++samples % 2 != 0; });
  loop_.sample();
  loop_.sample();
  network_.run();
  EXPECT_EQ(samples, 2) << "the second one found nothing";
  network_.restart();
  loop_.sample();
  network_.run();
  EXPECT_EQ(samples, 4);
}

TEST_F(Loop, SamplesNothingOnceItHasStopped) {
  loop_.set_sampler([] { return true; });
  loop_.sample();
  loop_.stop();
  EXPECT_EQ(network_.run(), 1U) << "the timer that was cancelled";
  loop_.sample();
  network_.restart();
  EXPECT_EQ(network_.run(), 0U);
}

TEST_F(Loop, LeavesASocketAloneThatClosed) {
  data_comes(lane_, kFarUs);
  loop_.socket_closes(lane_.receiver());
  set_option(lane_.receiver(), SOL_SOCKET, SO_RCVLOWAT, 7);
  network_.run();
  EXPECT_EQ(lane_.low_water_mark(), 7);
}

TEST_F(Loop, EndsInTheMidstOfALookAndTouchesNothingAfterIt) {
  const LoopbackConnection other;
  data_comes(lane_, kFarUs);
  data_comes(other, kFarUs);
  boost::asio::post(network_, [this] { loop_.stop(); });
  network_.run();
  EXPECT_EQ(lane_.low_water_mark(), 1);
  EXPECT_EQ(other.low_water_mark(), 1);
  data_comes(lane_, kFarUs);
  EXPECT_EQ(lane_.low_water_mark(), 1);
}

TEST_F(Loop, HearsEachLaneAlthoughThereIsAlwaysMoreToDo) {
  const std::array<LoopbackConnection, 2> others;
  const std::array lanes = {&lane_, &others[0], &others[1]};
  for (const LoopbackConnection* lane : lanes) data_comes(*lane, kFarUs);
  int left = 20'000;
  std::array<int, 3> heard{};
  // As the handlers of a busy engine: each posts the next. A lane is read where it is heard, and brings blocks.
  std::function<void()> work = [&] {
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      if (lanes[i]->low_water_mark() > 1) continue;
      ++heard[i];
      data_comes(*lanes[i], kFarUs);
    }
    if (--left > 0) boost::asio::post(network_, work);
  };
  boost::asio::post(network_, work);
  network_.run();
  for (const int times : heard) EXPECT_GE(times, 10);
}

}  // namespace
}  // namespace gridtorrent::client::engine
