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
  source.has_requests = true;
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

/// Of what it sent in the last 20 s, that part was lost without a queue.
DiagnosedSource loses(DiagnosedSource source, double part) {
  source.path.random_events = source.path.loss_events = source.path.segments * part;
  return source;
}
/// Packets wait so long on its way.
DiagnosedSource queues(DiagnosedSource source, std::chrono::microseconds time) {
  source.path.round_trip = source.path.least_round_trip + time;
  source.path.full_queue = time;
  return source;
}
/// Its path has that round trip, and no queue.
DiagnosedSource at(DiagnosedSource source, std::chrono::microseconds round_trip) {
  source.path.round_trip = source.path.least_round_trip = round_trip;
  return source;
}
Findings findings_of(const DiagnosedTransfer& transfer) {
  return diagnose(MonoTime(1h), transfer);
}
bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Diagnosed, WithoutFiguresIsUnknown) {
  EXPECT_EQ(word({}), Limit::kUnknown);
}
TEST(Diagnosed, WithAnOlderSeederIsUnknownUnlessPacketsWaitOnThePath) {
  DiagnosedSource old = source(1, 50 * kMbit);
  old.path.segments = old.path.busy = 0;
  EXPECT_EQ(word(transfer_from({old})), Limit::kUnknown) << "it tells round trips alone";
  EXPECT_EQ(word(transfer_from({queues(old, 40ms)})), Limit::kPath);
}
TEST(Diagnosed, InTheFirstSecondsIsUnknown) {
  DiagnosedSource young = queues(source(1, 50 * kMbit), 40ms);
  young.path.seconds = 1;
  EXPECT_EQ(word(transfer_from({young})), Limit::kUnknown);
}

// 200 Mbit/s, 60 ms, 0.02 %: a lane comes to 16.7 Mbit/s, and 193 Mbit/s of payload are a full link.
TEST(Diagnosed, AsLossNamesHowMuchAndWhatALaneComesTo) {
  const Findings findings = findings_of(transfer_from({loses(source(1, 67 * kMbit, 4), 2e-4)}));
  EXPECT_EQ(findings.limit, Limit::kLoss);
  EXPECT_TRUE(says(findings.detail, "0.02 % of packets get lost")) << findings.detail;
  EXPECT_TRUE(says(findings.detail, "16.7 Mbit/s")) << findings.detail;
  EXPECT_TRUE(says(findings.advice.text, "BBR")) << findings.advice.text;
}
TEST(Diagnosed, AsPathWhereLanesHaveMadeUpForTheLossesAndTheLinkIsFull) {
  const DiagnosedSource full = queues(loses(source(1, 191 * kMbit, 14), 2e-4), 30ms);
  const Findings findings = findings_of(transfer_from({full}));
  EXPECT_EQ(findings.limit, Limit::kPath);
  EXPECT_TRUE(says(findings.detail, "14 lanes make up for its losses")) << findings.detail;
}
TEST(Diagnosed, AsPathWhereTheLinkIsFullThoughAPersonAskedForLanes) {
  DiagnosedTransfer transfer = transfer_from({queues(loses(source(1, 191 * kMbit, 12), 2e-4), 20ms)});
  transfer.lanes_wish = 12;
  EXPECT_EQ(word(transfer), Limit::kPath) << "more lanes would bring nothing";
}
TEST(Diagnosed, AsCapWhereAPersonAskedForFewerLanesThanLossesCost) {
  DiagnosedTransfer transfer = transfer_from({loses(source(1, 50 * kMbit, 3), 2e-4)});
  transfer.transfer = TransferId(TransferId::Bytes{9});
  transfer.lanes_wish = 3;
  const Findings findings = findings_of(transfer);
  EXPECT_EQ(findings.limit, Limit::kCap);
  EXPECT_TRUE(says(findings.detail, "no more than 3 lanes to each seeder were asked for; 0.02 %")) << findings.detail;
  EXPECT_EQ(findings.advice.command, "gridtorrent transfer set " + transfer.transfer.str() + " --lanes auto");
  transfer.sources[0].path.best_bits_per_s = 45 * kMbit;
  transfer.sources[0].path.bits_per_s = 20 * kMbit;
  EXPECT_NE(word(transfer), Limit::kCap) << "so many carry what the path has shown";
}
TEST(Diagnosed, AsLossWhereAllLanesThereMayBeDoNotMakeUpForIt) {
  DiagnosedSource lossy = loses(at(source(1, 690 * kMbit, 32), 50ms), 2e-4);
  lossy.path.best_bits_per_s = 930 * kMbit;
  const Findings findings = findings_of(transfer_from({lossy}));
  EXPECT_EQ(findings.limit, Limit::kLoss);
  EXPECT_TRUE(says(findings.detail, "32 lanes are the most to one seeder")) << findings.detail;
  EXPECT_TRUE(says(findings.advice.text, "BBR") && says(findings.advice.text, "second seeder")) << findings.advice.text;
  lossy.path.lanes = 8;
  EXPECT_EQ(word(transfer_from({lossy})), Limit::kLoss) << "the tuner may still add some";
}
TEST(Diagnosed, AsLossWhereAPolicerDropsWithoutAQueue) {
  // What its bucket holds no more is dropped at once; the more lanes there are, the more is lost.
  EXPECT_EQ(word(transfer_from({loses(at(source(1, 96 * kMbit, 4), 30ms), 1.3e-4)})), Limit::kLoss);
}

