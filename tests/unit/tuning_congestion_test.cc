// Whether a source is asked for BBR, and when that ends.
#include <gtest/gtest.h>

#include "client/tuning/auto.h"
#include "client/tuning/congestion_choice.h"
#include "tests/support/tuner_input.h"

namespace gridtorrent::client::tuning {
namespace {

using namespace std::chrono_literals;

constexpr double kMbit = 1e6;

/// A seeder that grants BBR, 60 ms away, whose CUBIC lanes carry 71 Mbit/s in all; 0.1 % of the packets get lost at
/// random, so that a lane comes to some 7 Mbit/s.
class AskingForBbr : public ::testing::Test {
 protected:
  AskingForBbr() {
    facts_.granted = true;
    PathFigures& path = facts_.path;
    path.seconds = 10;
    path.lanes = 8;
    path.bits_per_s = path.best_bits_per_s = 71 * kMbit;
    path.round_trip = path.least_round_trip = 60ms;
    path.congestion_control = "cubic";
    path.segments = 60'000;
    path.loss_events = path.random_events = 60;
    path.resent = 0.001;
    path.busy = 1;
    facts_.recent = path;
  }
  std::string step() {
    now_ += 1s;
    return choice_.step(now_, facts_);
  }
  std::string steps(int count) {
    std::string last;
    for (int i = 0; i < count; ++i) last = step();
    return last;
  }
  void sender_uses(const char* name) { facts_.path.congestion_control = facts_.recent.congestion_control = name; }
  void brings(double rate) { facts_.path.bits_per_s = facts_.recent.bits_per_s = rate; }
  /// It is asked, changes, and brings that for as long as a trial takes.
  void trial(double rate) {
    ASSERT_EQ(step(), "bbr");
    sender_uses("bbr");
    brings(rate);
    steps(6);
  }
  MonoTime now_{1h};
  CongestionFacts facts_;
  CongestionChoice choice_;
};

TEST_F(AskingForBbr, IsNotDoneWhereTheSenderDoesNotGrantIt) {
  facts_.granted = false;
  EXPECT_EQ(steps(10), "");
  EXPECT_TRUE(choice_.why().empty());
}
TEST_F(AskingForBbr, IsNotDoneWhereOthersGoFirst) {
  facts_.polite = true;
  EXPECT_EQ(steps(10), "");
}
TEST_F(AskingForBbr, IsNotDoneWhileAnotherTransferOverThePathTriesSomething) {
  facts_.others_try = true;
  EXPECT_EQ(steps(10), "");
  facts_.others_try = false;
  EXPECT_EQ(step(), "bbr");
  facts_.others_try = true;
  EXPECT_EQ(step(), "bbr") << "what has begun goes on";
}
TEST_F(AskingForBbr, IsNotDoneWhereTheSeederGivesNoMore) {
  facts_.path.paced_bits_per_s = 75 * kMbit;
  EXPECT_EQ(steps(10), "");
  facts_.path.paced_bits_per_s = 0;
  EXPECT_EQ(step(), "bbr");
}
TEST_F(AskingForBbr, IsNotDoneWhereAFullQueueDropsPackets) {
  facts_.path.random_events = 0;
  EXPECT_EQ(steps(10), "");
}
TEST_F(AskingForBbr, IsNotDoneWhereMostLossesComeWithAQueue) {
  facts_.path.loss_events = 130;
  EXPECT_EQ(steps(10), "") << "others may share that queue, and would lose by it";
}
TEST_F(AskingForBbr, IsNotDoneForAHandfulOfLosses) {
  facts_.path.segments = 9'000;
  facts_.path.loss_events = facts_.path.random_events = 9;
  EXPECT_EQ(steps(10), "");
}
TEST_F(AskingForBbr, IsNotDoneWhereTwoLanesWillDo) {
  facts_.path.segments = 6'000'000;
  EXPECT_EQ(steps(10), "");
}
TEST_F(AskingForBbr, IsNotDoneWhereALimitNeedsNoMoreThanTwoLanes) {
  facts_.limit_bits_per_s = 10 * kMbit;
  EXPECT_EQ(steps(10), "");
}
TEST_F(AskingForBbr, IsNotDoneWhereTheTransferEndsBeforeItPays) {
  facts_.seconds_left = 14;
  EXPECT_EQ(steps(10), "");
}
TEST_F(AskingForBbr, IsNotDoneBeforeSlowStartHasEnded) {
  facts_.path.seconds = 3;
  EXPECT_EQ(steps(10), "");
}
TEST_F(AskingForBbr, IsNotDoneWhereTheSenderUsesItAnyway) {
  sender_uses("bbr");
  EXPECT_EQ(steps(10), "");
}
TEST_F(AskingForBbr, IsNotDoneWhereTheSenderTellsNothing) {
  facts_.path = facts_.recent = PathFigures();
  EXPECT_EQ(steps(10), "");
}

TEST_F(AskingForBbr, IsDoneWhereRandomLossesTakeManyLanes) {
  EXPECT_EQ(step(), "bbr");
  EXPECT_TRUE(choice_.changes());
  EXPECT_EQ(choice_.why(), "0.1 % of packets lost at random: BBR is tried against 71 Mbit/s");
}
TEST_F(AskingForBbr, LeavesTheLanesAloneUntilItHasProvedItself) {
  step();
  sender_uses("bbr");
  brings(95 * kMbit);
  for (int second = 0; second < 5; ++second) {
    EXPECT_EQ(step(), "bbr");
    EXPECT_TRUE(choice_.changes()) << second;
  }
  step();
  EXPECT_FALSE(choice_.changes());
}
TEST_F(AskingForBbr, TriesForLongerWhereRoundTripsAreLong) {
  facts_.path.least_round_trip = 300ms;
  trial(95 * kMbit);
  EXPECT_TRUE(choice_.changes());
  steps(8);
  EXPECT_FALSE(choice_.changes());
}
TEST_F(AskingForBbr, GoesOnWhereItBringsMore) {
  trial(95 * kMbit);
  EXPECT_EQ(choice_.why(), "BBR brought 95 instead of 71 Mbit/s");
  EXPECT_EQ(steps(600), "bbr");
}
TEST_F(AskingForBbr, GoesOnWhereItBringsAsMuchSinceFewerLanesThenDo) {
  trial(69 * kMbit);
  EXPECT_EQ(steps(60), "bbr");
}
TEST_F(AskingForBbr, EndsWhereItBringsLess) {
  trial(60 * kMbit);
  EXPECT_EQ(step(), "");
  EXPECT_EQ(choice_.why(), "BBR brought 60 instead of 71 Mbit/s");
}
TEST_F(AskingForBbr, EndsWhereMuchIsSentAgain) {
  facts_.recent.resent = 0.05;
  trial(80 * kMbit);
  EXPECT_EQ(step(), "");
  EXPECT_EQ(choice_.why(), "with BBR 5 % were sent again, before 0.1 %");
}
TEST_F(AskingForBbr, GoesOnWhereItBringsMuchMoreThoughTheLanesBesideItSendSomeAgain) {
  facts_.recent.resent = 0.05;
  trial(95 * kMbit);
  EXPECT_EQ(choice_.why(), "BBR brought 95 instead of 71 Mbit/s");
  EXPECT_EQ(steps(60), "bbr") << "with few lanes it is over";
}
TEST_F(AskingForBbr, EndsWhereVeryMuchIsSentAgainWhateverItBrings) {
  facts_.recent.resent = 0.15;
  trial(95 * kMbit);
  EXPECT_EQ(step(), "");
}
TEST_F(AskingForBbr, EndsWhereMuchIsStillSentAgainOnceItsLanesAreFew) {
  facts_.recent.resent = facts_.path.resent = 0.001;
  ASSERT_EQ(step(), "bbr");
  sender_uses("bbr");
  brings(95 * kMbit);
  facts_.recent.resent = facts_.path.resent = 0.05;
  steps(6);
  EXPECT_EQ(steps(15), "bbr");
  EXPECT_EQ(steps(10), "");
}
TEST_F(AskingForBbr, EndsLaterWhereMuchIsSentAgainLater) {
  trial(95 * kMbit);
  ASSERT_EQ(steps(60), "bbr");
  facts_.path.resent = 0.05;
  EXPECT_EQ(step(), "");
}
TEST_F(AskingForBbr, EndsWhereTheSenderDoesNotChange) {
  EXPECT_EQ(steps(5), "bbr");
  EXPECT_EQ(step(), "");
  EXPECT_EQ(choice_.why(), "the seeder did not change to BBR");
}
TEST_F(AskingForBbr, EndsWhereOthersGoFirstAndWhereItIsNoLongerGranted) {
  trial(95 * kMbit);
  facts_.polite = true;
  EXPECT_EQ(step(), "");
  sender_uses("cubic");
  facts_.polite = false;
  steps(1);
  EXPECT_EQ(step(), "bbr");
  facts_.granted = false;
  EXPECT_EQ(step(), "");
}

TEST_F(AskingForBbr, IsDoneAtOnceWhereItIsRemembered) {
  const PathFigures later = facts_.path;
  facts_.remembered = 0.001;
  facts_.path = facts_.recent = PathFigures();
  facts_.granted = false;
  EXPECT_EQ(step(), "") << "it is granted no longer";
  facts_.granted = true;
  EXPECT_EQ(step(), "bbr") << "nothing has come yet";
  EXPECT_EQ(choice_.why(), "BBR is asked for, as before");
  facts_.path = facts_.recent = later;
  sender_uses("bbr");
  EXPECT_EQ(steps(60), "bbr");
  EXPECT_EQ(choice_.why(), "BBR is asked for, as before") << "there was no rate before";
  EXPECT_FALSE(choice_.changes());
}
TEST_F(AskingForBbr, AsIsRememberedIsDoneOnceAndEndsWhereMuchIsSentAgain) {
  facts_.remembered = 0.001;
  ASSERT_EQ(step(), "bbr");
  sender_uses("bbr");
  facts_.recent.resent = 0.15;
  EXPECT_EQ(steps(7), "");
  sender_uses("cubic");
  facts_.path.random_events = facts_.path.loss_events = 0;
  for (int second = 0; second < 300; ++second) ASSERT_EQ(step(), "") << "only what is remembered calls for it";
}
TEST_F(AskingForBbr, AsIsRememberedGoesOnWhereAsMuchWasLostBefore) {
  facts_.remembered = 0.03;
  facts_.path.resent = facts_.recent.resent = 0.035;
  ASSERT_EQ(step(), "bbr");
  sender_uses("bbr");
  EXPECT_EQ(steps(120), "bbr");
}
TEST_F(AskingForBbr, AsIsRememberedEndsOnceThePathIsAnother) {
  facts_.path.random_events = facts_.path.loss_events = 0;
  facts_.remembered = 0.001;
  ASSERT_EQ(step(), "bbr");
  facts_.remembered.reset();
  EXPECT_EQ(step(), "");
  EXPECT_EQ(choice_.why(), "no BBR on a path that is not as it was remembered");
}
TEST_F(AskingForBbr, AsIsRememberedIsComparedWhereThereIsARateAlready) {
  facts_.remembered = 0.001;
  facts_.others_try = true;
  EXPECT_EQ(steps(10), "");
  facts_.others_try = false;
  ASSERT_EQ(step(), "bbr");
  sender_uses("bbr");
  brings(60 * kMbit);
  EXPECT_EQ(steps(7), "");
  EXPECT_EQ(choice_.why(), "BBR brought 60 instead of 71 Mbit/s");
}
TEST_F(AskingForBbr, AsIsRememberedIsNotDoneWhereItsOwnerGivesNoMoreOrALimitIsSet) {
  facts_.remembered = 0.001;
  facts_.path.random_events = facts_.path.loss_events = 0;
  facts_.path.paced_bits_per_s = 71 * kMbit;
  EXPECT_EQ(steps(3), "");
  facts_.path.paced_bits_per_s = 0;
  facts_.limit_bits_per_s = 50 * kMbit;
  EXPECT_EQ(steps(3), "");
  facts_.limit_bits_per_s = 0;
  EXPECT_EQ(step(), "bbr");
}

TEST_F(AskingForBbr, LeavesTheLanesAloneUntilTheSenderHasGoneBack) {
  trial(60 * kMbit);
  EXPECT_EQ(step(), "");
  EXPECT_TRUE(choice_.changes()) << "its figures are BBR's still";
  sender_uses("cubic");
  step();
  EXPECT_FALSE(choice_.changes());
}
TEST_F(AskingForBbr, WaitsAMinuteAfterATrialThatFailedAndTwiceAsLongAfterTheNext) {
  trial(60 * kMbit);
  sender_uses("cubic");
  brings(71 * kMbit);
  EXPECT_EQ(steps(59), "");
  EXPECT_EQ(step(), "bbr");
  sender_uses("bbr");
  brings(60 * kMbit);
  steps(6);
  sender_uses("cubic");
  brings(71 * kMbit);
  EXPECT_EQ(steps(119), "");
  EXPECT_EQ(step(), "bbr");
}

/// A transfer from one seeder over sixteen lanes, of which each loses a packet in a thousand at random.
class AutoOnALossyPath : public ::testing::Test {
 protected:
  AutoOnALossyPath() {
    for (int number = 0; number < 16; ++number) {
      gridtorrent::testing::stands(seeder(), 60'000, "cubic");
      seeder().lanes.back().number = number;
    }
    seeder().grants = {"reno", "bbr"};
  }
  PeerSample& seeder() { return input_.peers.at(0); }
  void sender_uses(const char* name) {
    for (auto& lane : seeder().lanes) lane.theirs->congestion_control = name;
  }
  PeerShare seconds(int count) {
    for (int i = 0; i < count; ++i) {
      input_.now += 1s;
      for (auto& lane : seeder().lanes) {
        lane.received_bytes += 600'000;
        TcpFigures& theirs = *lane.theirs;
        theirs.sent_bytes += 600'000;
        theirs.sent_segments += 600;
        theirs.busy_us += 1'000'000;
        if ((lane.number + i) % 2 != 0) continue;
        ++theirs.loss_events;
        theirs.loss_srtt_us += 60'000;
      }
      plan_ = auto_.plan(input_);
    }
    return plan_.peers.at(0);
  }
  ControllerInput input_ = gridtorrent::testing::input_with(1);
  AutoController auto_;
  Plan plan_;
};

TEST_F(AutoOnALossyPath, AsksForNothingThatTheSeederDoesNotGrant) {
  seeder().grants = {"reno"};
  EXPECT_EQ(seconds(20).congestion_control, "");
}
TEST_F(AutoOnALossyPath, AsksForNothingWhereTheSeederFetchesItself) {
  seeder().complete = false;
  seeder().fetches = true;
  EXPECT_EQ(seconds(20).congestion_control, "");
}
TEST_F(AutoOnALossyPath, GivesLanesUpOnceBbrHasProvedItself) {
  PeerShare share = seconds(6);
  EXPECT_EQ(share.congestion_control, "bbr");
  EXPECT_EQ(share.congestion_lanes, 1) << "several would fill the queue";
  EXPECT_GE(share.lanes, 16);
  EXPECT_NE(plan_.reason.text.find("BBR is tried"), std::string::npos) << plan_.reason.text;
  sender_uses("bbr");
  share = seconds(5);
  EXPECT_EQ(share.congestion_control, "bbr");
  EXPECT_GE(share.lanes, 16) << "it has not proved itself";
  share = seconds(30);
  EXPECT_EQ(share.congestion_control, "bbr");
  EXPECT_EQ(share.lanes, 1) << plan_.reason.text;
  EXPECT_NE(plan_.reason.text.find("BBR brought"), std::string::npos) << plan_.reason.text;
}
TEST_F(AutoOnALossyPath, JudgesNoBbrByATimeInWhichItWasPaused) {
  ASSERT_EQ(seconds(6).congestion_control, "bbr");
  sender_uses("bbr");
  seconds(1);
  input_.now += 1min;
  EXPECT_EQ(seconds(1).congestion_control, "bbr") << "BBR brought nothing while nothing was asked for";
  EXPECT_EQ(seconds(20).congestion_control, "bbr") << plan_.reason.text;
}
TEST_F(AutoOnALossyPath, JudgesNoBbrByATimeInWhichAPersonChoseTheLanes) {
  ASSERT_EQ(seconds(6).congestion_control, "bbr");
  sender_uses("bbr");
  seconds(1);
  input_.lanes_wish = 1;
  for (int i = 0; i < 10; ++i) {  // which bring nothing
    input_.now += 1s;
    auto_.plan(input_);
  }
  input_.lanes_wish = 0;
  EXPECT_EQ(seconds(1).congestion_control, "bbr");
  EXPECT_EQ(seconds(20).congestion_control, "bbr") << plan_.reason.text;
}
TEST_F(AutoOnALossyPath, TriesWithOneTransferAtATime) {
  ControllerInput other = input_;
  other.transfer = TransferId(TransferId::Bytes{2});
  input_.others = {{other.transfer, {seeder().node}, 0}};
  other.others = {{input_.transfer, {seeder().node}, 0}};
  const auto both = [&](int count) {
    Plan second;
    for (int i = 0; i < count; ++i) {
      seconds(1);
      other.now = input_.now;
      other.peers = input_.peers;
      second = auto_.plan(other);
    }
    return second.peers.at(0).congestion_control;
  };
  EXPECT_EQ(both(6), "");
  EXPECT_EQ(plan_.peers.at(0).congestion_control, "bbr") << "the first one tries";
  // Nobody plans for the first one any more: it was paused, or a person named a number of lanes.
  Plan second;
  for (int i = 0; i < 5; ++i) {
    other.now += 1s;
    other.peers = input_.peers;
    second = auto_.plan(other);
  }
  EXPECT_EQ(second.peers.at(0).congestion_control, "bbr") << "nobody waits for a transfer that stands still";
}
TEST_F(AutoOnALossyPath, KeepsBbrWhereANodeThatFetchesComes) {
  EXPECT_EQ(seconds(6).congestion_control, "bbr");
  sender_uses("bbr");
  EXPECT_EQ(seconds(30).congestion_control, "bbr");
  input_.peers.push_back(gridtorrent::testing::neighbour(9));
  const PeerShare share = seconds(20);
  EXPECT_EQ(share.congestion_control, "bbr");
  EXPECT_EQ(share.lanes, 1) << plan_.reason.text << ": one that gives nothing changes nothing";
  ASSERT_EQ(plan_.peers.size(), 2u);
  EXPECT_GE(plan_.peers.at(1).lanes, 1) << "it may have something soon";
}
TEST_F(AutoOnALossyPath, AddsLanesForAFloorAlsoWhereOthersFetch) {
  seeder().grants = {};
  input_.peers.push_back(gridtorrent::testing::neighbour(9));
  input_.mode = TuningMode::kBackground;
  EXPECT_LE(seconds(4).lanes, 4);
  input_.floor_bits_per_s = 150'000'000;  // 76.8 come
  EXPECT_GE(seconds(20).lanes, 4) << plan_.reason.text;
}
TEST_F(AutoOnALossyPath, SaysWhatItLeavesToOthers) {
  input_.mode = TuningMode::kBackground;
  seconds(4);
  EXPECT_EQ(plan_.reason.text.find("go first"), std::string::npos) << plan_.reason.text;
  for (auto& lane : seeder().lanes) lane.theirs->srtt_us = 200'000;
  for (int i = 0; i < 10 && plan_.limit_bits_per_s == 0; ++i) seconds(1);
  const std::string before = plan_.reason.text;
  EXPECT_NE(before.find("; at most "), std::string::npos) << before;
  EXPECT_NE(before.find(" Mbit/s, since others on the path go first"), std::string::npos) << before;
  const std::uint64_t pace = plan_.limit_bits_per_s;
  for (int i = 0; i < 10 && plan_.limit_bits_per_s == pace; ++i) seconds(1);
  EXPECT_LT(plan_.limit_bits_per_s, pace);
  EXPECT_EQ(plan_.reason.text.substr(plan_.reason.text.find("; at")), before.substr(before.find("; at")))
      << "it is told in steps";
}
TEST_F(AutoOnALossyPath, AsksForBbrToBeInTime) {
  input_.mode = TuningMode::kBackground;
  EXPECT_EQ(seconds(10).congestion_control, "") << "others go first";
  input_.mode = TuningMode::kBalanced;
  input_.deadline = input_.now + 20s;
  EXPECT_EQ(seconds(8).congestion_control, "bbr") << plan_.reason.text;
}
TEST_F(AutoOnALossyPath, HasAsManyLanesAsALowLimitTakesThere) {
  seeder().grants = {};
  input_.limit_bits_per_s = 80'000'000;  // sixteen lanes of 4.8 come to 77
  EXPECT_GE(seconds(30).lanes, 14) << plan_.reason.text;
}
TEST_F(AutoOnALossyPath, HasLanesBeyondTheBuffersOfASmallMachine) {
  seeder().grants = {};
  input_.host = {6 << 20, 27'000'000};
  EXPECT_GE(seconds(30).lanes, 14) << "what is on its way is the path's, however many lanes share it: "
                                   << plan_.reason.text;
}
TEST_F(AutoOnALossyPath, KeepsItsLanesWhereTheSeederDoesNotChange) {
  EXPECT_EQ(seconds(6).congestion_control, "bbr");
  const PeerShare share = seconds(20);
  EXPECT_EQ(share.congestion_control, "");
  EXPECT_GE(share.lanes, 16);
}

}  // namespace
}  // namespace gridtorrent::client::tuning
