// Which lane acts for a node, which ends for another, and when one is silent. Time is a number here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "client/engine/lane.h"
#include "client/engine/lane_standing.h"
#include "client/engine/node_link.h"

namespace gridtorrent::client::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kMbit = 1'000'000;

MonoTime at(int ms) {
  return MonoTime{seconds(1000)} + milliseconds(ms);
}

LaneStanding ours(std::uint64_t bits_per_s, int opened_ms = 0) {
  return {true, false, true, false, bits_per_s, at(opened_ms)};
}
LaneStanding theirs(bool proven, std::uint64_t bits_per_s, int opened_ms = 0) {
  return {false, proven, true, false, bits_per_s, at(opened_ms)};
}
LaneStanding silent(LaneStanding lane) {
  lane.silent = true;
  return lane;
}

TEST(ActingForANode, TakesAProofOrADialToWhereTheServerNamesIt) {
  EXPECT_FALSE(acts_for_node(theirs(false, 5 * kMbit))) << "whatever it carries";
  EXPECT_TRUE(acts_for_node(theirs(true, 0)));
  EXPECT_TRUE(acts_for_node(ours(0))) << "an older node proves nothing";
}

TEST(LanesInPlaceOfOurs, AreNoneOfThoseWhoProvedNothing) {
  const std::vector<LaneStanding> lanes(16, theirs(false, 100 * kMbit));
  EXPECT_EQ(lanes_in_place_of_ours(lanes, true), 0);
  EXPECT_EQ(lanes_in_place_of_ours(lanes, false), 0);
}

TEST(LanesInPlaceOfOurs, AreNoneThatDeliverNothingWhileOursDo) {
  std::vector<LaneStanding> lanes(16, theirs(true, 0));
  lanes.push_back(ours(1));
  EXPECT_EQ(lanes_in_place_of_ours(lanes, false), 0) << "a relayed proof is a proof";
}

TEST(LanesInPlaceOfOurs, CarryAtLeastAQuarterOfWhatOursDo) {
  const std::vector<LaneStanding> lanes{ours(100 * kMbit), ours(60 * kMbit), theirs(true, 20 * kMbit),
                                        theirs(true, 19 * kMbit), theirs(false, 90 * kMbit)};
  EXPECT_EQ(lanes_in_place_of_ours(lanes, true), 1);
}

TEST(LanesInPlaceOfOurs, MayBeIdleWhereOursAreIdleUnlessItIsOursToDial) {
  const std::vector<LaneStanding> lanes{ours(0), theirs(true, 0), theirs(true, 0)};
  EXPECT_EQ(lanes_in_place_of_ours(lanes, false), 2);
  EXPECT_EQ(lanes_in_place_of_ours(lanes, true), 0);
  EXPECT_EQ(lanes_in_place_of_ours(std::vector{theirs(true, 0)}, true), 0)
      << "idle lanes of who relays a proof must not keep a start from dialling";
}

TEST(LanesInPlaceOfOurs, AnswerAndAreOpen) {
  LaneStanding greeting = theirs(true, kMbit);
  greeting.open = false;
  EXPECT_EQ(lanes_in_place_of_ours(std::vector{silent(theirs(true, kMbit)), greeting}, false), 0);
  EXPECT_EQ(lanes_in_place_of_ours(std::vector{silent(ours(kMbit)), theirs(true, 0)}, false), 1)
      << "one of ours that is silent delivers nothing";
}

TEST(Places, GoToAllWhereThereAreEnough) {
  EXPECT_THAT(lanes_beyond(std::vector<LaneStanding>(16, theirs(false, 0)), 16), IsEmpty());
  EXPECT_THAT(lanes_beyond({}, 0), IsEmpty());
}

TEST(Places, AreTakenFromTheIdleBeforeThoseThatCarry) {
  const std::vector<LaneStanding> lanes{theirs(true, 0, 10),    theirs(false, kMbit, 0),     theirs(false, 0, 50),
                                        theirs(false, 0, 40),   silent(theirs(true, 0, 60)), theirs(true, kMbit, 0),
                                        theirs(true, kMbit, 20)};
  EXPECT_THAT(lanes_beyond(lanes, 0), ElementsAre(4, 3, 2, 0, 1, 6, 5));
  EXPECT_THAT(lanes_beyond(lanes, 6), ElementsAre(4)) << "what a path that was cut left behind";
}

TEST(Places, AreTakenFromTheOldestOfTheIdleSoThatAFloodKeepsNobodyOut) {
  std::vector<LaneStanding> lanes;
  for (int i = 0; i < 16; ++i) lanes.push_back(theirs(true, 0, i));
  lanes.push_back(theirs(true, 0, 100));
  EXPECT_THAT(lanes_beyond(lanes, 16), ElementsAre(0));
}

