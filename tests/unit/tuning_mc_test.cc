// MC: its laws on the paper's and its client's borders, and what it does with channels.
#include <gtest/gtest.h>

#include <cmath>

#include "client/tuning/file_rules.h"
#include "client/tuning/mc.h"
#include "tests/support/search_run.h"

namespace gridtorrent::client::tuning {
namespace {

using gridtorrent::testing::each_lane;
using gridtorrent::testing::says;
using gridtorrent::testing::SearchRun;

constexpr double kMB = 1e6, kGbit = 1e9, kMbit = 1e6;

TEST(SizeClasses, AreBorderedByTheTimeOnTheLink) {
  EXPECT_EQ(size_class(62.5 * kMB, 10 * kGbit), SizeClass::kSmall);
  EXPECT_EQ(size_class(63 * kMB, 10 * kGbit), SizeClass::kMiddle);
  EXPECT_EQ(size_class(250 * kMB, 10 * kGbit), SizeClass::kMiddle);
  EXPECT_EQ(size_class(251 * kMB, 10 * kGbit), SizeClass::kLarge);
  EXPECT_EQ(size_class(2500 * kMB, 10 * kGbit), SizeClass::kLarge);
  EXPECT_EQ(size_class(2501 * kMB, 10 * kGbit), SizeClass::kHuge);
}
TEST(SizeClasses, JoinTheNearestWhereTheyHaveLittle) {
  // BDP 10 MB: ten files of 1 MB are less than five of these. With them the one of 100 MB is no longer alone.
  std::vector<std::uint64_t> sizes(10, 1'000'000);
  sizes.push_back(100'000'000);
  sizes.insert(sizes.end(), 3, 400'000'000);
  const auto chunks = divide_by_class(sizes, kGbit, 10 * kMB);
  ASSERT_EQ(chunks.size(), 2U);
  EXPECT_EQ(chunks[0], (MixChunk{SizeClass::kLarge, 11, 110 * kMB}));
  EXPECT_EQ(chunks[1], (MixChunk{SizeClass::kHuge, 3, 1200 * kMB}));
}
TEST(SizeClasses, StayApartWhereEachHasEnough) {
  std::vector<std::uint64_t> sizes(100, 1'000'000);
  sizes.insert(sizes.end(), 3, 400'000'000);
  EXPECT_EQ(divide_by_class(sizes, kGbit, 10 * kMB).size(), 2U);
}

TEST(Channels, AreDealtToHugeSmallLargeMiddleInTurn) {
  const std::vector<MixChunk> chunks{
      {SizeClass::kSmall, 9, 9}, {SizeClass::kMiddle, 9, 9}, {SizeClass::kLarge, 9, 9}, {SizeClass::kHuge, 9, 9}};
  EXPECT_EQ(deal_channels(chunks, {9, 9, 9, 9}, 5), (std::vector{1, 1, 1, 2})) << "Huge has two of five";
}
TEST(Channels, AreNoMoreThanThereArePlaces) {
  const std::vector<MixChunk> chunks{{SizeClass::kSmall, 9, 9}, {SizeClass::kHuge, 2, 9}};
  EXPECT_EQ(deal_channels(chunks, {9, 2}, 8), (std::vector{6, 2}));
  EXPECT_EQ(deal_channels(chunks, {3, 2}, 32), (std::vector{3, 2}));
}

TEST(TimeLeft, WeighsTheLastThreeSecondsByTwoFifths) {
  ChunkEta eta;
  EXPECT_TRUE(std::isinf(eta.seconds(100, 1)));
  eta.look(80);
  EXPECT_DOUBLE_EQ(eta.seconds(100, 1), 10);
  eta.look(180);
  EXPECT_DOUBLE_EQ(eta.seconds(150, 1), 10) << "0.6 · 80 + 0.4 · 180 = 120";
  EXPECT_TRUE(std::isinf(eta.seconds(100, 0))) << "no channel works on it";
}
TEST(TimeLeft, DecidesWhereFreeChannelsGo) {
  EXPECT_EQ(slowest_chunk({0, 5, 5}, {99, 3, 7}), 2U);
  EXPECT_EQ(slowest_chunk({0, 0}, {1, 2}), std::nullopt);
}

TEST(FileRules, AreFStreamsExamplesToo) {
  // BDP 40 MB, buffers of 32 MB, 10 channels at most.
  EXPECT_EQ(queued_files(40 * kMB, 5 * kMB), 8);
  EXPECT_EQ(parallel_lanes(40 * kMB, 5 * kMB, 32 * kMB), 1);
  EXPECT_EQ(concurrent_channels(40 * kMB, 5 * kMB, 1000, 10), 8);
  EXPECT_EQ(queued_files(40 * kMB, 1000 * kMB), 1);
  EXPECT_EQ(parallel_lanes(40 * kMB, 1000 * kMB, 32 * kMB), 2);
  EXPECT_EQ(concurrent_channels(40 * kMB, 1000 * kMB, 1000, 10), 2);
}
TEST(FileRules, KeepToTheirBounds) {
  EXPECT_EQ(queued_files(40 * kMB, 1), 100);
  EXPECT_EQ(queued_files(40 * kMB, 0), 100);
  EXPECT_EQ(parallel_lanes(4000 * kMB, 4000 * kMB, 1 * kMB), 32);
  EXPECT_EQ(parallel_lanes(0, 0, 0), 1);
  EXPECT_EQ(concurrent_channels(40 * kMB, 5 * kMB, 3, 10), 3);
  EXPECT_EQ(concurrent_channels(40 * kMB, 1, 1000, 10), 10);
}
TEST(FileRules, TakeBytesOffInPartsAsLanesAre) {
  std::vector<double> left{100, 100, 0};
  take_off(left, {3, 1, 5}, 40);
  EXPECT_EQ(left, (std::vector<double>{70, 90, 0}));
  take_off(left, {3, 1, 5}, 1000);
  EXPECT_EQ(left, (std::vector<double>{0, 0, 0}));
  take_off(left, {3, 1, 5}, 1000);
  EXPECT_EQ(left, (std::vector<double>{0, 0, 0}));
}

TEST(McSearch, DealsAllChannelsAtOnce) {
  McSearch search;
  SearchRun run(search, each_lane(10 * kMbit, 200 * kMbit));
  EXPECT_EQ(run.plan.channels.size(), 32U) << "pieces of one file have places for all of them";
  EXPECT_EQ(run.plan.why, "BDP 6.2 MB; huge (1 file, 1.2 GB): 32 channels, parallelism 1, pipelining 1");
  const auto plan = run.plan.channels;
  run.seconds(40);
  EXPECT_EQ(run.plan.channels, plan) << "they never change";
  EXPECT_EQ(run.reasons.size(), 1U);
}
TEST(McSearch, LearnsTheRoundTripFromTheFirstHandshake) {
  McSearch search;
  SearchRun run(search, each_lane(0, 0));
  McSearch later;
  SearchInput input = run.input;
  input.round_trip_s = 0;
  EXPECT_TRUE(later.step(input).why.starts_with("BDP 6.2 MB"));
  input.round_trip_s = 0.1;
  EXPECT_TRUE(later.step(input).why.starts_with("BDP 12.5 MB"));
  input.round_trip_s = 0.2;
  EXPECT_TRUE(later.step(input).why.starts_with("BDP 12.5 MB")) << "set once";
}
TEST(McSearch, MovesTheChannelsOfAChunkThatIsDone) {
  McSearch search;
  std::vector<std::uint64_t> sizes(400, 1'000'000);
  sizes.insert(sizes.end(), 4, 1'000'000'000);
  SearchRun run(search, each_lane(10 * kMbit, 320 * kMbit), std::move(sizes));
  EXPECT_TRUE(says(run.plan.why, "small (400 files, 400 MB): 16 channels")) << run.plan.why;
  run.seconds(30);
  EXPECT_TRUE(says(run.plan.why, "small (400 files, 400 MB): 0 channels, parallelism 1, pipelining 6, done"))
      << run.plan.why;
  EXPECT_TRUE(says(run.plan.why, "huge (4 files, 4.0 GB): 32 channels")) << run.plan.why;
  EXPECT_EQ(run.plan.channels.size(), 32U);
}

}  // namespace
}  // namespace gridtorrent::client::tuning
