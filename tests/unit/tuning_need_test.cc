// How many lanes a path has use for, by what its sender's TCP tells.
#include <gtest/gtest.h>

#include <cmath>

#include "client/tuning/lane_need.h"
#include "client/tuning/tcp_rate.h"

namespace gridtorrent::client::tuning {
namespace {

using namespace std::chrono_literals;

constexpr double kMbit = 1e6;

/// A path that carries `rate` over so many lanes, with packets waiting on it, watched for ten seconds.
PathFigures path(double rate, int lanes, double random_events, std::chrono::microseconds round_trip = 60ms) {
  PathFigures figures;
  figures.seconds = 10;
  figures.lanes = lanes;
  figures.bits_per_s = figures.best_bits_per_s = rate;
  figures.least_round_trip = round_trip;
  figures.round_trip = round_trip * 3 / 2;
  figures.full_queue = round_trip;
  figures.congestion_control = "cubic";
  figures.segments = rate * 10 / 8 / 1448;
  figures.loss_events = figures.random_events = random_events;
  figures.busy = 1;
  return figures;
}

TEST(LongRunRate, OfCubicIsThatOfRfc9438) {
  // RTT 0.1 s, one loss in 10,000 segments: 187 segments by 1.054·(RTT/p)^0.75, 122 by Reno's 1.22/√p.
  const double rate = long_run_bits_per_s({100ms, 1e-4, 1448}, "cubic");
  EXPECT_NEAR(rate * 0.1 / 8 / 1448, 187.4, 0.5);
  EXPECT_NEAR(long_run_bits_per_s({100ms, 1e-4, 1448}, "reno") * 0.1 / 8 / 1448, 122, 0.1);
}
TEST(LongRunRate, OfCubicOnAShortPathIsRenos) {
  EXPECT_EQ(long_run_bits_per_s({2ms, 1e-3, 1448}, "cubic"), long_run_bits_per_s({2ms, 1e-3, 1448}, "reno"));
}
TEST(LongRunRate, HasNoBoundWithoutLossesAndUnderBbr) {
  EXPECT_TRUE(std::isinf(long_run_bits_per_s({60ms, 0, 1448}, "cubic")));
  EXPECT_TRUE(std::isinf(long_run_bits_per_s({60ms, 1e-3, 1448}, "bbr")));
  EXPECT_TRUE(std::isinf(long_run_bits_per_s({0ms, 1e-3, 1448}, "cubic")));
}

TEST(NeededLanes, MakeUpForRandomLosses) {
  // 16,000 packets a second, of which 0.02 % get lost: 86 segments a round trip of 60 ms, by Reno's equation.
  const LaneNeed need = lane_need(path(190 * kMbit, 8, 33), 0);
  EXPECT_EQ(need.held_by, Limit::kLoss);
  EXPECT_NEAR(need.lane_bits_per_s / kMbit, 16.6, 0.1);
  EXPECT_GE(need.least, 10);
  EXPECT_LE(need.most, 16);
}
TEST(NeededLanes, AreFewWhereOneLossIsNotWhatHoldsThemUp) {
  PathFigures disk = path(100 * kMbit, 8, 1, 50ms);
  disk.round_trip = disk.least_round_trip;
  disk.segments = 172'000;
  EXPECT_LE(lane_need(disk, 0).least, 2) << "a lane could carry 218 Mbit/s, so the path is not what limits";
}
TEST(NeededLanes, AreTwoAtMostWhereLossesComeFromAFullQueueOnly) {
  PathFigures full = path(95 * kMbit, 16, 0, 40ms);
  full.loss_events = 60;
  const LaneNeed need = lane_need(full, 0);
  EXPECT_EQ(need.held_by, Limit::kUnknown);
  EXPECT_EQ(need.least, 1);
  EXPECT_LE(need.most, 3);
  full.segments *= 4;
  EXPECT_EQ(lane_need(full, 0).most, 2) << "watched for longer";
}
TEST(NeededLanes, AreNotGivenUpWhereLossesMayBeRandom) {
  PathFigures doubtful = path(190 * kMbit, 16, 8);
  const LaneNeed sure = lane_need(doubtful, 0);
  doubtful.doubtful_events = 30;
  const LaneNeed unsure = lane_need(doubtful, 0);
  EXPECT_GT(unsure.most, sure.most);
  EXPECT_EQ(unsure.least, sure.least) << "nor are lanes added for them";
}
TEST(NeededLanes, StayOpenAsLongAsFewPacketsWereSeen) {
  PathFigures young = path(900 * kMbit, 16, 0, 50ms);
  young.segments = 2'000;
  EXPECT_EQ(lane_need(young, 0).most, 32) << "a loss in a thousand packets would not have shown yet";
}
TEST(NeededLanes, FillTheLinkWhereWindowsHoldThemUp) {
  // 24 lanes of 8 Mbit/s over three seeders of a path of 165: one of these has 8 lanes and brings 55.
  PathFigures window = path(55 * kMbit, 8, 0, 35ms);
  window.window_limited = 0.97;
  window.round_trip = 40ms;
  const LaneNeed need = lane_need(window, 0);
  EXPECT_EQ(need.held_by, Limit::kWindow);
  EXPECT_NEAR(need.lane_bits_per_s / kMbit, 7.9, 0.1);
  EXPECT_EQ(need.least, 8);
  EXPECT_EQ(need.most, 8);
}
TEST(NeededLanes, AreNoMoreWhereWindowsFillThePathAsItIs) {
  PathFigures window = path(96 * kMbit, 2, 0, 60ms);
  window.window_limited = 0.97;
  EXPECT_EQ(lane_need(window, 0).least, 2) << "1.1 times what two lanes carry would be three";
}
TEST(NeededLanes, DoubleWhereWindowsHoldThemUpAndNothingWaits) {
  PathFigures window = path(64 * kMbit, 8, 0, 35ms);
  window.window_limited = 0.97;
  window.round_trip = 35ms;
  EXPECT_EQ(lane_need(window, 0).least, 16);
}
TEST(NeededLanes, DoubleWhereTheSendersBufferHoldsThemUpAsAWindowDoes) {
  PathFigures held = path(330 * kMbit, 1, 0, 100ms);
  held.round_trip = held.least_round_trip;
  held.window_limited = 0.3;
  held.buffer_limited = 0.6;
  EXPECT_EQ(lane_need(held, 0).held_by, Limit::kWindow);
  EXPECT_EQ(lane_need(held, 0).least, 2);
  held.buffer_limited = 0.1;
  EXPECT_EQ(lane_need(held, 0).least, 1);
}
TEST(NeededLanes, AreMoreAtOnceOnANearPathThatLosesPackets) {
  PathFigures near = path(180 * kMbit, 2, 400);
  near.round_trip = near.least_round_trip = 2ms;
  EXPECT_GE(lane_need(near, 0).least, 6) << "four times what two carry";
  near.round_trip = 8ms;
  EXPECT_LE(lane_need(near, 0).least, 3) << "it is full";
}
TEST(NeededLanes, GoWithTheLossesSeenWhereSinglePacketsAreLate) {
  PathFigures late = path(19 * kMbit, 8, 160, 60ms);
  late.round_trip = late.least_round_trip + 6ms;
  EXPECT_TRUE(late.full());
  const int when_full = lane_need(late, 0).least;
  late.delays = 5ms;
  EXPECT_FALSE(late.full());
  EXPECT_GT(lane_need(late, 0).least, when_full);
}
TEST(NeededLanes, GoWithTheLossesSeenWhereNothingWaits) {
  // 9 events may be 4 to 16; on a full path the fewest count, on one that is not full the likely number.
  PathFigures few = path(100 * kMbit, 4, 9);
  const int when_full = lane_need(few, 0).least;
  few.round_trip = few.least_round_trip;
  EXPECT_GT(lane_need(few, 0).least, 2 * when_full);
}
TEST(NeededLanes, AreNoMoreThanALimitHasUseFor) {
  PathFigures limited = path(30 * kMbit, 4, 10);
  limited.round_trip = limited.least_round_trip;
  EXPECT_LE(lane_need(limited, 30 * kMbit).most, lane_need(limited, 0).most);
  EXPECT_LE(lane_need(limited, 30 * kMbit).least, 4);
}
TEST(NeededLanes, OfASenderThatTellsNothingMayBeAnyNumber) {
  PathFigures silent = path(100 * kMbit, 8, 0);
  silent.segments = 0;
  const LaneNeed need = lane_need(silent, 0);
  EXPECT_EQ(need.least, 1);
  EXPECT_EQ(need.most, 32);
}
TEST(NeededLanes, UnderBbrAreOne) {
  PathFigures bbr = path(100 * kMbit, 8, 90);
  bbr.congestion_control = "bbr";
  EXPECT_EQ(lane_need(bbr, 0).most, 1);
  bbr.round_trip = bbr.least_round_trip;
  EXPECT_EQ(lane_need(bbr, 0).most, 1) << "where nothing waits, too";
  bbr.least_round_trip = bbr.round_trip = std::chrono::milliseconds(1);
  EXPECT_EQ(lane_need(bbr, 0).most, 2) << "on a near path";
}

}  // namespace
}  // namespace gridtorrent::client::tuning
