#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "client/tuning/auto.h"
#include "client/tuning/start.h"
#include "tests/support/tuner_input.h"

namespace gridtorrent::client::tuning {
namespace {

using gridtorrent::testing::input_with;
using gridtorrent::testing::neighbour;
using gridtorrent::testing::numbered_node;
using gridtorrent::testing::stands;

constexpr std::uint64_t kMB = 1'000'000;

StartFacts from(std::vector<StartSource> sources, std::uint64_t bytes = 1200 * kMB) {
  return {bytes, 0, {}, false, std::move(sources)};
}
StartSource seeder(PathKind path = PathKind::kFar) {
  return {.complete = true, .path = path};
}
StartSource fetching(PathKind path = PathKind::kFar) {
  return {.complete = false, .path = path};
}
std::vector<StartSource> many(StartSource source, std::size_t count) {
  return std::vector<StartSource>(count, source);
}
int sum(const std::vector<int>& lanes) {
  return std::accumulate(lanes.begin(), lanes.end(), 0);
}

TEST(StartLanes, OfOneSeederOnALongPathAreEightAndSixteenFromAHundredMegabytesOn) {
  EXPECT_EQ(start_lanes(from({seeder()}, 99 * kMB)), std::vector{8});
  EXPECT_EQ(start_lanes(from({seeder()}, 100 * kMB)), std::vector{16});
  EXPECT_EQ(start_lanes(from({seeder()}, ~std::uint64_t{0})), std::vector{16});
}
TEST(StartLanes, OnAPathThatIsNotKnownAreThoseOfALongOne) {
  EXPECT_EQ(start_lanes(from({seeder(PathKind::kUnknown)})), std::vector{16})
      << "lanes that are opened later cost up to a second, lanes too many on a near path cost next to nothing";
}
TEST(StartLanes, AreTwoOnANearPathAndUnderBbr) {
  EXPECT_EQ(start_lanes(from({seeder(PathKind::kNear)})), std::vector{2});
  EXPECT_EQ(start_lanes(from({seeder(PathKind::kBbr)})), std::vector{2});
}
TEST(StartLanes, AreOneUnderBbrWhereItsWindowLetsItCarryAGigabit) {
  StartSource source = seeder(PathKind::kBbr);
  source.round_trip = std::chrono::milliseconds(60);
  StartFacts facts = from({source});
  facts.host.lane_bytes = 8 * kMB;
  EXPECT_EQ(start_lanes(facts), std::vector{1});
  facts.host.lane_bytes = 6 * kMB;
  EXPECT_EQ(start_lanes(facts), std::vector{2});
  facts.host.lane_bytes = 8 * kMB;
  facts.sources[0].round_trip = {};
  EXPECT_EQ(start_lanes(facts), std::vector{2}) << "not known";
  facts.sources[0].round_trip = std::chrono::microseconds(40);
  EXPECT_EQ(start_lanes(facts), std::vector{2}) << "near: the second costs nothing";
}
TEST(StartLanes, UnderBbrAreAsManyAsCarryAGigabitByWindows) {
  StartSource source = seeder(PathKind::kBbr);
  source.round_trip = std::chrono::milliseconds(200);
  StartFacts facts = from({source});
  facts.host.lane_bytes = 6 * kMB;  // 240 Mbit/s
  EXPECT_EQ(start_lanes(facts), std::vector{4}) << "no more than the even plan gives";
  facts.host.lane_bytes = 9 * kMB;
  EXPECT_EQ(start_lanes(facts), std::vector{3});
  facts.sources.push_back(source);
  EXPECT_EQ(start_lanes(facts), (std::vector{2, 2})) << "several carry it together";
}
TEST(StartLanes, AreSixteenForFewBytesWhereWindowsAreSmall) {
  StartSource source = seeder();
  source.round_trip = std::chrono::milliseconds(100);
  StartFacts facts = from({source}, 90 * kMB);
  facts.host.lane_bytes = 4 * kMB;
  EXPECT_EQ(start_lanes(facts), std::vector{8});
  facts.host.lane_bytes = 256'000;  // 20 Mbit/s
  EXPECT_EQ(start_lanes(facts), std::vector{16});
}
TEST(StartLanes, WhereOthersGoFirstAreTwoOrAsManyAsWindowsTakeForTheFloor) {
  StartSource source = seeder();
  source.round_trip = std::chrono::milliseconds(60);
  StartFacts facts = from({source});
  facts.polite = true;
  facts.host.lane_bytes = 8 * kMB;
  facts.floor_bits_per_s = 374e6;
  EXPECT_EQ(start_lanes(facts), std::vector{2}) << "one carries a gigabit";
  facts.host.lane_bytes = 256 * 1024;  // 35 Mbit/s a lane
  EXPECT_EQ(start_lanes(facts), std::vector{11});
  facts.floor_bits_per_s = 10e9;
  EXPECT_EQ(start_lanes(facts), std::vector{32});
  facts.floor_bits_per_s = 0;
  EXPECT_EQ(start_lanes(facts), std::vector{2});
  facts.sources = many(source, 20);
  EXPECT_EQ(sum(start_lanes(facts)), 20) << "neighbours come before lanes";
}
TEST(StartLanes, OnALongPathThatIsRememberedAreEightAtLeast) {
  StartSource source = seeder();
  source.remembered = 2;
  EXPECT_EQ(start_lanes(from({source})), std::vector{8}) << "two fill it slowly";
  source.path = PathKind::kNear;
  EXPECT_EQ(start_lanes(from({source})), std::vector{2});
  source.path = PathKind::kFar;
  source.remembered = 12;
  EXPECT_EQ(start_lanes(from({source})), std::vector{12});
}
TEST(StartLanes, AreFourWhereTheSeederGrantsBbr) {
  StartSource source = seeder();
  source.grants_bbr = true;
  EXPECT_EQ(start_lanes(from({source})), std::vector{4});
}
TEST(StartLanes, OfSeveralSeedersAreEightEachUpToThirtyTwo) {
  for (const std::size_t count : {2U, 4U}) EXPECT_EQ(start_lanes(from(many(seeder(), count))), std::vector(count, 8));
  EXPECT_EQ(start_lanes(from(many(seeder(), 5))), std::vector(5, 6));
  EXPECT_EQ(start_lanes(from(many(seeder(), 30))), std::vector(30, 1));
}
TEST(StartLanes, OfSeveralSeedersShareEightForFewBytesAndAreNeverFewerThanTheEvenPlans) {
  EXPECT_EQ(start_lanes(from(many(seeder(), 2), 90 * kMB)), (std::vector{4, 4}));
  for (const std::size_t count : {4U, 8U}) {
    EXPECT_EQ(start_lanes(from(many(seeder(), count), 90 * kMB)), std::vector(count, 4));
  }
}
TEST(StartLanes, InASwarmThatFetchesAreTheEvenPlansForEachNeighbour) {
  auto sources = many(fetching(), 7);
  sources.insert(sources.begin(), seeder());
  EXPECT_EQ(start_lanes(from(sources)), std::vector(8, 4)) << "as in swarm-8";
  sources = many(fetching(), 29);
  sources.insert(sources.begin(), seeder());
  EXPECT_EQ(start_lanes(from(sources)), std::vector(30, 1)) << "as in swarm-30";
  EXPECT_EQ(start_lanes(from({seeder(), fetching()})), (std::vector{8, 4}))
      << "two that fetch from one seeder have sixteen to it together";
}
TEST(StartLanes, AreSharedByTransfersFromTheSameSeeder) {
  EXPECT_EQ(start_lanes(from({{.complete = true, .path = PathKind::kFar, .transfers = 2}})), std::vector{8});
  EXPECT_EQ(start_lanes(from({{.complete = true, .path = PathKind::kFar, .transfers = 4}})), std::vector{4});
  EXPECT_EQ(start_lanes(from({{.complete = true, .path = PathKind::kFar, .transfers = 1000}})), std::vector{4});
}
TEST(StartLanes, AreNoMoreThanALimitHasUseFor) {
  auto facts = from({seeder()});
  facts.limit_bits_per_s = 20 * kMB;
  EXPECT_EQ(start_lanes(facts), std::vector{5});
  facts.limit_bits_per_s = kMB;
  EXPECT_EQ(start_lanes(facts), std::vector{2});
  facts.limit_bits_per_s = 1000 * kMB;
  EXPECT_EQ(start_lanes(facts), std::vector{16});
}
TEST(StartLanes, AreNoMoreThanTheBytesToCome) {
  EXPECT_EQ(start_lanes(from({seeder()}, 1)), std::vector{2});
  EXPECT_EQ(start_lanes(from({seeder()}, 200'000)), std::vector{4});
  EXPECT_EQ(start_lanes(from({seeder()}, kMB)), std::vector{8});
}
TEST(StartLanes, AreNoMoreThanTheKernelsBuffersCarry) {
  auto facts = from({seeder()});
  facts.host = {6 * kMB, 40 * kMB};
  EXPECT_EQ(start_lanes(facts), std::vector{6});
  facts.host = {64 * kMB, kMB};
  EXPECT_EQ(start_lanes(facts), std::vector{2});
  facts.host = {6 * kMB, 0};
  EXPECT_EQ(start_lanes(facts), std::vector{16}) << "what is not known binds nothing";
}
TEST(StartLanes, TakeNoMoreThanAQuarterOfTheDescriptors) {
  auto facts = from(many(seeder(), 4));
  EXPECT_EQ(start_lanes(facts), (std::vector{8, 8, 8, 8}));
  facts.host.descriptors = 80;
  EXPECT_EQ(start_lanes(facts), (std::vector{5, 5, 5, 5}));
  facts.host.descriptors = 2;
  EXPECT_EQ(start_lanes(facts), (std::vector{1, 1, 1, 1})) << "no source is left out";
}
TEST(StartLanes, GoDownEvenlyWhereSomethingBindsThem) {
  auto facts = from(many(seeder(), 4));
  facts.limit_bits_per_s = 27 * kMB;  // six lanes
  EXPECT_EQ(start_lanes(facts), (std::vector{2, 2, 1, 1}));
  facts.limit_bits_per_s = 1;
  EXPECT_EQ(start_lanes(facts), std::vector(4, 1)) << "never below one to each";
}
TEST(StartLanes, OfAHundredAndTwentyEightSourcesAreOneEach) {
  EXPECT_EQ(sum(start_lanes(from(many(seeder(PathKind::kUnknown), 128)))), 128);
}

TEST(PathOf, IsUnknownUntilALaneHasARoundTrip) {
  auto peer = input_with(1).peers[0];
  EXPECT_EQ(path_of(peer).kind, PathKind::kUnknown);
  stands(peer, 0);
  EXPECT_EQ(path_of(peer).kind, PathKind::kUnknown);
}
TEST(PathOf, IsNearBelowFiveMilliseconds) {
  auto peer = input_with(1).peers[0];
  stands(peer, 5000);
  EXPECT_EQ(path_of(peer).kind, PathKind::kFar);
  stands(peer, 4999);
  EXPECT_EQ(path_of(peer).kind, PathKind::kNear) << "the least of all lanes counts";
}
TEST(PathOf, KnowsBbrByTheSendersWordAlone) {
  auto peer = input_with(1).peers[0];
  stands(peer, 50'000);
  peer.lanes[0].own->congestion_control = "bbr";
  EXPECT_EQ(path_of(peer).kind, PathKind::kFar) << "what this end would send with says nothing";
  for (const char* name : {"bbr", "bbr3"}) {
    stands(peer, 50'000, name);
    EXPECT_EQ(path_of(peer).kind, PathKind::kBbr) << name;
  }
}

TEST(Learn, KeepsAPathThatNeedsFewLanes) {
  const Path near{PathKind::kNear, std::chrono::milliseconds(2), ""},
      far{PathKind::kFar, std::chrono::milliseconds(9), ""};
  EXPECT_EQ(learn(near, far), near);
  EXPECT_EQ(learn(far, near), near);
  const Path cubic{PathKind::kFar, std::chrono::milliseconds(9), "cubic"},
      bbr{PathKind::kBbr, std::chrono::milliseconds(9), "bbr"};
  EXPECT_EQ(learn(far, bbr), bbr) << "the first that the sender says of itself";
  EXPECT_EQ(learn(cubic, bbr), cubic) << "it was asked for";
  EXPECT_EQ(learn(far, {}), far) << "lanes that are gone take nothing back";
}

TEST(AutoController, StartsWideAndNarrowsOnceTheFirstHandshakeShowsANearPath) {
  AutoController controller;
  auto input = input_with(1);
  EXPECT_EQ(controller.plan(input).peers.front().lanes, 16);
  EXPECT_EQ(controller.plan(input).reason.text, "auto: 16 lanes to 1 seeder (1.2 GB to come; path not known yet)");
  stands(input.peers[0], 2'000, "cubic");
  EXPECT_EQ(controller.plan(input).peers.front().lanes, 2);
  EXPECT_EQ(controller.plan(input).reason.text,
            "auto: 2 lanes to 1 seeder (1.2 GB to come; RTT 2.0 ms, cubic: a near path needs few)");
}
TEST(AutoController, KeepsItsPlanAsBytesComeAndRoundTripsVary) {
  AutoController controller;
  auto input = input_with(1);
  stands(input.peers[0], 50'000, "cubic");
  const Plan first = controller.plan(input);
  EXPECT_EQ(first.reason.text, "auto: 16 lanes to 1 seeder (1.2 GB to come; RTT 50.0 ms, cubic)");
  input.bytes_left = 10 * kMB;
  input.peers[0].lanes[0].own->min_rtt_us = 80'000;
  EXPECT_EQ(controller.plan(input), first);
}
TEST(AutoController, GivesAPersonWhatTheyAskFor) {
  AutoController controller;
  auto input = input_with(1);
  input.lanes_wish = 5;
  stands(input.peers[0], 100, "bbr");
  EXPECT_EQ(controller.plan(input).peers.front().lanes, 5);
  EXPECT_EQ(controller.plan(input).reason.text, "auto: 5 lanes to each of 1 peer, as asked");
}
TEST(AutoController, CountsATransferThatFetchesFromTheSameSeeder) {
  AutoController controller;
  auto input = input_with(1);
  input.others.push_back({TransferId(TransferId::Bytes{7}), {numbered_node(1)}, 0});
  input.others.push_back({TransferId(TransferId::Bytes{8}), {numbered_node(9)}, 0});
  EXPECT_EQ(controller.plan(input).peers.front().lanes, 8);
}
TEST(AutoController, TakesWhoStillFetchesForANeighbourWhateverElseIsSaid) {
  AutoController controller;
  auto input = input_with(0);
  for (std::uint8_t i = 1; i < 4; ++i) input.peers.push_back(neighbour(i));
  input.peers[0].complete = true;
  for (const auto& share : controller.plan(input).peers) EXPECT_EQ(share.lanes, 4);
  EXPECT_EQ(controller.plan(input).reason.text,
            "auto: 12 lanes to 3 neighbours (1.2 GB to come; 0 of 3 paths near or with BBR)");
}

}  // namespace
}  // namespace gridtorrent::client::tuning