TEST(Places, AreKeptByThoseThatCarryAgainstANewcomer) {
  std::vector<LaneStanding> lanes(16, theirs(true, kMbit, 0));
  lanes.push_back(theirs(true, 0, 100));
  EXPECT_THAT(lanes_beyond(lanes, 16), ElementsAre(16));
}

TEST(Silence, IsWhatIsNotAcknowledgedForLong) {
  EXPECT_FALSE(is_silent({false, seconds(100), milliseconds(1)})) << "nothing was asked of it";
  EXPECT_FALSE(is_silent({true, milliseconds(2499), milliseconds(1)}));
  EXPECT_TRUE(is_silent({true, milliseconds(2500), milliseconds(1)}));
  EXPECT_FALSE(is_silent({true, milliseconds(2500), milliseconds(700)})) << "a path by satellite, with queues";
  EXPECT_TRUE(is_silent({true, milliseconds(2800), milliseconds(700)}));
}

TEST(Silence, IsAskedAboutWhereBlocksAreAwaited) {
  EXPECT_FALSE(wants_keep_alive({false, seconds(24), {}}, false));
  EXPECT_TRUE(wants_keep_alive({false, seconds(25), {}}, false)) << "before a NAT forgets the lane";
  EXPECT_FALSE(wants_keep_alive({true, seconds(100), {}}, true)) << "something is on its way";
  EXPECT_FALSE(wants_keep_alive({false, milliseconds(999), {}}, true));
  EXPECT_TRUE(wants_keep_alive({false, milliseconds(1000), {}}, true));
}

TEST(SilentLanes, EndOnceAYoungerOneAnswers) {
  const std::vector<LaneStanding> lanes{silent(ours(0, 0)), silent(ours(0, 10)), ours(0, 5)};
  EXPECT_THAT(silent_lanes_to_end(lanes), ElementsAre(0)) << "the second is younger than what answers";
}

TEST(SilentLanes, StayWhereNobodyElseAnswers) {
  LaneStanding connecting = ours(0, 100);
  connecting.open = false;
  EXPECT_THAT(silent_lanes_to_end(std::vector{silent(ours(0)), connecting}), IsEmpty());
  EXPECT_THAT(silent_lanes_to_end(std::vector{silent(ours(0)), theirs(false, kMbit, 100)}), IsEmpty())
      << "a stranger under the node's id";
  EXPECT_THAT(silent_lanes_to_end(std::vector{silent(ours(0)), theirs(true, 0, 100)}), ElementsAre(0));
}