TEST(Diagnosed, AsPathWherePacketsWaitOnIt) {
  DiagnosedSource full = queues(source(1, 95 * kMbit), 40ms);
  full.path.loss_events = 30;
  EXPECT_EQ(word(transfer_from({full})), Limit::kPath);
  full.path.window_limited = 0.9;
  EXPECT_EQ(word(transfer_from({full})), Limit::kPath) << "its windows are used up since packets wait";
}
TEST(Diagnosed, AsPathWhereARivalFillsIt) {
  DiagnosedSource beside = queues(source(1, 48 * kMbit, 2), 35ms);
  beside.path.loss_events = 12;
  EXPECT_EQ(word(transfer_from({beside})), Limit::kPath);
}
TEST(Diagnosed, AsPathOnANearFullLinkWithoutAVisibleQueue) {
  DiagnosedSource near = at(source(1, 940 * kMbit, 2), 300us);
  const Findings findings = findings_of(transfer_from({near}));
  EXPECT_EQ(findings.limit, Limit::kPath) << "the queue is the sender's own: no packet waits on the way, none is lost";
  EXPECT_TRUE(says(findings.detail, "has more to send than the path takes")) << findings.detail;
  near.has_requests = false;
  EXPECT_EQ(word(transfer_from({near})), Limit::kUnknown) << "nothing is asked of it";
}
TEST(Diagnosed, AsPathWhereBbrFillsItAndLeavesNoQueue) {
  DiagnosedSource bbr = source(1, 96 * kMbit, 2);
  bbr.path.congestion_control = "bbr";
  EXPECT_EQ(word(transfer_from({bbr})), Limit::kPath);
  EXPECT_EQ(word(transfer_from({loses(bbr, 1e-3)})), Limit::kPath) << "BBR does not answer them";
}
TEST(Diagnosed, AsUnknownOnALongPathOfWhichNothingIsSeen) {
  EXPECT_EQ(word(transfer_from({source(1, 40 * kMbit)})), Limit::kUnknown) << "its windows still grow";
}

TEST(Diagnosed, AsWindowWhereLanesWaitForReceiveWindowsHere) {
  DiagnosedSource window = source(1, 64 * kMbit);
  window.path.window_limited = 0.9;
  Findings findings = findings_of(transfer_from({window}));
  EXPECT_EQ(findings.limit, Limit::kWindow);
  EXPECT_TRUE(says(findings.advice.command, "tcp_rmem")) << findings.advice.command;
  DiagnosedTransfer shared = transfer_from({window});
  shared.host.lanes_share = true;
  EXPECT_EQ(findings_of(shared).advice.command, "") << "tcp_rmem allows more than the lanes use";
  window.path.lanes = 16;
  EXPECT_EQ(word(transfer_from({window})), Limit::kWindow) << "larger buffers help, whatever the number of lanes";
}
TEST(Diagnosed, AsWindowThoughTheBurstsOfLanesWaitForEachOther) {
  DiagnosedSource bursts = queues(source(1, 290 * kMbit, 16), 3600us);
  bursts.path.window_limited = 0.9;
  EXPECT_EQ(word(transfer_from({bursts})), Limit::kWindow) << "of 400 Mbit/s, 60 ms, windows of 256 kB";
  std::vector<DiagnosedSource> eight;
  for (std::uint8_t i = 1; i <= 8; ++i) {
    eight.push_back(queues(at(source(i, 20 * kMbit, 3), 35ms), 6500us));
    eight.back().path.window_limited = 0.8;
  }
  EXPECT_EQ(word(transfer_from(eight)), Limit::kPath) << "24 windows of 34 kB are more than 165 Mbit/s at 35 ms hold";
}
TEST(Diagnosed, AsWindowOfTheSeederWhereItsSendBuffersAreFull) {
  DiagnosedSource window = source(1, 64 * kMbit);
  window.path.buffer_limited = 0.8;
  const Findings findings = findings_of(transfer_from({window}));
  EXPECT_EQ(findings.limit, Limit::kWindow);
  EXPECT_TRUE(says(findings.advice.command, "tcp_wmem")) << findings.advice.command;
  EXPECT_TRUE(says(findings.advice.text, "seeder's machine")) << findings.advice.text;
}
TEST(Diagnosed, AsCapWhereAPersonAskedForFewerLanesThanWindowsCost) {
  DiagnosedSource window = source(1, 64 * kMbit);
  window.path.window_limited = 0.9;
  DiagnosedTransfer transfer = transfer_from({window});
  transfer.lanes_wish = 4;
  EXPECT_EQ(word(transfer), Limit::kCap);
}

