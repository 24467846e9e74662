// FStream: its laws on its own examples, and its search over a path.
#include <gtest/gtest.h>

#include "client/tuning/fstream.h"
#include "tests/support/search_run.h"

namespace gridtorrent::client::tuning {
namespace {

using gridtorrent::testing::each_lane;
using gridtorrent::testing::numbered_node;
using gridtorrent::testing::SearchRun;

constexpr double kMB = 1e6, kMbit = 1e6, kGbit = 1e9;

TEST(SmallFiles, TakeLessThanTwoFifthsOfASecond) {
  EXPECT_TRUE(is_small(499 * kMB, 10 * kGbit));
  EXPECT_FALSE(is_small(500 * kMB, 10 * kGbit));
  EXPECT_FALSE(is_small(1, 0));
}

TEST(Profiling, ChangesNothingNearWhatIsWanted) {
  // 80 % of 10 Gbit/s are wanted: 6.8 to 9.2 Gbit/s are near enough.
  EXPECT_EQ(profiled_channels(6.9 * kGbit, 10 * kGbit, 4, 10), std::nullopt);
  EXPECT_EQ(profiled_channels(9.1 * kGbit, 10 * kGbit, 4, 10), std::nullopt);
  EXPECT_EQ(profiled_channels(0, 10 * kGbit, 4, 10), std::nullopt) << "nothing came";
}
TEST(Profiling, AsksForWhatEachChannelBringsButAtMostDoubles) {
  EXPECT_EQ(profiled_channels(6 * kGbit, 10 * kGbit, 4, 10), 6);
  EXPECT_EQ(profiled_channels(2 * kGbit, 10 * kGbit, 4, 10), 8) << "16 would be required";
  EXPECT_EQ(profiled_channels(2 * kGbit, 10 * kGbit, 8, 10), 10);
}
TEST(Profiling, GivesUpChannelsAboveWhatIsWanted) {
  EXPECT_EQ(profiled_channels(9.6 * kGbit, 10 * kGbit, 8, 10), 6);
  EXPECT_EQ(profiled_channels(99 * kGbit, 10 * kGbit, 4, 10), 1);
}

TEST(TargetSteps, AreAsLargeAsTheError) {
  EXPECT_EQ(step_to_target(40, 100, 4, 20), (TargetStep{8, 0}));
  EXPECT_EQ(step_to_target(70, 100, 4, 20), (TargetStep{6, 0}));
  EXPECT_EQ(step_to_target(85, 100, 4, 20), (TargetStep{5, 0}));
  EXPECT_EQ(step_to_target(92, 100, 4, 20), (TargetStep{4, 1}));
  EXPECT_EQ(step_to_target(96, 100, 4, 20), (TargetStep{4, 0}));
}
TEST(TargetSteps, GoDownInTheSameWay) {
  EXPECT_EQ(step_to_target(160, 100, 4, 20), (TargetStep{2, 0}));
  EXPECT_EQ(step_to_target(130, 100, 4, 20), (TargetStep{2, 0}));
  EXPECT_EQ(step_to_target(115, 100, 4, 20), (TargetStep{3, 0}));
  EXPECT_EQ(step_to_target(108, 100, 4, 20), (TargetStep{4, -1}));
  EXPECT_EQ(step_to_target(999, 100, 1, 20), (TargetStep{1, 0}));
  EXPECT_EQ(step_to_target(1, 100, 15, 20), (TargetStep{20, 0}));
}

class History : public ::testing::Test {
 protected:
  void put(double mean_file, int channels) { history_.put({here_, mean_file, mean_file < 50 * kMB, channels, 1}); }
  std::optional<int> channels(double mean_file) {
    const auto found = history_.find(here_, mean_file, mean_file < 50 * kMB);
    return found ? std::optional(found->channels) : std::nullopt;
  }
  std::vector<NodeId> here_{numbered_node(1), numbered_node(2)};
  ProfileHistory history_;
};

TEST_F(History, IsEmptyAtFirst) {
  EXPECT_EQ(channels(20 * kMB), std::nullopt);
}
TEST_F(History, TellsTheNewestOfASimilarSizeFirst) {
  put(20 * kMB, 3);
  put(5 * kMB, 7);
  EXPECT_EQ(channels(12 * kMB), 3) << "5 MB is newer, but less than half";
  put(15 * kMB, 4);
  EXPECT_EQ(channels(12 * kMB), 4);
}
TEST_F(History, TellsTheNewestOfTheSameKindThen) {
  put(20 * kMB, 3);
  put(500 * kMB, 8);
  EXPECT_EQ(channels(5 * kMB), 3) << "as in the thesis: 20 MB for 5 MB, both small";
  EXPECT_EQ(channels(5000 * kMB), 8);
}
TEST_F(History, TellsNothingOfAnotherKindOrOfOtherSeeders) {
  put(500 * kMB, 8);
  EXPECT_EQ(channels(5 * kMB), std::nullopt);
  here_.pop_back();
  EXPECT_EQ(channels(500 * kMB), std::nullopt);
}
TEST_F(History, ForgetsWhatIsOld) {
  put(500 * kMB, 8);
  for (std::size_t i = 0; i < ProfileHistory::kMost; ++i) put(5 * kMB, 2);
  EXPECT_EQ(channels(500 * kMB), std::nullopt);
}

class Fstream : public ::testing::Test {
 protected:
  std::shared_ptr<ProfileHistory> history_ = std::make_shared<ProfileHistory>();
  FstreamSearch search_{history_};
};

TEST_F(Fstream, StartsByTheHeuristic) {
  const SearchRun run(search_, each_lane(10 * kMbit, 200 * kMbit));
  EXPECT_EQ(run.plan.channels, (std::vector{Channel{}, Channel{}}));
  EXPECT_EQ(run.plan.why, "2 channels, the heuristic start; large files: 2 channels, parallelism 1, pipelining 1");
}
TEST_F(Fstream, DoublesEachTenSecondsWhereTheLinkIsFar) {
  SearchRun run(search_, each_lane(10 * kMbit, 200 * kMbit), {9'000'000'000});
  run.seconds(10);
  EXPECT_EQ(run.plan.channels.size(), 4U);
  EXPECT_TRUE(run.plan.why.starts_with("4 channels: 2 brought 20.0 Mbit/s of 800.0 Mbit/s wanted")) << run.plan.why;
  run.seconds(10);
  EXPECT_EQ(run.plan.channels.size(), 8U);
  run.seconds(60);
  EXPECT_EQ(run.plan.channels.size(), 10U);
  EXPECT_EQ(run.reasons.size(), 4U);
}
TEST_F(Fstream, BeginsWhereAnEarlierTransferEnded) {
  SearchRun earlier(search_, each_lane(10 * kMbit, 200 * kMbit), {9'000'000'000});
  earlier.seconds(60);
  FstreamSearch next(history_);
  SearchRun run(next, each_lane(10 * kMbit, 200 * kMbit), {9'000'000'000});
  run.seconds(10);
  EXPECT_EQ(run.plan.channels.size(), 10U);
  EXPECT_TRUE(
      run.plan.why.starts_with("10 channels, as an earlier transfer had, which brought 100.0 Mbit/s: 2 brought"))
      << run.plan.why;
}
TEST_F(Fstream, HoldsSmallAndLargeFilesApart) {
  std::vector<std::uint64_t> sizes(1'000, 1'000'000);
  sizes.insert(sizes.end(), 4, 1'000'000'000);
  SearchRun run(search_, each_lane(100 * kMbit, 800 * kMbit), std::move(sizes));
  // BDP 6.25 MB: 6 channels for files of 1 MB, 2 for those of 1 GB.
  EXPECT_TRUE(
      run.plan.why.starts_with("8 channels, the heuristic start; small files: 6 channels, parallelism 1, "
                               "pipelining 6, large files: 2 channels"))
      << run.plan.why;
  EXPECT_EQ(run.plan.channels.front(), (Channel{1, 429})) << "seven files of 1 MB";
  EXPECT_EQ(run.plan.channels.back(), (Channel{1, 0}));
  run.seconds(30);
  EXPECT_EQ(run.plan.channels, std::vector<Channel>(8)) << "the small ones are here";
}
TEST_F(Fstream, StepsTowardsARateThatIsAskedFor) {
  SearchRun run(search_, each_lane(10 * kMbit, 200 * kMbit), {9'000'000'000});
  run.input.target_bits_per_s = 60 * kMbit;
  run.seconds(10);
  EXPECT_EQ(run.plan.channels.size(), 4U);
  EXPECT_TRUE(run.plan.why.starts_with("4 channels: 2 brought 20.0 Mbit/s of 60.0 Mbit/s asked for")) << run.plan.why;
  run.seconds(40);
  EXPECT_EQ(run.plan.channels.size(), 6U);
}

}  // namespace
}  // namespace gridtorrent::client::tuning
