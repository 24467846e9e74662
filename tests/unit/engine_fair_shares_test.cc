#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "client/engine/fair_shares.h"
#include "common/rng.h"

namespace gridtorrent::client::engine {
namespace {

using std::chrono::seconds;
using ::testing::DoubleNear;
using ::testing::ElementsAre;

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

TEST(MaxMinShares, AreEvenWhereAllWantMuch) {
  EXPECT_THAT(max_min_shares(90, {kNoLimit, kNoLimit, 100}), ElementsAre(30, 30, 30));
}

TEST(MaxMinShares, GiveWhatOneDoesNotWantToTheOthers) {
  EXPECT_THAT(max_min_shares(100, {10, kNoLimit, 30, kNoLimit}), ElementsAre(10, 30, 30, 30));
  EXPECT_THAT(max_min_shares(100, {10, 20}), ElementsAre(10, 20));
  EXPECT_THAT(max_min_shares(100, {}), ElementsAre());
}

/// Nodes behind one uplink, whose lanes take equal parts of it, as TCP's do; a lane grows by a step a second.
struct FairSharesTest : testing::Test {
  struct Peer {
    PeerKey key;
    int lanes = 1;
    double most = kNoLimit;  ///< by its own path
    double step = kNoLimit;  ///< a second
    double rate = 0;
    bool wants_more = true;
  };
  Peer& add(int lanes, double most = kNoLimit, double step = kNoLimit) {
    peers.push_back({{NodeId::make({}, rng), ""}, lanes, most, step});
    return peers.back();
  }
  /// What went out in each of the rounds, on average.
  double last(int rounds) {
    double sent = 0;
    for (int round = 0; round < rounds; ++round) {
      std::vector<double> rates(peers.size(), 0);
      std::vector<double> room;
      for (const Peer& peer : peers) {
        const auto share = shares.find(peer.key);
        const double allowed = share == shares.end() ? kNoLimit : share->second.share + share->second.credit;
        room.push_back(std::min({peer.most, peer.rate + peer.step, allowed, peer.wants_more ? kNoLimit : 1.0}));
      }
      for (int pass = 0; pass < 10; ++pass) {  // what some cannot take, the others do
        double left = uplink;
        int lanes = 0;
        for (std::size_t i = 0; i < peers.size(); ++i) {
          left -= rates[i];
          if (rates[i] < room[i]) lanes += peers[i].lanes;
        }
        if (lanes == 0 || left < 1e-6) break;
        for (std::size_t i = 0; i < peers.size(); ++i) {
          if (rates[i] < room[i]) rates[i] = std::min(room[i], rates[i] + left * peers[i].lanes / lanes);
        }
      }
      std::map<PeerKey, Sending> sending;
      for (std::size_t i = 0; i < peers.size(); ++i) {
        peers[i].rate = rates[i];
        sending[peers[i].key] = {rates[i], peers[i].wants_more};
      }
      now += seconds(1);
      shares = fair.decide(now, sending);
      sent += total() / rounds;
    }
    return sent;
  }
  double total() const {
    double sum = 0;
    for (const Peer& peer : peers) sum += peer.rate;
    return sum;
  }

