#include <gtest/gtest.h>

#include "tracker/app/memory.h"

namespace gridtorrent::tracker::app {
namespace {

TEST(MemoryKeeper, DoesNothingForFewStreams) {
  MemoryKeeper keeper;
  for (int round = 0; round < 100; ++round) EXPECT_FALSE(keeper.due(MemoryKeeper::kWorthwhile - 1));
}

TEST(MemoryKeeper, WaitsUntilNoMoreEndAndGivesBackOnce) {
  MemoryKeeper keeper;
  EXPECT_FALSE(keeper.due(0));
  EXPECT_FALSE(keeper.due(5000));
  EXPECT_FALSE(keeper.due(10'000)) << "they are still ending";
  EXPECT_TRUE(keeper.due(10'010));
  EXPECT_FALSE(keeper.due(10'010));
  EXPECT_FALSE(keeper.due(10'010 + MemoryKeeper::kWorthwhile - 1));
}

TEST(MemoryKeeper, GivesBackNowAndThenWhereStreamsGoOnEnding) {
  MemoryKeeper keeper;
  int given = 0;
  for (std::uint64_t round = 1; round <= 48; ++round) given += keeper.due(round * round * 1000) ? 1 : 0;
  EXPECT_GE(given, 3);
  EXPECT_LE(given, 8);
}

TEST(MemoryKeeper, StormsAreCountedEvenWhereAsManyCameBack) {
  MemoryKeeper keeper;
  EXPECT_FALSE(keeper.due(1000));
  EXPECT_TRUE(keeper.due(1000));
  EXPECT_FALSE(keeper.due(2000));
  EXPECT_TRUE(keeper.due(2000));
}

}  // namespace
}  // namespace gridtorrent::tracker::app