TEST(Diagnosed, AsSeederThatIsPacedByItsOwnersShares) {
  DiagnosedSource paced = source(1, 19 * kMbit);
  paced.path.paced_bits_per_s = 20 * kMbit;
  EXPECT_EQ(word(transfer_from({paced})), Limit::kSeeder);
  paced.path.paced_bits_per_s = 60 * kMbit;
  EXPECT_NE(word(transfer_from({paced})), Limit::kSeeder) << "its pace is not what holds it";
}
TEST(Diagnosed, AsSeederThatHasAnUploadLimit) {
  // It reads blocks for the socket no sooner than its limit allows: something is on its way at all times.
  DiagnosedSource limited = source(1, 30 * kMbit);
  limited.path.empty = 0.95;
  EXPECT_EQ(word(transfer_from({limited})), Limit::kSeeder);
  limited.has_requests = false;
  EXPECT_NE(word(transfer_from({limited})), Limit::kSeeder) << "nothing is asked of it";
}
TEST(Diagnosed, AsSeederThatWaitsForItsDisk) {
  DiagnosedSource slow = source(1, 19 * kMbit);
  slow.path.busy = 0.2;
  EXPECT_EQ(word(transfer_from({slow})), Limit::kSeeder);
  slow.reads_disk = 0.97;
  const Findings findings = findings_of(transfer_from({slow}));
  EXPECT_TRUE(says(findings.detail, "waits for its disk: it reads for 97 % of the time")) << findings.detail;
}
TEST(Diagnosed, AsSeederWhoseProcessorHasNoTimeLeft) {
  DiagnosedSource busy = at(source(1, 700 * kMbit), 2ms);
  busy.network_thread = 0.96;
  const Findings findings = findings_of(transfer_from({busy}));
  EXPECT_EQ(findings.limit, Limit::kSeeder);
  EXPECT_TRUE(says(findings.detail, "has no time left")) << findings.detail;
  EXPECT_EQ(word(transfer_from({queues(busy, 5ms)})), Limit::kPath) << "it fills the link all the same";
}
TEST(Diagnosed, NotAsSeederWhereALimitHoldsRequestsBack) {
  DiagnosedSource idle = source(1, 30 * kMbit);
  idle.path.busy = 0.2;
  DiagnosedTransfer transfer = transfer_from({idle});
  transfer.limit_bits_per_s = 40 * kMbit;
  EXPECT_EQ(word(transfer), Limit::kUnknown) << "its first seconds are in the rate still";
  transfer.limit_bits_per_s = 400 * kMbit;
  EXPECT_EQ(word(transfer), Limit::kSeeder) << "such a limit holds nothing back";
}

// 80, 60 and 20 Mbit/s up, and a receiver's link of 200 Mbit/s or of 140.
TEST(Diagnosed, AsSeederWherePacketsWaitOnTheirOwnWays) {
  const DiagnosedSource large = queues(source(1, 78 * kMbit), 55ms), middle = queues(source(2, 58 * kMbit), 42ms),
                        small = at(source(3, 19 * kMbit, 1), 20ms);
  EXPECT_EQ(word(transfer_from({large, middle, small})), Limit::kSeeder);
}
TEST(Diagnosed, AsPathWhereSomeSeedersAreAtTheirUplinksAndTheLinkHereIsFull) {
  const DiagnosedSource large = queues(source(1, 70 * kMbit), 30ms), middle = queues(source(2, 55 * kMbit), 28ms),
                        small = queues(source(3, 15 * kMbit, 1), 90ms);
  const Findings findings = findings_of(transfer_from({large, middle, small}));
  EXPECT_EQ(findings.limit, Limit::kPath) << "the way that they share";
  EXPECT_EQ(findings.sources[2].held_by, Limit::kSeeder);
}
TEST(Diagnosed, AsCapWhereAPersonAskedForFewerSeedersThanThereAre) {
  DiagnosedSource paced = source(1, 19 * kMbit);
  paced.path.paced_bits_per_s = 20 * kMbit;
  DiagnosedTransfer transfer = transfer_from({paced});
  transfer.seeders_wish = 1;
  transfer.nodes_with_data = 3;
  const Findings findings = findings_of(transfer);
  EXPECT_EQ(findings.limit, Limit::kCap);
  EXPECT_TRUE(says(findings.advice.command, "--seeders auto")) << findings.advice.command;
  transfer.nodes_with_data = 1;
  EXPECT_EQ(word(transfer), Limit::kSeeder) << "there is no other one";
}

