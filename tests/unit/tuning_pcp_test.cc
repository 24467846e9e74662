// PCP: its laws on the paper's examples, and its search over a path.
#include <gtest/gtest.h>

#include "client/tuning/file_rules.h"
#include "client/tuning/pcp.h"
#include "tests/support/search_run.h"

namespace gridtorrent::client::tuning {
namespace {

using gridtorrent::testing::each_lane;
using gridtorrent::testing::says;
using gridtorrent::testing::SearchRun;

constexpr double kMB = 1e6, kMbit = 1e6;

/// So many files, evenly spread from one size to another.
void add_files(std::vector<std::uint64_t>& sizes, int count, double from, double to) {
  for (int i = 0; i < count; ++i) sizes.push_back(static_cast<std::uint64_t>(from + (to - from) * i / (count - 1)));
}

TEST(Pipelining, FillsTheBandwidthDelayProduct) {
  EXPECT_EQ(optimal_pipelining(8 * kMB, 1.5 * kMB), 5);
  EXPECT_EQ(optimal_pipelining(8 * kMB, 7.5 * kMB), 1);
  EXPECT_EQ(optimal_pipelining(8 * kMB, 8 * kMB), 1);
  EXPECT_EQ(optimal_pipelining(8 * kMB, 20 * kMB), 1) << "level 1 is sufficient";
}
TEST(Pipelining, HasAMostForTinyAndEmptyFiles) {
  EXPECT_EQ(optimal_pipelining(8 * kMB, 1), 20);
  EXPECT_EQ(optimal_pipelining(8 * kMB, 0), 20);
  EXPECT_EQ(optimal_pipelining(8 * kMB, 0, 100), 100);
}
TEST(Pipelining, InBlocksIsThatOfTheFilesUnderWay) {
  // Six files of 1.5 MB are 550 blocks and a piece of one.
  EXPECT_EQ(lane_blocks(5, 1.5 * kMB, 8 * kMB, 1), 551);
  EXPECT_EQ(lane_blocks(5, 1.5 * kMB, 8 * kMB, 2), 276) << "two lanes share them";
  EXPECT_EQ(lane_blocks(1, 8 * kMB, 8 * kMB, 1), 0) << "one file fills the path: the engine's own depth";
  EXPECT_EQ(lane_blocks(1, 100, 8 * kMB, 1), 2);
  EXPECT_EQ(lane_blocks(100, 7 * kMB, 8 * kMB, 1), kMostBlocks);
}

TEST(ChunkDivision, OfNothingIsNothing) {
  EXPECT_TRUE(divide_recursively({}, 8 * kMB, 0).empty());
}
TEST(ChunkDivision, FindsThePapersThreeClusters) {
  // BDP 8 MB, files of about 1.5 and about 7.5 MB.
  std::vector<std::uint64_t> sizes;
  add_files(sizes, 300, 1 * kMB, 2 * kMB);
  add_files(sizes, 100, 7 * kMB, 8 * kMB - 1);
  const auto chunks = divide_recursively(sizes, 8 * kMB, 150 * kMB);
  ASSERT_EQ(chunks.size(), 3U);
  EXPECT_EQ(chunks[0].first, 0U);
  EXPECT_EQ(chunks[0].last, 149U);
  EXPECT_EQ(chunks[0].pipelining, 5);
  EXPECT_EQ(chunks[1].last, 299U);
  EXPECT_EQ(chunks[1].pipelining, 5) << "as their parent's mean of 1.5 MB asks for";
  EXPECT_EQ(chunks[2].last, 399U);
  EXPECT_EQ(chunks[2].pipelining, 2) << "as the mean of all, 3 MB, asks for";
}
TEST(ChunkDivision, LeavesChunksAsLargeAsTwiceTheLeast) {
  std::vector<std::uint64_t> sizes;
  add_files(sizes, 300, 1 * kMB, 2 * kMB);
  const auto whole = divide_recursively(sizes, 8 * kMB, 300 * kMB);
  ASSERT_EQ(whole.size(), 1U);
  EXPECT_EQ(whole[0].pipelining, 5) << "nothing was divided: its own";
  EXPECT_EQ(divide_recursively(sizes, 8 * kMB, 200 * kMB).size(), 2U);
}
TEST(ChunkDivision, LeavesFilesOfTheSameSizeTogether) {
  EXPECT_EQ(divide_recursively(std::vector<std::uint64_t>(100, 1'500'000), 8 * kMB, 1).size(), 1U);
}
TEST(ChunkDivision, LeavesFilesTogetherThatAskForMoreThanTheMost) {
  std::vector<std::uint64_t> sizes;
  add_files(sizes, 1000, 1'000, 50'000);
  const auto chunks = divide_recursively(sizes, 8 * kMB, 1);
  ASSERT_EQ(chunks.size(), 1U);
  EXPECT_EQ(chunks[0].pipelining, 20);
}
TEST(ChunkDivision, CoversEveryFileOnce) {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t size = 100'000; size < 8'000'000; size += size / 20) sizes.push_back(size);
  std::size_t next = 0;
  for (const auto& chunk : divide_recursively(sizes, 8 * kMB, kMB)) {
    EXPECT_EQ(chunk.first, next);
    next = chunk.last + 1;
  }
  EXPECT_EQ(next, sizes.size());
}

TEST(ChunkRevision, JoinsSmallChunksAndHalvesLargeOnes) {
  const std::vector<FileChunk> chunks{{0, 9, 10 * kMB, 5}, {10, 109, 500 * kMB, 2}, {110, 111, 4 * kMB, 1}};
  const auto spans = revise_chunks(chunks, 20 * kMB, 4);
  ASSERT_EQ(spans.size(), 4U);
  for (const auto& span : spans) {
    EXPECT_EQ(span.bytes, 514 * kMB / 4);
    EXPECT_EQ(span.pipelining, 2) << "of the larger one";
    EXPECT_NEAR(span.mean_file, 514 * kMB / 112, 1);
  }
}
TEST(ChunkRevision, HalvesNoneBelowTheLeast) {
  EXPECT_EQ(revise_chunks({{0, 9, 100 * kMB, 5}}, 30 * kMB, 6).size(), 2U);
  EXPECT_TRUE(revise_chunks({}, 30 * kMB, 6).empty());
}
TEST(ChunkRevision, JoinsEqualPipeliningForTheRest) {
  const auto rest = join_equal({{10, 1, 5}, {20, 1, 5}, {30, 1, 2}});
  ASSERT_EQ(rest.size(), 2U);
  EXPECT_EQ(rest[0].bytes, 30);
  EXPECT_EQ(rest[1].bytes, 30);
}

TEST(PcpDoubling, EndsWhereMoreThanATwentiethIsLost) {
  Doubling search;
  search.brought(100, 32);
  EXPECT_EQ(search.value(), 2);
  search.brought(96, 32);
  EXPECT_FALSE(search.over()) << "4 % less may be chance";
  EXPECT_EQ(search.value(), 4);
  search.brought(91, 32);
  EXPECT_TRUE(search.over());
  EXPECT_EQ(search.value(), 2) << "the last one before the fall";
}
TEST(PcpDoubling, EndsAtTheMost) {
  Doubling search;
  for (const double rate : {1.0, 2.0, 4.0}) search.brought(rate, 4);
  EXPECT_TRUE(search.over());
  EXPECT_EQ(search.value(), 4);
}

TEST(PcpSearch, TakesOneLaneUntilItKnowsTheBulkRate) {
  PcpSearch search;
  SearchRun run(search, each_lane(20 * kMbit, 200 * kMbit));
  run.seconds(4);
  EXPECT_EQ(run.plan.channels, std::vector{Channel{}});
  EXPECT_EQ(run.reasons.size(), 1U);
}
TEST(PcpSearch, FindsParallelismForOneLargeFileAndKeepsItForTheRest) {
  PcpSearch search;
  // Ten lanes of one channel fill the link; more of them bring less.
  SearchRun run(search,
                [](const SearchPlan& plan) {
                  const int lanes = plan.channels.at(0).lanes;
                  return lanes > 10 ? 140 * kMbit : std::min(20.0 * lanes, 200.0) * kMbit;
                },
                {4'000'000'000});
  run.seconds(80);
  ASSERT_EQ(run.plan.channels.size(), 4U) << "8 lanes, and then 4 channels of 8 at most have a place at one seeder";
  EXPECT_EQ(run.plan.channels[0].lanes, 8);
  EXPECT_TRUE(run.plan.why.starts_with("the rest: BDP 125 kB, pipelining 2, parallelism 8, concurrency 4"))
      << run.plan.why;
  const auto& fell = *std::ranges::find_if(run.reasons, [](const auto& why) { return says(why, "16 brought"); });
  EXPECT_TRUE(says(fell, "parallelism 16 brought 140.0 Mbit/s, and 8 brought")) << fell;
}
TEST(PcpSearch, FindsSeedersAfterLanes) {
  PcpSearch search;
  // What one seeder has is what one lane carries.
  SearchRun run(
      search,
      [](const SearchPlan& plan) { return std::min(50.0 * static_cast<double>(plan.channels.size()), 200.0) * kMbit; },
      {8'000'000'000}, 8);
  run.seconds(150);
  EXPECT_TRUE(run.plan.why.starts_with("the rest")) << run.plan.why;
  EXPECT_EQ(run.plan.channels.size(), 8U) << "as on a plateau, it goes beyond what it takes";
}
TEST(PcpSearch, TakesSmallFilesFirstWithConcurrencyAlone) {
  PcpSearch search;
  std::vector<std::uint64_t> sizes(8'000, 100'000);
  sizes.push_back(2'000'000'000);
  SearchRun run(search, each_lane(100 * kMbit, 400 * kMbit), std::move(sizes));
  run.seconds(6);
  EXPECT_TRUE(run.plan.why.starts_with("chunk 1 (")) << run.plan.why;
  EXPECT_TRUE(says(run.plan.why, "pipelining 6, concurrency 1")) << run.plan.why;
  // BDP 625 kB: seven files of 100 kB are 43 blocks.
  EXPECT_EQ(run.plan.channels, (std::vector{Channel{1, 44}}));
  run.seconds(60);
  EXPECT_TRUE(says(run.plan.why, "pipelining 2, parallelism")) << run.plan.why;
}
TEST(PcpSearch, KeepsItsLastSettingWhereNothingIsLeftToChooseFor) {
  PcpSearch search;
  SearchRun run(search, each_lane(20 * kMbit, 200 * kMbit), {50'000'000});
  run.seconds(30);
  const auto plan = run.plan;
  run.seconds(30);
  EXPECT_EQ(run.plan.channels, plan.channels);
}

}  // namespace
}  // namespace gridtorrent::client::tuning
