#include <gtest/gtest.h>

#include "client/engine/rate_window.h"

namespace gridtorrent::client::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct RateWindowTest : testing::Test {
  void last(milliseconds time, double bytes_per_s) {
    for (const MonoTime end = now + time; now < end; now += milliseconds(1)) {
      window.add(now, static_cast<std::uint64_t>(bytes_per_s / 1000));
    }
  }

  RateWindow window;
  MonoTime now{seconds(100)};
};

TEST_F(RateWindowTest, KnowsNothingBeforeItHasSeenSome) {
  last(milliseconds(100), 1e6);
  EXPECT_EQ(window.bytes_per_s(), 0);
  last(milliseconds(100), 1e6);
  EXPECT_NEAR(window.bytes_per_s(), 1e6, 2e4) << "and then does not reckon the time before the start";
}

TEST_F(RateWindowTest, IsThatOfTheLastSecond) {
  last(seconds(5), 1e6);
  last(milliseconds(1130), 3e6);
  EXPECT_NEAR(window.bytes_per_s(), 3e6, 3e4);
}

TEST_F(RateWindowTest, FallsByATenthWithAPauseOfATenth) {
  last(seconds(5), 1e6);
  now += milliseconds(100);
  last(milliseconds(130), 1e6);
  EXPECT_NEAR(window.bytes_per_s(), 0.9e6, 4e4);
}

TEST_F(RateWindowTest, BeginsAnewAfterASilence) {
  last(seconds(5), 1e6);
  now += seconds(10);
  window.add(now, 1000);
  EXPECT_EQ(window.bytes_per_s(), 0);
  last(milliseconds(300), 2e6);
  EXPECT_NEAR(window.bytes_per_s(), 2e6, 4e4);
}

}  // namespace
}  // namespace gridtorrent::client::engine