TEST(Diagnosed, AsCapWhereALimitIsReached) {
  DiagnosedTransfer transfer = transfer_from({source(1, 30 * kMbit)});
  transfer.limit_bits_per_s = 31 * kMbit;
  EXPECT_EQ(word(transfer), Limit::kCap);
  transfer.limit_bits_per_s = 60 * kMbit;
  EXPECT_NE(word(transfer), Limit::kCap);
  transfer.part_bits_per_s = 31 * kMbit;
  EXPECT_EQ(word(transfer), Limit::kCap);
  EXPECT_TRUE(says(findings_of(transfer).detail, "this node's limit is shared")) << findings_of(transfer).detail;
}
TEST(Diagnosed, AsTargetWithTheNumberThatHoldsIt) {
  DiagnosedTransfer transfer = transfer_from({source(1, 30 * kMbit)});
  transfer.target_bits_per_s = 31 * kMbit;
  EXPECT_EQ(word(transfer), Limit::kTarget);
  EXPECT_TRUE(says(findings_of(transfer).detail, "the rate that was asked for")) << findings_of(transfer).detail;
  transfer.target_bits_per_s = 100 * kMbit;
  transfer.limit_bits_per_s = 31 * kMbit;
  EXPECT_EQ(word(transfer), Limit::kCap) << "the node's limit is below what was asked for";
  EXPECT_TRUE(says(findings_of(transfer).detail, "limit of 31 Mbit/s")) << findings_of(transfer).detail;
}
TEST(Diagnosed, AsTargetWhereNoMoreIsTakenThanADeadlineNeeds) {
  DiagnosedSource idle = source(1, 30 * kMbit);
  idle.path.empty = 0.9;
  DiagnosedTransfer transfer = transfer_from({idle});
  transfer.tuner_limit_bits_per_s = 31 * kMbit;
  EXPECT_EQ(word(transfer), Limit::kUnknown) << "it gives way to others, and no packet waits now";
  transfer.sources[0] = queues(transfer.sources[0], 30ms);
  EXPECT_EQ(word(transfer), Limit::kPath) << "others use it";
  transfer.has_deadline = true;
  const Findings findings = findings_of(transfer);
  EXPECT_EQ(findings.limit, Limit::kTarget);
  EXPECT_TRUE(says(findings.detail, "31 Mbit/s are enough to be in time")) << findings.detail;
}
TEST(Diagnosed, AsReceiverWhereAThreadNeverRests) {
  DiagnosedSource window = source(1, 64 * kMbit);
  window.path.window_limited = 0.9;
  DiagnosedTransfer transfer = transfer_from({window});
  transfer.load = {0.99, 0.8, "gt-pieces"};
  const Findings findings = findings_of(transfer);
  EXPECT_EQ(findings.limit, Limit::kReceiverCpu) << "it does not read, so windows are used up; nor does it write";
  EXPECT_TRUE(says(findings.detail, "the thread gt-pieces of this node wants a core for 99 %")) << findings.detail;
  EXPECT_EQ(findings.sources[0].held_by, Limit::kReceiverCpu);
}
TEST(Diagnosed, AsReceiverWhereItsQuotaOfCpuIsUsedUp) {
  DiagnosedTransfer transfer = transfer_from({queues(source(1, 95 * kMbit), 40ms)});
  transfer.load = {0.3, 0.8, "", 0.9};
  const Findings findings = findings_of(transfer);
  EXPECT_EQ(findings.limit, Limit::kReceiverCpu) << "its disk's threads are stopped as well";
  EXPECT_TRUE(says(findings.detail, "stopped in 90 % of the scheduler's periods")) << findings.detail;
  transfer.load.held_by_quota = 0.2;
  transfer.load.held_by_disk = 0.1;
  EXPECT_EQ(word(transfer), Limit::kPath);
}
TEST(Diagnosed, AsDiskWhereTooMuchWaitsToBeWritten) {
  DiagnosedSource window = source(1, 64 * kMbit);
  window.path.window_limited = 0.9;
  window.path.busy = 0.4;
  DiagnosedTransfer transfer = transfer_from({window});
  transfer.load = {0.3, 0.97, ""};
  const Findings findings = findings_of(transfer);
  EXPECT_EQ(findings.limit, Limit::kDisk) << "neither the windows nor a sender that they stop";
  EXPECT_TRUE(says(findings.detail, "97 % of the time")) << findings.detail;
}
TEST(Diagnosed, NotAsDiskWhereItsQueueIsFullForMomentsOnly) {
  DiagnosedTransfer full = transfer_from({queues(source(1, 95 * kMbit), 40ms)});
  full.load = {0.3, 0.2, ""};
  EXPECT_EQ(word(full), Limit::kPath);
  DiagnosedTransfer lossy = transfer_from({loses(source(1, 67 * kMbit, 4), 2e-4)});
  lossy.load = {0.3, 0.2, ""};
  EXPECT_EQ(word(lossy), Limit::kLoss);
}
TEST(Diagnosed, AsWhatHoldsTheSourcesThatBringMost) {
  DiagnosedSource window = source(1, 64 * kMbit), paced = source(2, 10 * kMbit);
  window.path.window_limited = 0.9;
  paced.path.paced_bits_per_s = 10 * kMbit;
  const Findings findings = findings_of(transfer_from({window, paced}));
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
  EXPECT_EQ(second(1'000'000, 0), Limit::kCap);
  input.limit_bits_per_s = 0;
  EXPECT_EQ(second(1'000'000, 1), Limit::kCap);
  EXPECT_EQ(second(1'000'000, 1), Limit::kCap);
  EXPECT_EQ(second(1'000'000, 1), Limit::kReceiverCpu);
}
TEST(TheDiagnosis, SaysWhatIsMissedWhereNobodySends) {
  Diagnosis diagnosis;
  auto input = input_with(1, 100'000'000);
  input.deadline = input.now + 60s;
  EXPECT_FALSE(diagnosis.look(input).target) << "it has just begun";
  input.now += 1s;
  EXPECT_FALSE(diagnosis.look(input).target);
  input.now += 1s;
  ASSERT_TRUE(diagnosis.look(input).target);
  EXPECT_TRUE(says(diagnosis.look(input).target->text, "nothing comes")) << diagnosis.look(input).target->text;
  input.now += 600s;
  EXPECT_FALSE(diagnosis.look(input).target) << "it was paused";
}
TEST(TheDiagnosis, KeepsItsWordAtTheEndWhenLanesRunDry) {
  Diagnosis diagnosis;
  auto input = input_with(1);
  input.limit_bits_per_s = 8'000'000;
  gridtorrent::testing::stands(input.peers[0], 60'000, "cubic");
  const auto second = [&](std::uint64_t bytes) {
    input.now += 1s;
    input.peers[0].lanes[0].received_bytes += bytes;
    return diagnosis.look(input);
  };
  for (int i = 0; i < 5; ++i) second(1'000'000);
  input.bytes_left = 300'000;
  input.load.busiest_thread = 1;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(second(200'000).limit, Limit::kCap) << "look " << i;
  input.bytes_left = 100'000'000;
  for (int i = 0; i < 3; ++i) second(200'000);
  EXPECT_EQ(second(200'000).limit, Limit::kReceiverCpu) << "it was not the end";
}
TEST(TheDiagnosis, JudgesAPathByTheQueueOfSecondsNotOfAMoment) {
  Diagnosis diagnosis;
  auto input = input_with(1);
  gridtorrent::testing::stands(input.peers[0], 60'000, "cubic");
  auto& lane = input.peers[0].lanes[0];
  const auto second = [&](std::uint32_t round_trip_us) {
    input.now += 1s;
    lane.received_bytes += 12'000'000;
    lane.theirs->srtt_us = round_trip_us;
    lane.theirs->sent_segments += 8'000;
    lane.theirs->sent_bytes += 12'000'000;
    lane.theirs->busy_us += 1'000'000;
    lane.outstanding_blocks = 9;
    return diagnosis.look(input).limit;
  };
  for (int i = 0; i < 12; ++i) second(i % 4 == 3 ? 60'500 : 95'000);
  EXPECT_EQ(second(60'500), Limit::kPath) << "a loss has just emptied the queue";
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
