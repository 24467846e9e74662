// Which of the blocks that others asked for are read when.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "client/engine/held_reads.h"

namespace gridtorrent::client::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kBlock = 16 * 1024;

PeerKey node(int number) {
  return {NodeId(), "node " + std::to_string(number)};
}

struct HeldReadsTest : testing::Test {
  /// `lane` of `node` asks for the next block, and libtorrent reads it at once.
  void ask(int lane, int node_number, int torrent = 0) {
    const Block block{next_++, 0, kBlock};
    reads.asked(&lanes[lane], node(node_number), &torrents[torrent], block);
    read(block, lane, torrent);
  }
  void read(const Block& block, int lane, int torrent = 0) {
    reads.read(&torrents[torrent], block, [this, lane] { done.push_back(lane); }, now);
  }
  void pass(milliseconds time) {
    for (const MonoTime end = now + time; now < end; now += milliseconds(5)) reads.go_on(now);
  }
  long done_of(int lane) const { return std::count(done.begin(), done.end(), lane); }

  HeldReads reads{std::make_shared<NetworkLoop>([] {})};
  std::vector<int> done;  ///< lanes, in the order of what was read
  char lanes[64]{}, torrents[2]{};
  MonoTime now{seconds(100)};

 private:
  int next_ = 0;
};

TEST_F(HeldReadsTest, PassAtOnceWithoutALimit) {
  EXPECT_FALSE(reads.concerns());
  for (int i = 0; i < 1'000; ++i) ask(0, 0);
  EXPECT_EQ(done.size(), 1'000U);
}

TEST_F(HeldReadsTest, WaitForTheLimit) {
  int submitted = 0;
  reads.set_submit([&] { ++submitted; });
  reads.set_rate(100 * kBlock);
  for (int i = 0; i < 2'000; ++i) ask(0, 0);
  EXPECT_LE(done.size(), 6U) << "50 ms of it at once";
  pass(seconds(10));
  EXPECT_NEAR(static_cast<double>(done.size()), 1'000, 10);
  EXPECT_GT(submitted, 0);
}

TEST_F(HeldReadsTest, GiveNodesEvenPartsWhateverTheNumberOfTheirLanes) {
  reads.set_rate(100 * kBlock);
  for (int i = 0; i < 200; ++i) {
    for (int lane = 1; lane <= 16; ++lane) ask(lane, 1);
    for (int k = 0; k < 4; ++k) ask(0, 0);
  }
  pass(seconds(10));
  EXPECT_NEAR(static_cast<double>(done_of(0)), 500, 8);
  EXPECT_NEAR(static_cast<double>(done.size()), 1'000, 10);
}

TEST_F(HeldReadsTest, AllPassOnceTheLimitIsTakenAway) {
  reads.set_rate(kBlock);
  for (int i = 0; i < 500; ++i) ask(0, 0);
  reads.set_rate(0);
  EXPECT_TRUE(reads.concerns()) << "some still wait";
  reads.go_on(now);
  EXPECT_EQ(done.size(), 500U);
  EXPECT_FALSE(reads.concerns());
}

TEST_F(HeldReadsTest, OfAClosedLaneOrATorrentThatGoesHoldUpNobody) {
  reads.set_rate(kBlock);
  ask(9, 9);  // what passes at once
  for (int i = 0; i < 50; ++i) {
    ask(0, 0);
    ask(1, 1, 1);
    ask(2, 1);
  }
  reads.lane_closed(&lanes[0]);
  EXPECT_EQ(done_of(0), 50);
  EXPECT_EQ(done_of(1) + done_of(2), 0);
  reads.let_go(&torrents[1]);
  EXPECT_EQ(done_of(1), 50);
  EXPECT_EQ(done_of(2), 0);
  reads.let_go_all();
  EXPECT_EQ(done_of(2), 50);
}

TEST_F(HeldReadsTest, MayAskForMoreWhileTheyAreRead) {
  reads.set_rate(1'000 * kBlock);
  int depth = 0, deepest = 0, left = 10'000;
  std::function<void()> more = [&] {
    deepest = std::max(deepest, ++depth);
    if (--left > 0) reads.read(&torrents[0], {left, 0, kBlock}, more, now);
    --depth;
  };
  reads.read(&torrents[0], {0, 0, kBlock}, more, now);
  pass(seconds(11));
  EXPECT_EQ(left, 0);
  EXPECT_EQ(deepest, 1) << "or a fast disk would fill the stack";
}

TEST_F(HeldReadsTest, RememberOnlySoManyQuestionsOfALane) {
  reads.set_rate(1);
  for (int i = 0; i < 100'000; ++i) reads.asked(&lanes[0], node(0), &torrents[0], {i, 0, kBlock});
  EXPECT_LE(reads.remembered(), 2'200U);
  for (int i = 0; i < 100'000; ++i) reads.refused(&lanes[0], &torrents[0], {i, 0, kBlock});
  EXPECT_EQ(reads.remembered(), 0U);
  reads.asked(&lanes[0], node(0), &torrents[0], {1, 0, kBlock});
  reads.lane_closed(&lanes[0]);
  EXPECT_EQ(reads.remembered(), 0U);
}

}  // namespace
}  // namespace gridtorrent::client::engine
