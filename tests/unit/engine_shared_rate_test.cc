// One rate for several: who passes when.
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "client/engine/shared_asking.h"
#include "client/engine/shared_rate.h"

namespace gridtorrent::client::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint64_t kBlock = 16 * 1024, kRate = 10'000'000;

/// What each flow wants: blocks of a size, at no more than a rate of its own.
struct Demand {
  std::uint64_t block = kBlock;
  double at_most = 1e18;  ///< bytes a second
};

struct SharedRateTest : testing::Test {
  SharedRateTest() { rate.set_rate(kRate); }

  /// The bytes of each flow within a time, looked at every 5 ms.
  std::map<int, double> shares(const std::map<int, Demand>& demands, seconds time) {
    std::map<int, double> passed;
    const MonoTime start = now;
    for (const MonoTime end = now + time; now < end; now += milliseconds(5)) {
      while (true) {
        std::vector<int> waiting;
        for (const auto& [flow, demand] : demands) {
          const double due = demand.at_most * std::chrono::duration<double>(now - start).count();
          if (passed[flow] <= due) waiting.push_back(flow);
        }
        const auto next = rate.next(now, waiting);
        if (!next) break;
        const int flow = waiting[*next];
        rate.pass(now, flow, demands.at(flow).block);
        passed[flow] += static_cast<double>(demands.at(flow).block);
      }
    }
    return passed;
  }

  SharedRate<int> rate;
  MonoTime now{seconds(100)};
};

TEST_F(SharedRateTest, IsKeptByAllFlowsTogether) {
  for (const int flows : {1, 3, 50}) {
    std::map<int, Demand> demands;
    for (int flow = 0; flow < flows; ++flow) demands[flow] = {};
    double total = 0;
    for (const auto& [flow, bytes] : shares(demands, seconds(20))) total += bytes;
    EXPECT_NEAR(total, 20.0 * kRate, 0.005 * 20 * kRate) << flows;
  }
}

TEST_F(SharedRateTest, IsDividedEvenlyByBytesNotByBlocks) {
  auto passed = shares({{1, {}}, {2, {.block = 1'000}}}, seconds(10));
  EXPECT_NEAR(passed[1], 5.0 * kRate, 2.0 * kBlock);
  EXPECT_NEAR(passed[2], 5.0 * kRate, 0.006 * 10 * kRate);
}

TEST_F(SharedRateTest, LeavesToTheOthersWhatOneDoesNotTake) {
  auto passed = shares({{1, {.at_most = 0.1 * kRate}}, {2, {}}, {3, {}}}, seconds(10));
  EXPECT_NEAR(passed[1], 1.0 * kRate, 0.01 * 10 * kRate) << "less than an even part is never held up";
  EXPECT_NEAR(passed[2], 4.5 * kRate, 0.01 * 10 * kRate);
  EXPECT_NEAR(passed[2], passed[3], 2.0 * kBlock);
}

TEST_F(SharedRateTest, SavesUpNothingForAFlowThatWaitedForNothing) {
  shares({{1, {}}, {2, {}}}, seconds(1));
  shares({{1, {}}}, seconds(30));
  auto passed = shares({{1, {}}, {2, {}}}, seconds(1));
  EXPECT_NEAR(passed[1], passed[2], 0.07 * kRate) << "50 ms may be made up for, and by whoever comes first";
}

TEST_F(SharedRateTest, HoldsNothingUpWithoutALimit) {
  rate.set_rate(0);
  const std::vector<int> waiting{7};
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_TRUE(rate.next(now, waiting));
    rate.pass(now, 7, kBlock);
  }
  EXPECT_FALSE(rate.next(now, {})) << "nobody waits";
}

/// A transfer with any number of blocks to ask for.
struct FakeAsker final : Asker {
  bool may_ask_next(MonoTime) override { return !held && left > 0; }
  std::uint64_t ask_next(MonoTime) override {
    --left;
    ++asked;
    return kBlock;
  }
  bool held = false;  ///< by a limit of its own
  int left = 1'000'000, asked = 0;
};

TEST(SharedAsking, GoesOnWithTransfersInTurn) {
  SharedAsking asking;
  FakeAsker first, second, slow;
  slow.held = true;
  for (FakeAsker* asker : {&first, &second, &slow}) asking.waits(*asker, true);
  asking.set_rate(100 * kBlock);
  for (MonoTime now{seconds(5)}; now < MonoTime{seconds(15)}; now += milliseconds(5)) asking.go_on(now);
  EXPECT_NEAR(first.asked, 500, 5);
  EXPECT_NEAR(second.asked, first.asked, 1);
  EXPECT_EQ(slow.asked, 0) << "its own limit holds it, and it holds nobody";
}

TEST(SharedAsking, LetsNobodyPassWhoseTurnIsLater) {
  SharedAsking asking;
  FakeAsker first, second;
  const MonoTime now{seconds(5)};
  asking.set_rate(kBlock);
  ASSERT_TRUE(asking.may_ask(first, now));
  asking.asked(first, kBlock, now);
  asking.waits(second, true);
  const MonoTime later = now + seconds(2);
  EXPECT_FALSE(asking.may_ask(first, later)) << "the other has had nothing yet";
  asking.go_on(later);
  EXPECT_EQ(second.asked, 1);
  asking.waits(second, false);
  EXPECT_TRUE(asking.may_ask(first, later + seconds(2)));
}

TEST(SharedAsking, TellsEachWhatItMayCountOn) {
  SharedAsking asking;
  FakeAsker first, second;
  EXPECT_EQ(asking.part_of(first), 0U) << "no limit";
  asking.set_rate(9'000'000);
  EXPECT_EQ(asking.part_of(first), 9'000'000U);
  asking.waits(second, true);
  EXPECT_EQ(asking.part_of(first), 4'500'000U);
  asking.waits(first, true);
  EXPECT_EQ(asking.part_of(first), 4'500'000U);
}

}  // namespace
}  // namespace gridtorrent::client::engine