  SeededRng rng{7};
  FairShares fair;
  double uplink = 100;
  std::vector<Peer> peers;
  std::map<PeerKey, Allowance> shares;
  MonoTime now{seconds(100)};
};

TEST_F(FairSharesTest, KeepOutWhereNobodyIsAtADisadvantage) {
  add(16);
  last(20);
  EXPECT_TRUE(shares.empty()) << "alone, it takes what there is";
  add(16);
  add(12);
  last(20);
  EXPECT_TRUE(shares.empty()) << "they are near enough";
}

TEST_F(FairSharesTest, KeepOutWhereTheUplinkIsNotWhatLimits) {
  add(1, 10);
  add(16, kNoLimit, 5);
  last(12);
  EXPECT_TRUE(shares.empty()) << "the other is still growing";
  EXPECT_GT(peers[1].rate, 50);
}

TEST_F(FairSharesTest, KeepOutWhereNodesTakeTurnsInWantingLess) {
  for (int i = 0; i < 8; ++i) add(4);
  for (int round = 0; round < 200; ++round) {
    for (Peer& peer : peers) peer.most = 4 + static_cast<double>(rng.below(200)) / 10;
    last(1);
    ASSERT_TRUE(shares.empty()) << round;
  }
}

TEST_F(FairSharesTest, LoseLittleOfTheUplinkWhereNodesTakeTurnsInWantingLess) {
  add(1, 1);  // by its own path: a reason to share for ever
  for (int i = 0; i < 7; ++i) add(4);
  uplink = 75;  // when sharing begins
  double sent = 0;
  for (int round = 0; round < 220; ++round) {
    for (std::size_t i = 1; i < peers.size(); ++i) peers[i].most = 10 + static_cast<double>(rng.below(15));
    if (round == 10) uplink = 100;
    const double now_sent = last(1);
    if (round >= 20) sent += now_sent / 200;
  }
  ASSERT_FALSE(shares.empty());
  EXPECT_GT(sent, 92);
}

TEST_F(FairSharesTest, GiveOneLaneAsMuchAsSixteen) {
  add(1);
  add(16);
  last(3);
  EXPECT_LT(peers[0].rate, 10);
  last(10);
  EXPECT_THAT(peers[0].rate / total(), DoubleNear(0.5, 0.05));
  EXPECT_GT(total(), 97);
}

TEST_F(FairSharesTest, HavePatienceWithALaneThatGrowsSlowly) {
  add(1, kNoLimit, 2.5);
  add(16);
  last(30);
  EXPECT_THAT(peers[0].rate / total(), DoubleNear(0.5, 0.06));
}

TEST_F(FairSharesTest, LeaveToTheOthersWhatAnyoneCannotTake) {
  add(4, 10);
  add(4);
  add(16);
  last(30);
  EXPECT_THAT(peers[0].rate, DoubleNear(10, 0.1));
  EXPECT_THAT(peers[1].rate, DoubleNear(peers[2].rate, 3));
  EXPECT_GT(total(), 90);
}

TEST_F(FairSharesTest, DrawNobodyDownToThoseWhoCannotTakeMore) {
  for (int i = 0; i < 3; ++i) add(4, 15);
  add(16, 55);  // at an uplink that all of them cannot fill
  last(10);
  add(16, 55);
  EXPECT_GT(last(100), 90);
  peers.pop_back();
  last(100);
  EXPECT_GT(peers[3].rate, 50);
}

TEST_F(FairSharesTest, AreFairAgainWhenAPathThatLimitedIsFree) {
  add(1);
  add(16, 20);
  add(16);
  last(60);
  peers[1].most = kNoLimit;
  last(20);
  for (const Peer& peer : peers) EXPECT_THAT(peer.rate, DoubleNear(33, 5));
}

TEST_F(FairSharesTest, AreFairSoonWhenThereIsMuchLessToShare) {
  add(1, kNoLimit, 2);
  add(16);
  last(60);
  EXPECT_THAT(peers[0].rate / total(), DoubleNear(0.5, 0.06));
  uplink = 40;
  peers[0].rate = 2;
  last(25);
  EXPECT_THAT(peers[0].rate / total(), DoubleNear(0.5, 0.1));
}

TEST_F(FairSharesTest, NoticeAlsoWhoIsServedOnlyNowAndThen) {
  const PeerKey starved{NodeId::make({}, rng), ""}, greedy{NodeId::make({}, rng), ""};
  for (int round = 0; round < 10; ++round) {
    now += seconds(1);
    shares = fair.decide(now, {{starved, {round % 3 == 0 ? 6.0 : 0, true}}, {greedy, {98, true}}});
  }
  EXPECT_FALSE(shares.empty());
}

TEST_F(FairSharesTest, LetGoWhenOneIsLeft) {
  add(1);
  add(16);
  last(10);
  ASSERT_FALSE(shares.empty());
  peers[0].wants_more = false;
  last(6);
  EXPECT_TRUE(shares.empty());
  EXPECT_GT(peers[1].rate, 95);
}

TEST_F(FairSharesTest, AreNotUpsetByAMomentInWhichOneHasAllItWanted) {
  add(1);
  add(16);
  last(15);
  for (int i = 0; i < 5; ++i) {
    now += seconds(1);
    shares = fair.decide(now, {{peers[0].key, {48, i % 2 == 0}}, {peers[1].key, {48, i % 2 == 1}}});
    EXPECT_FALSE(shares.empty()) << i;
  }
}

TEST_F(FairSharesTest, TakeThreeBadSecondsForASmallerUplinkNotOne) {
  add(1, kNoLimit, 2.5);
  add(16);
  last(8);
  const auto shared_out = [&] { return shares.begin()->second.share + shares.rbegin()->second.share; };
  ASSERT_GT(shared_out(), 90);
  uplink = 30;
  last(2);
  EXPECT_GT(shared_out(), 90);
  last(1);
  EXPECT_LT(shared_out(), 80);
}

TEST_F(FairSharesTest, FindOutThatThereIsMoreToShareAndLess) {
  add(1);
  add(16);
  last(20);
  uplink = 200;
  last(80);
  EXPECT_GT(total(), 180);
  EXPECT_THAT(peers[0].rate / total(), DoubleNear(0.5, 0.06));
  uplink = 60;
  last(30);
  EXPECT_GT(total(), 55);
  EXPECT_THAT(peers[0].rate / total(), DoubleNear(0.5, 0.06));
}

TEST(LanePace, GivesBusyLanesWhatSlowOnesDoNotCarry) {
  LanePace pace;
  double rate = pace.next({160}, 300, 16);
  EXPECT_EQ(rate, 10) << "what went out before it was paced says nothing";
  for (int round = 0; round < 20; ++round) {
    const double sent = 12 * std::min(rate, 2.0) + 4 * rate;  // twelve lanes carry no more than 2
    rate = pace.next({160}, sent, 16);
  }
  EXPECT_THAT(rate, DoubleNear(34, 2));
}

TEST(LanePace, LeavesACreditToWhoTakesItAndIsNotWoundUpByWhoDoesNot) {
  for (const double sent : {100.0, 150.0, 200.0}) {
    LanePace pace;
    double rate = 0;
    for (int round = 0; round < 20; ++round) rate = pace.next({100, 100}, sent, 4);
    EXPECT_EQ(rate, 50) << sent;
  }
}

TEST(LanePace, IsNotWoundUpByAPathThatCarriesLess) {
  LanePace pace;
  for (int round = 0; round < 60; ++round) pace.next({50}, 20, 16);
  double rate = 0;
  for (int round = 0; round < 8; ++round) rate = pace.next({50}, rate > 0 ? 16 * rate : 300, 16);
  EXPECT_THAT(16 * rate, DoubleNear(50, 5));
  LanePace single;
  for (int round = 0; round < 60; ++round) rate = single.next({50}, 20, 1);
  EXPECT_LE(rate, 60);
}

TEST(LanePace, TakesBackWhatTheKernelSendsBeyond) {
  LanePace pace;
  double rate = pace.next({100}, 100, 4);
  for (int round = 0; round < 20; ++round) rate = pace.next({100}, 4 * rate * 1.2, 4);
  EXPECT_THAT(rate, DoubleNear(25 / 1.2, 1));
}

}  // namespace
}  // namespace gridtorrent::client::engine
