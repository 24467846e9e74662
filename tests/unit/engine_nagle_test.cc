#include "client/engine/nagle.h"

#include <gtest/gtest.h>

#include <chrono>

namespace gridtorrent::client::engine {
namespace {

using namespace std::chrono_literals;

const MonoTime kStart = MonoTime{} + 1h;

TEST(Nagle, IsSwitchedOnByWhatMayWaitAndOffByARequest) {
  Nagle lane;
  EXPECT_FALSE(lane.hurries(kStart)) << "it begins switched off";
  EXPECT_TRUE(lane.tells(kStart + 1s));
  EXPECT_FALSE(lane.tells(kStart + 1s)) << "told once";
  EXPECT_TRUE(lane.hurries(kStart + 2s));
  EXPECT_FALSE(lane.hurries(kStart + 2s));
}

TEST(Nagle, IsSwitchedOnWhereNothingWasEverAskedFor) {
  Nagle lane;
  EXPECT_TRUE(lane.tells(kStart));
}

TEST(Nagle, LeavesARequestTimeToGetIntoTheSocket) {
  Nagle lane;
  lane.hurries(kStart);
  EXPECT_FALSE(lane.tells(kStart + 19ms));
  lane.hurries(kStart + 19ms);
  EXPECT_FALSE(lane.tells(kStart + 38ms));
  EXPECT_TRUE(lane.tells(kStart + 39ms));
}

TEST(Nagle, StaysOffWhereRequestsKeepComing) {
  Nagle lane;
  for (int i = 0; i < 1000; ++i) {
    const MonoTime now = kStart + i * 10ms;
    EXPECT_FALSE(lane.hurries(now));
    EXPECT_FALSE(lane.tells(now + 5ms));
  }
}

}  // namespace
}  // namespace gridtorrent::client::engine
