// The word for what limits a transfer.
#include <gtest/gtest.h>

#include "client/tuning/diagnosis.h"
#include "tests/support/tuner_input.h"

namespace gridtorrent::client::tuning {
namespace {

using namespace std::chrono_literals;
using gridtorrent::testing::input_with;
using gridtorrent::testing::numbered_node;
using gridtorrent::testing::wild_input;

constexpr double kMbit = 1e6;

/// A seeder whose lanes always have data, over an empty path of 60 ms.
DiagnosedSource source(std::uint8_t number, double rate, int lanes = 4) {
  DiagnosedSource source;
  source.node = numbered_node(number);
  source.outstanding_blocks = 10;
  PathFigures& path = source.path;
  path.seconds = 5;
  path.lanes = lanes;
  path.bits_per_s = path.best_bits_per_s = rate;
  path.round_trip = path.least_round_trip = 60ms;
  path.congestion_control = "cubic";
  path.segments = rate * 20 / 8 / 1448;
  path.busy = 1;
  return source;
}
DiagnosedTransfer transfer_from(std::vector<DiagnosedSource> sources) {
  DiagnosedTransfer transfer;
  for (const auto& source : sources) transfer.bits_per_s += source.path.bits_per_s;
  transfer.best_bits_per_s = transfer.bits_per_s;
  transfer.sources = std::move(sources);
  return transfer;
}
Limit word(const DiagnosedTransfer& transfer) {
  return diagnose(MonoTime(1h), transfer).limit;
}

TEST(Diagnosed, WithoutFiguresIsUnknown) {
  EXPECT_EQ(word({}), Limit::kUnknown);
  DiagnosedSource old = source(1, 50 * kMbit);
  old.path.segments = 0;
  EXPECT_EQ(word(transfer_from({old})), Limit::kUnknown) << "an older node tells nothing";
}
TEST(Diagnosed, AsLossNamesHowMuchAndWhatALaneComesTo) {
  DiagnosedSource lossy = source(1, 190 * kMbit);
  lossy.path.random_events = lossy.path.loss_events = lossy.path.segments * 2e-4;
  const Findings findings = diagnose(MonoTime(1h), transfer_from({lossy}));
  EXPECT_EQ(findings.limit, Limit::kLoss);
  EXPECT_NE(findings.detail.find("0.02 % of packets get lost"), std::string::npos) << findings.detail;
  EXPECT_NE(findings.detail.find("16.7 Mbit/s"), std::string::npos) << findings.detail;
  EXPECT_NE(findings.advice.text.find("BBR"), std::string::npos);
}
TEST(Diagnosed, AsCapWhereAPersonAskedForFewerLanesThanLossesCost) {
  DiagnosedSource lossy = source(1, 60 * kMbit, 3);
  lossy.path.random_events = lossy.path.loss_events = lossy.path.segments * 2e-4;
  DiagnosedTransfer transfer = transfer_from({lossy});
  transfer.lanes_wish = 3;
  EXPECT_EQ(word(transfer), Limit::kCap);
}
TEST(Diagnosed, AsPathWherePacketsWaitOnIt) {
  DiagnosedSource full = source(1, 95 * kMbit);
  full.path.round_trip = 100ms;
  full.path.loss_events = 30;
  EXPECT_EQ(word(transfer_from({full})), Limit::kPath);
  full.path.window_limited = 0.9;
  EXPECT_EQ(word(transfer_from({full})), Limit::kPath) << "its windows are used up since packets wait";
}
TEST(Diagnosed, AsWindowWhereLanesWaitForItOnAnEmptyPath) {
  DiagnosedSource window = source(1, 64 * kMbit);
  window.path.window_limited = 0.9;
  EXPECT_EQ(word(transfer_from({window})), Limit::kWindow);
}
TEST(Diagnosed, AsSeederWhereItPacesOrHasNothingToSend) {
  DiagnosedSource paced = source(1, 19 * kMbit);
  paced.path.paced_bits_per_s = 20 * kMbit;
  EXPECT_EQ(word(transfer_from({paced})), Limit::kSeeder);
  DiagnosedSource idle = source(1, 19 * kMbit);
  idle.path.busy = 0.2;
  EXPECT_EQ(word(transfer_from({idle})), Limit::kSeeder);
  idle.outstanding_blocks = 0;
  EXPECT_NE(word(transfer_from({idle})), Limit::kSeeder) << "nothing is asked of it";
}
TEST(Diagnosed, NotAsSeederWhereALimitHoldsRequestsBack) {
  DiagnosedSource idle = source(1, 30 * kMbit);
  idle.path.busy = 0.2;
  DiagnosedTransfer transfer = transfer_from({idle});
  transfer.limit_bits_per_s = 40 * kMbit;
  EXPECT_EQ(word(transfer), Limit::kUnknown) << "its first seconds are in the rate still";
}
TEST(Diagnosed, AsSeederWherePacketsWaitOnItsWayAlone) {
  DiagnosedSource slow = source(1, 60 * kMbit), other = source(2, 20 * kMbit);
  slow.path.round_trip = 110ms;
  other.path.round_trip = 62ms;
  EXPECT_EQ(word(transfer_from({slow, other})), Limit::kSeeder);
  other.path.round_trip = 100ms;
  EXPECT_EQ(word(transfer_from({slow, other})), Limit::kPath) << "the way that they share";
}
TEST(Diagnosed, AsTargetWhereTheRateThatWasAskedForIsReached) {
  DiagnosedTransfer transfer = transfer_from({source(1, 30 * kMbit)});
  transfer.limit_bits_per_s = 31 * kMbit;
  EXPECT_EQ(word(transfer), Limit::kTarget);
  transfer.limit_bits_per_s = 60 * kMbit;
  EXPECT_NE(word(transfer), Limit::kTarget);
}
TEST(Diagnosed, AsReceiverWhereAThreadNeverRests) {
  DiagnosedSource window = source(1, 64 * kMbit);
  window.path.window_limited = 0.9;
  DiagnosedTransfer transfer = transfer_from({window});
  transfer.busiest_thread = 0.99;
  EXPECT_EQ(word(transfer), Limit::kReceiverCpu) << "it does not read, so windows are used up";
}
TEST(Diagnosed, AsWhatHoldsTheSourcesThatBringMost) {
  DiagnosedSource window = source(1, 64 * kMbit), paced = source(2, 10 * kMbit);
  window.path.window_limited = 0.9;
  paced.path.paced_bits_per_s = 10 * kMbit;
  const Findings findings = diagnose(MonoTime(1h), transfer_from({window, paced}));
  EXPECT_EQ(findings.limit, Limit::kWindow);
  ASSERT_EQ(findings.sources.size(), 2u);
  EXPECT_EQ(findings.sources[1].held_by, Limit::kSeeder);
}

TEST(TheDiagnosis, KeepsItsWordUntilAnotherOneHasHeldForThreeLooks) {
  Diagnosis diagnosis;
  auto input = input_with(1);
  input.limit_bits_per_s = 8'000'000;
  gridtorrent::testing::stands(input.peers[0], 60'000, "cubic");
  auto& lane = input.peers[0].lanes[0];
  const auto second = [&](std::uint64_t bytes, double busiest_thread) {
    input.now += 1s;
    lane.received_bytes += bytes;
    input.load.busiest_thread = busiest_thread;
    return diagnosis.look(input).limit;
  };
  for (int i = 0; i < 4; ++i) second(1'000'000, 0);
  EXPECT_EQ(second(1'000'000, 0), Limit::kTarget);
  input.limit_bits_per_s = 0;
  EXPECT_EQ(second(1'000'000, 1), Limit::kTarget);
  EXPECT_EQ(second(1'000'000, 1), Limit::kTarget);
  EXPECT_EQ(second(1'000'000, 1), Limit::kReceiverCpu);
}
TEST(TheDiagnosis, SaysSomethingOfAnyInputAndForgetsTransfersThatAreGone) {
  Diagnosis diagnosis;
  SeededRng rng(7);
  for (int i = 0; i < 1000; ++i) {
    const auto input = wild_input(rng);
    const Findings findings = diagnosis.look(input);
    EXPECT_LE(findings.sources.size(), input.peers.size()) << "seed 7, call " << i;
    if (i % 7 == 0) diagnosis.removed(input.transfer);
  }
}

}  // namespace
}  // namespace gridtorrent::client::tuning