TEST(DialsDue, AreAllAtFirstAndWhereALaneAnswers) {
  EXPECT_EQ(dials_due(4, Contact::kNone, std::nullopt, at(0)), 4);
  EXPECT_EQ(dials_due(3, Contact::kAnswers, at(0), at(1)), 3);
  EXPECT_EQ(dials_due(-2, Contact::kAnswers, at(0), at(1)), 0);
  EXPECT_EQ(dials_due(4, Contact::kNone, at(0), at(11'000)), 4) << "long after the last";
}

TEST(DialsDue, AreOneASecondWhileNoLaneAnswers) {
  for (const Contact contact : {Contact::kSilent, Contact::kNone}) {
    EXPECT_EQ(dials_due(4, contact, at(0), at(500)), 0);
    EXPECT_EQ(dials_due(4, contact, at(0), at(1000)), 1);
    EXPECT_EQ(dials_due(0, contact, at(0), at(1000)), 0);
  }
  EXPECT_EQ(dials_due(4, Contact::kSilent, at(0), at(60'000)), 1) << "beside lanes that stand";
  EXPECT_EQ(dials_due(4, Contact::kSilent, std::nullopt, at(0)), 1) << "the node had dialled them";
}

/// A node of which four lanes stand while the path is cut, in rounds of a second as libtorrent's: what is tried, and
/// when data flows again. A try that finds no path is given up after `kConnectTimeout`; TCP repeats its SYN after 1 s.
class Blackout {
 public:
  int cut_ms = 0, back_ms = 0;
  int most_tries_in_flight = 0, tries = 0;

  /// When a fresh lane stands, milliseconds after the path's return.
  int flows_after(int round_ms) {
    std::vector<int> in_flight;
    std::optional<MonoTime> last_dial = at(-60'000);
    for (int now = round_ms; now < back_ms + 60'000; now += 1000) {
      for (const int begun : in_flight) {
        for (const int syn : {begun, begun + 1000}) {
          if (syn >= back_ms && syn < begun + kConnectTimeout.count()) return std::max(0, syn - back_ms);
        }
      }
      std::erase_if(in_flight, [&](int begun) { return now - begun >= kConnectTimeout.count() - 200; });
      const TcpLiveness tcp{now - cut_ms >= 1000, milliseconds(std::max(0, now - cut_ms)), milliseconds(1)};
      if (!is_silent(tcp)) continue;
      const int lacking = 4 - static_cast<int>(in_flight.size());
      const int due = dials_due(lacking, Contact::kSilent, last_dial, at(now));
      tries += due;
      for (int i = 0; i < due; ++i) in_flight.push_back(now);
      if (due > 0) last_dial = at(now);
      most_tries_in_flight = std::max(most_tries_in_flight, static_cast<int>(in_flight.size()));
    }
    return -1;
  }
};

TEST(Blackouts, EndWithin3SecondsOfThePathsReturnHoweverLongTheyWere) {
  for (const int cut_s : {6, 10, 40, 600}) {
    for (int round_ms = 0; round_ms < 1000; round_ms += 50) {
      for (int return_ms = 0; return_ms < 1000; return_ms += 50) {
        Blackout blackout;
        blackout.back_ms = cut_s * 1000 + return_ms;
        const int after = blackout.flows_after(round_ms);
        ASSERT_GE(after, 0);
        ASSERT_LE(after, 1000) << cut_s << " s, round at " << round_ms << ", back at " << return_ms;
        ASSERT_LE(blackout.tries, cut_s + 1) << "one a second";
        ASSERT_LE(blackout.most_tries_in_flight, 2);
      }
    }
  }
}

TEST(Dials, ThatNobodyAnsweredAreFollowedByNoPause) {
  NodeLink link;
  PeerPlan plan;
  plan.endpoints = {{"10.0.0.1", 50000, false, ""}};
  link.set_plan(plan, at(0));
  for (int i = 0; i < 20; ++i) link.dial_unanswered(link.targets[0], "no answer", MonoTime{});
  EXPECT_FALSE(link.address_rests("10.0.0.1", at(0)));
  EXPECT_EQ(link.targets[0].not_before, MonoTime{});
  link.dial_failed(link.targets[0], "Connection refused", at(0));
  EXPECT_TRUE(link.address_rests("10.0.0.1", at(0)));
}

TEST(BadDataOfTheUnproven, HoldsTheirAddressAndNoOther) {
  NodeLink link;
  PeerPlan plan;
  plan.endpoints = {{"10.0.0.1", 50000, false, ""}, {"10.0.0.2", 50000, false, ""}};
  link.set_plan(plan, at(0));
  link.hold_address("10.0.0.1", at(2000));
  EXPECT_EQ(link.targets[0].held_until, at(2000));
  EXPECT_EQ(link.targets[1].held_until, MonoTime{});
  EXPECT_FALSE(link.all_targets_held(at(0)));
  EXPECT_EQ(link.held_until, MonoTime{}) << "the node itself is not blamed";
}

TEST(BadDataOfTheUnproven, HoldsNothingOfANodeThatProvedItself) {
  NodeLink link;
  PeerPlan plan;
  plan.endpoints = {{"10.0.0.1", 50000, false, ""}};
  link.set_plan(plan, at(0));
  link.has_proven = true;
  link.hold_address("10.0.0.1", at(2000));
  EXPECT_EQ(link.targets[0].held_until, MonoTime{});
}

TEST(PathProblems, SayForHowLongANodeHasNotAnswered) {
  NodeLink link;
  PeerPlan plan;
  plan.endpoints = {{"10.0.0.1", 50000, false, ""}};
  link.set_plan(plan, at(0));
  link.without_lane_since = at(0);
  link.lanes_silent_for = milliseconds(23'400);
  const auto problem = path_problem(NodeId(), link, at(3000));
  ASSERT_TRUE(problem);
  EXPECT_THAT(*problem, testing::HasSubstr("has not answered for 23 s"));
}

TEST(LaneMeter, TellsTheRateBetweenTwoLooks) {
  LaneMeter meter;
  const MonoTime start{std::chrono::seconds(10)};
  EXPECT_TRUE(meter.look(start, 1000, 0));
  EXPECT_EQ(meter.receive_bits_per_s, 0U) << "one look has no rate";
  EXPECT_TRUE(meter.look(start + std::chrono::milliseconds(250), 251'000, 0));
  EXPECT_EQ(meter.receive_bits_per_s, 8'000'000U);
  EXPECT_FALSE(meter.look(start + std::chrono::milliseconds(500), 251'000, 0)) << "nothing moved";
  EXPECT_EQ(meter.receive_bits_per_s, 0U);
}
TEST(LaneMeter, SeesWhatIsSentToo) {
  LaneMeter meter;
  meter.look(MonoTime{std::chrono::seconds(1)}, 0, 0);
  EXPECT_TRUE(meter.look(MonoTime{std::chrono::seconds(2)}, 0, 1));
}
TEST(LaneMeter, TakesCountersThatFallForNothing) {
  LaneMeter meter;
  meter.look(MonoTime{std::chrono::seconds(1)}, 9, 9);
  EXPECT_FALSE(meter.look(MonoTime{std::chrono::seconds(2)}, 5, 5));
  EXPECT_EQ(meter.receive_bits_per_s, 0U);
}

}  // namespace
}  // namespace gridtorrent::client::engine
