// Lanes moved towards a plan: dialled, asked for, drained and ended. Rounds of a second in virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/engine/wire.h"
#include "tests/support/lanes_in_time.h"

namespace gridtorrent::client::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

std::string text_of(const std::pair<std::shared_ptr<Lane>, std::vector<char>>& message) {
  return {message.second.begin(), message.second.end()};
}

class Dialling : public LanesInTime {};

TEST_F(Dialling, RestsWhileTheTorrentDoes) {
  plan(4);
  facts_.active = false;
  EXPECT_THAT(round().dial, IsEmpty());
}
TEST_F(Dialling, RestsWithoutAPlan) {
  link();
  EXPECT_THAT(round().dial, IsEmpty());
}
TEST_F(Dialling, RestsBetweenTwoThatHaveAll) {
  plan(4);
  facts_.complete = true;
  link().seen_complete = now_;
  EXPECT_THAT(round().dial, IsEmpty());
}
TEST_F(Dialling, GoesOnToANodeThatFetchesAnewThoughLanesOfItsEarlierFetchStillStand) {
  facts_.complete = true;
  plan(1);
  const auto earlier = ours_up_to(2);
  for (const auto& lane : earlier) lane->complete = now_;
  table_.note_shown(now_);
  round();
  link().leave_plan();
  round();
  plan(1);
  table_.note_shown(now_);
  for (const auto& lane : earlier) end(*lane, "End of file");
  EXPECT_THAT(round().dial, SizeIs(1));
}
TEST_F(Dialling, RestsWhileTheNodeIsHeldForBadData) {
  plan(4);
  link().bad_piece(now_);
  EXPECT_THAT(round().dial, IsEmpty());
  EXPECT_THAT(round(seconds(2)).dial, SizeIs(4));
}
TEST_F(Dialling, TakesNamesForNoAddress) {
  PeerPlan named = plan_of(1, 0);
  named.endpoints.push_back({"seeder.example", 50'000, false, ""});
  link().set_plan(named, now_);
  EXPECT_THAT(round().dial, IsEmpty());
  EXPECT_EQ(link().targets[0].last_error, "no numeric address");
}
TEST_F(Dialling, TakesAsManyPortsAsLanesAreWantedInThePlansOrder) {
  plan(3);
  const lt::address seeder = lt::make_address("192.0.2.1");
  EXPECT_THAT(round().dial, ElementsAre(lt::tcp::endpoint(seeder, port(0)), lt::tcp::endpoint(seeder, port(1)),
                                        lt::tcp::endpoint(seeder, port(2))));
}
TEST_F(Dialling, CountsWhatIsOnItsWay) {
  plan(3);
  EXPECT_THAT(round().dial, SizeIs(3));
  EXPECT_THAT(round().dial, IsEmpty());
}
TEST_F(Dialling, ForgetsADialThatNoConnectionCameOf) {
  plan(1);
  EXPECT_THAT(round().dial, SizeIs(1));
  EXPECT_THAT(round(seconds(3)).dial, IsEmpty());
  EXPECT_THAT(round(milliseconds(1)).dial, SizeIs(1));
}
TEST_F(Dialling, TakesPortsWithTheFewestLanesFirst) {
  plan(4, 3);
  ours(0);
  ours(0);
  ours(1);
  const Orders orders = round();
  ASSERT_THAT(orders.dial, SizeIs(1));
  EXPECT_EQ(orders.dial[0].port(), port(2));
}
TEST_F(Dialling, TakesAPortAgainOnceTheLaneToItStands) {
  plan(3, 1);
  EXPECT_THAT(round().dial, SizeIs(1)) << "a port at a time";
  const auto first = add({lt::make_address("192.0.2.1"), port(0)}, true);
  EXPECT_THAT(round().dial, IsEmpty()) << "libtorrent would take it for the same peer";
  open(*first);
  EXPECT_THAT(round().dial, ElementsAre(lt::tcp::endpoint(lt::make_address("192.0.2.1"), port(0))));
  const auto second = ours(0);
  EXPECT_THAT(round().dial, SizeIs(1));
  EXPECT_NE(first->listed_port, second->listed_port);
  ours(0);
  EXPECT_THAT(round().dial, IsEmpty());
}
TEST_F(Dialling, KeepsToTheFirstAddressWhereItAnswers) {
  PeerPlan two = plan_of(20, 8);
  for (int i = 0; i < 8; ++i) two.endpoints.push_back({"192.0.2.2", port(i), false, ""});
  link().set_plan(two, now_);
  link().peer_grant = kMaxLanes;
  ours_up_to(8);
  const Orders orders = round();
  EXPECT_THAT(orders.dial, SizeIs(8)) << "the others a second later";
  for (const auto& endpoint : orders.dial) EXPECT_EQ(endpoint.address(), lt::make_address("192.0.2.1"));
}
TEST_F(Dialling, TakesTheOtherAddressWhereLanesToTheFirstFallSilent) {
  PeerPlan two = plan_of(2, 2);
  two.endpoints.push_back({"192.0.2.2", port(0), false, ""});
  link().set_plan(two, now_);
  for (const auto& lane : ours_up_to(2)) fall_silent(*lane, 3);
  link().dial_unanswered(link().targets[1], "no answer", now_);
  EXPECT_THAT(round().dial, ElementsAre(lt::tcp::endpoint(lt::make_address("192.0.2.2"), port(0))));
}
TEST_F(Dialling, LeavesPortsAloneThatFailedWhereAnotherOneIsLetThrough) {
  plan(4, 4);
  ours(2);
  for (const std::size_t i : {0U, 1U, 3U}) link().dial_unanswered(link().targets[i], "no answer", now_);
  const lt::tcp::endpoint open_port(lt::make_address("192.0.2.1"), port(2));
  EXPECT_THAT(round().dial, ElementsAre(open_port));
  ours(2);
  EXPECT_THAT(round().dial, ElementsAre(open_port));
}
TEST_F(Dialling, PausesForLongerWhereAPortThatHasALaneRefusesMore) {
  plan(2, 1);
  ours(0);
  int dials = 0;
  for (int second = 0; second < 30; ++second) {
    const Orders orders = round();
    if (orders.dial.empty()) continue;
    ++dials;
    end(*add(orders.dial.at(0), true), "Connection reset by peer");
  }
  EXPECT_LE(dials, 10);
  EXPECT_GE(dials, 7);
}
TEST_F(Dialling, AsksNoMoreOfANodeThanItGrants) {
  plan(32);
  ours_up_to(16);
  EXPECT_THAT(round().dial, IsEmpty()) << "an earlier version, or nothing said yet";
  link().peer_grant = 32;
  EXPECT_THAT(round().dial, SizeIs(16));
}
TEST_F(Dialling, GivesUpOnWhoDoesNotAnswerWithoutAPause) {
  plan(1);
  const lt::tcp::endpoint dialled = round().dial.at(0);
  const auto lane = add(dialled, true);
  lane->unanswered = true;
  EXPECT_THAT(round(milliseconds(1700)).close, IsEmpty());
  EXPECT_THAT(round(milliseconds(100)).close, ElementsAre(lane));
  EXPECT_EQ(link().targets[0].last_error, "no answer");
  EXPECT_EQ(link().targets[0].not_before, MonoTime{});
}
TEST_F(Dialling, WaitsForTlsOnceTcpStands) {
  plan(1);
  add(round().dial.at(0), true);
  EXPECT_THAT(round(seconds(5)).close, IsEmpty());
}
TEST_F(Dialling, PausesAfterARefusal) {
  plan(1, 1);
  end(*add(round().dial.at(0), true), "Connection refused");
  EXPECT_EQ(link().targets[0].failures, 1);
  EXPECT_THAT(round(milliseconds(100)).dial, IsEmpty());
  EXPECT_THAT(round().dial, SizeIs(1));
}
TEST_F(Dialling, TakesALaneThatWasSoonEndedForARefusal) {
  plan(1);
  const auto lane = ours(0);
  now_ += seconds(4);
  end(*lane, "End of file");
  EXPECT_EQ(link().targets[0].failures, 1);
}
TEST_F(Dialling, LetsOneDialInFourTakeItsTimeWhereNoLaneStands) {
  plan(1, 1);
  for (const int failures : {0, 1, 2, 3, 4, 7}) {
    SCOPED_TRACE(failures);
    link().targets[0].failures = failures;
    const auto lane = add({lt::make_address("192.0.2.1"), port(0)}, true);
    lane->unanswered = true;
    const bool patient = failures % 4 == 3;
    EXPECT_THAT(round(seconds(2)).close, SizeIs(patient ? 0 : 1));
    EXPECT_EQ(table_.outgoing_lanes(seeder_), patient ? 0 : 1) << "it keeps no other from being dialled";
    if (patient) {
      EXPECT_THAT(round(seconds(8)).close, SizeIs(1));
    }
    table_.take_out(*lane);
  }
}
TEST_F(Dialling, HasNoPatienceBesideALaneThatStands) {
  plan(2, 2);
  const auto stands = ours(1);
  fall_silent(*stands, 5);
  link().targets[0].failures = 3;
  const auto lane = add({lt::make_address("192.0.2.1"), port(0)}, true);
  lane->unanswered = true;
  EXPECT_THAT(round(seconds(2)).close, Contains(lane)) << "a cut path is dialled anew each second";
}
TEST_F(Dialling, GivesUpAConnectionWithoutTls) {
  plan(1, 1);
  add({lt::make_address("192.0.2.1"), port(0)}, true);
  EXPECT_THAT(round(seconds(5)).close, IsEmpty());
  EXPECT_THAT(round(seconds(1)).close, SizeIs(1));
  EXPECT_EQ(link().targets[0].failures, 1);
}
TEST_F(Dialling, TakesALaneThatBroughtSomethingForNoRefusal) {
  plan(1);
  const auto lane = ours(0);
  lane->delivered = true;
  now_ += seconds(1);
  end(*lane, "Connection reset by peer");
  EXPECT_EQ(link().targets[0].failures, 0);
}
TEST_F(Dialling, ForgetsRefusalsOnceALaneHasStood) {
  plan(1);
  link().targets[0].failures = 3;
  const auto lane = ours(0);
  round(seconds(4));
  EXPECT_EQ(link().targets[0].failures, 3);
  round(seconds(1));
  EXPECT_EQ(link().targets[0].failures, 0);
  end(*lane, "End of file");
  EXPECT_EQ(link().targets[0].failures, 0);
}

class CutPaths : public LanesInTime {};

TEST_F(CutPaths, AreHardlyLookedForOnLanesThatOweNothing) {
  plan(1);
  const auto lane = ours(0);
  lane->liveness.quiet = seconds(24);
  EXPECT_THAT(round().send, IsEmpty());
  lane->liveness.quiet = seconds(25);
  EXPECT_THAT(round().send, SizeIs(1)) << "before a NAT forgets it";
}
/// Of two addresses, lanes over the first one are acknowledged and bring nothing.
class MuteLanes : public LanesInTime {
 protected:
  MuteLanes() {
    plan_ = plan_of(2, 2);
    plan_.endpoints.push_back({"192.0.2.2", port(0), false, ""});
    plan_.endpoints.push_back({"192.0.2.2", port(1), false, ""});
    link().set_plan(plan_, now_);
    lanes_ = ours_up_to(2);
  }
  PeerPlan plan_;
  std::vector<std::shared_ptr<Lane>> lanes_;
};
TEST_F(MuteLanes, AreEndedAndDialledAtTheOtherAddress) {
  for (const auto& lane : lanes_) lane->outstanding_blocks = 4;
  round();
  EXPECT_THAT(round(seconds(19)).close, IsEmpty());
  EXPECT_THAT(round(seconds(1)).close, SizeIs(2));
  for (const auto& lane : lanes_) {
    lane->state = LaneState::kClosing;
    end(*lane, "closed");
  }
  const Orders orders = round();
  ASSERT_THAT(orders.dial, SizeIs(2));
  for (const auto& endpoint : orders.dial) EXPECT_EQ(endpoint.address().to_string(), "192.0.2.2");
}
TEST_F(MuteLanes, AreEndedOnceAnAddress) {
  for (DialTarget& target : link().targets) target.was_mute = target.endpoint.address == "192.0.2.2";
  for (const auto& lane : lanes_) lane->outstanding_blocks = 4;
  for (int i = 0; i < 60; ++i) EXPECT_THAT(round().close, IsEmpty()) << "the node is slow, on both";
}
TEST_F(MuteLanes, AreNoneThatWereAskedForNothingOrBroughtSomething) {
  lanes_[1]->outstanding_blocks = 4;
  lanes_[1]->received_bytes = 1;
  for (int i = 0; i < 60; ++i) EXPECT_THAT(round().close, IsEmpty());
  lanes_[0]->outstanding_blocks = 4;
  EXPECT_THAT(round().close, IsEmpty()) << "it is asked for the first time now";
}
TEST_F(MuteLanes, AreKeptWhereTheNodeHasOneAddress) {
  plan(2, 2);
  for (const auto& lane : lanes_) lane->outstanding_blocks = 4;
  for (int i = 0; i < 60; ++i) EXPECT_THAT(round().close, IsEmpty());
}
TEST_F(MuteLanes, AreNoSuccess) {
  for (const auto& lane : lanes_) lane->outstanding_blocks = 4;
  round();
  now_ += seconds(120);
  end(*lanes_[0], "timed out: no activity");
  EXPECT_EQ(link().targets[0].failures, 1);
}
class UnreadLanes : public LanesInTime {};
TEST_F(UnreadLanes, AreEndedWhereMoreWaitsThanDataEverDoes) {
  const auto lane = theirs();
  lane->unread_bytes = 3 << 20;
  EXPECT_THAT(round().close, IsEmpty()) << "a slow reader of data";
  lane->unread_bytes = 5 << 20;
  EXPECT_THAT(round().close, ElementsAre(lane));
}
TEST_F(CutPaths, AreLookedForByAKeepAlive) {
  plan(1);
  const auto lane = ours(0);
  lane->outstanding_blocks = 1;
  lane->liveness.quiet = seconds(1);
  const Orders orders = round();
  ASSERT_THAT(orders.send, SizeIs(1));
  EXPECT_EQ(text_of(orders.send[0]), std::string(4, '\0'));
}
TEST_F(CutPaths, HaveOneMoreLaneTriedASecond) {
  plan(4);
  link().last_dial = now_ - seconds(60);
  for (const auto& lane : ours_up_to(4)) fall_silent(*lane, 3);
  EXPECT_THAT(round().dial, SizeIs(1));
  EXPECT_THAT(round(milliseconds(500)).dial, IsEmpty());
  EXPECT_THAT(round(milliseconds(500)).dial, SizeIs(1));
}
TEST_F(CutPaths, EndALaneOnceAYoungerOneAnswers) {
  plan(2);
  const auto old = ours(0);
  fall_silent(*old, 3);
  EXPECT_THAT(round().close, IsEmpty());
  ours(1);
  EXPECT_THAT(round().close, ElementsAre(old));
}
TEST_F(CutPaths, AreTriedBesideTheSilentLanesOverTheirPorts) {
  plan(2, 2);
  link().last_dial = now_ - seconds(60);
  const auto lanes = ours_up_to(2);
  fall_silent(*lanes[0], 9);
  fall_silent(*lanes[1], 10);
  const Orders orders = round();
  EXPECT_THAT(orders.dial, SizeIs(1));
  EXPECT_THAT(orders.close, IsEmpty());
}
TEST_F(CutPaths, AreToldWithTheTimeThatTheyLast) {
  plan(1);
  fall_silent(*ours(0), 7);
  round();
  EXPECT_EQ(link().lanes_silent_for, seconds(7));
  EXPECT_EQ(link().without_lane_since, now_);
  ours(1);
  round();
  EXPECT_EQ(link().lanes_silent_for, seconds(0));
  EXPECT_EQ(link().without_lane_since, std::nullopt);
}

class LanesTooMany : public LanesInTime {};

TEST_F(LanesTooMany, EndWhereTheyAreNotUpYetBeforeSilentOnesBeforeTheYoungest) {
  plan(1);
  const auto lanes = ours_up_to(3);
  fall_silent(*lanes[0], 3);
  lanes[2]->outstanding_blocks = 1;
  const auto unfinished = add({lt::make_address("192.0.2.1"), port(9)}, true);
  EXPECT_THAT(round().close, UnorderedElementsAre(unfinished, lanes[0]));
  EXPECT_FALSE(lanes[1]->drains);
  EXPECT_TRUE(lanes[2]->drains);
}
TEST_F(LanesTooMany, AreAskedForNothingMoreAndEndWhenAllHasCome) {
  plan(1);
  const auto lanes = ours_up_to(2);
  lanes[1]->outstanding_blocks = 3;
  const Orders orders = round();
  EXPECT_THAT(orders.asks, UnorderedElementsAre(std::pair(lanes[0], true), std::pair(lanes[1], false)));
  EXPECT_THAT(orders.close, IsEmpty());
  lanes[1]->outstanding_blocks = 0;
  EXPECT_THAT(round(milliseconds(500)).close, ElementsAre(lanes[1]));
}
TEST_F(LanesTooMany, EndAfterASecondWhateverTheyOwe) {
  plan(1);
  const auto lanes = ours_up_to(2);
  lanes[1]->outstanding_blocks = 3;
  EXPECT_THAT(round().close, IsEmpty());
  EXPECT_THAT(round().close, ElementsAre(lanes[1]));
}
TEST_F(LanesTooMany, StayWhereThePlanWantsMoreAgain) {
  plan(1);
  const auto lanes = ours_up_to(2);
  lanes[1]->outstanding_blocks = 3;
  round();
  plan(2);
  const Orders orders = round();
  EXPECT_THAT(orders.dial, IsEmpty());
  EXPECT_THAT(orders.close, IsEmpty());
  EXPECT_THAT(orders.asks, UnorderedElementsAre(std::pair(lanes[0], true), std::pair(lanes[1], true)));
  ASSERT_THAT(orders.send, SizeIs(1)) << "it may have run dry, and libtorrent would ask for nothing by itself";
  EXPECT_EQ(orders.send[0].first, lanes[1]);
  EXPECT_EQ(text_of(orders.send[0]), std::string(kInterested.begin(), kInterested.end()));
  EXPECT_THAT(round().send, IsEmpty());
}
TEST_F(LanesTooMany, AreAllOnceTheNodeLeavesThePlan) {
  plan(2);
  const auto lanes = ours_up_to(2);
  link().leave_plan();
  EXPECT_THAT(round().close, UnorderedElementsAre(lanes[0], lanes[1]));
}
class LanesOfNodesLeftOut : public LanesInTime {
 protected:
  LanesOfNodesLeftOut() {
    plan(1);
    planned_ = ours(0);
    uninvited_ = add({lt::make_address("192.0.2.2"), 40'000}, false);
    open(*uninvited_);
    uninvited_->node = NodeId::make(WallTime{3}, rng_);
    uninvited_->complete = now_;
  }
  std::shared_ptr<Lane> planned_, uninvited_;
};

TEST_F(LanesOfNodesLeftOut, AreAskedForNothingAndStay) {
  const Orders orders = round();
  EXPECT_THAT(orders.asks, UnorderedElementsAre(std::pair(planned_, true), std::pair(uninvited_, false)));
  EXPECT_THAT(orders.close, IsEmpty()) << "its node would dial again";
  EXPECT_TRUE(uninvited_->rests);
  ASSERT_THAT(orders.send, SizeIs(1)) << "who is interested and asks for nothing for a minute is cut off";
  EXPECT_EQ(orders.send[0].first, uninvited_);
  EXPECT_EQ(text_of(orders.send[0]), std::string(kNotInterested.begin(), kNotInterested.end()));
  EXPECT_THAT(round().send, IsEmpty()) << "once is enough";
}
TEST_F(LanesOfNodesLeftOut, RestFromTheFirstUnchokeOn) {
  Orders orders;
  LaneMover(table_, facts_, now_, orders).lane_unchoked(uninvited_);
  EXPECT_TRUE(uninvited_->rests);
  EXPECT_THAT(orders.send, SizeIs(1));
  LaneMover(table_, facts_, now_, orders).lane_unchoked(planned_);
  EXPECT_FALSE(planned_->rests);
}
TEST_F(LanesOfNodesLeftOut, AreAskedWhileNoPlannedLaneAnswers) {
  round();
  fall_silent(*planned_, 3);
  const Orders orders = round();
  EXPECT_THAT(orders.asks, Contains(std::pair(uninvited_, true)));
  ASSERT_THAT(orders.send,
              Contains(testing::Field(&std::pair<std::shared_ptr<Lane>, std::vector<char>>::first, uninvited_)));
  fall_silent(*planned_, 0);
  planned_->liveness = {};
  EXPECT_THAT(round().asks, Contains(std::pair(uninvited_, false)));
}
TEST_F(LanesOfNodesLeftOut, AreAskedOnceTheirNodeIsPlanned) {
  round();
  PeerPlan second = plan_of(1);
  second.node = uninvited_->node;
  second.dial = false;
  table_.link_of(uninvited_->node).set_plan(second, now_);
  EXPECT_THAT(round().asks, Contains(std::pair(uninvited_, true)));
}
TEST_F(LanesOfNodesLeftOut, AreAskedWhereThePlanWantsNoLaneOfAnybody) {
  link().set_plan(plan_of(0), now_);
  EXPECT_THAT(round().asks, Contains(std::pair(uninvited_, true)));
}
TEST_F(LanesOfNodesLeftOut, AreAskedWhereTheirNodeFetchesAsWell) {
  uninvited_->complete.reset();
  EXPECT_THAT(round().asks, Contains(std::pair(uninvited_, true))) << "neighbours of a swarm divide what is there";
}
TEST_F(LanesOfNodesLeftOut, AreToldNothingOnceAllIsHere) {
  round();
  facts_.complete = true;
  const Orders orders = round();
  EXPECT_FALSE(uninvited_->rests);
  EXPECT_THAT(orders.send, IsEmpty());
}

TEST_F(LanesTooMany, AreOursWhereTheOtherSidesHaveStoodForLong) {
  PeerPlan other_dials = plan_of(1);
  other_dials.by_rule = false;
  link().set_plan(other_dials, now_);
  const auto mine = ours(0);
  theirs();
  EXPECT_THAT(round().close, IsEmpty());
  EXPECT_THAT(round(seconds(4)).close, IsEmpty());
  EXPECT_THAT(round().close, ElementsAre(mine));
}

class Asking : public LanesInTime {};

TEST_F(Asking, ForLanesRestsWhereWeDial) {
  plan(2);
  ours(0);
  EXPECT_THAT(round().send, IsEmpty());
}
TEST_F(Asking, ForLanesIsNotHeardOverASilentLane) {
  PeerPlan plan = plan_of(3);
  plan.ask = true;
  link().set_plan(plan, now_);
  fall_silent(*theirs(), 3);
  EXPECT_THAT(round().send, IsEmpty());
}
TEST_F(Asking, ForLanesIsDoneOnceAndTakenBackAtTheEnd) {
  PeerPlan plan = plan_of(3);
  plan.dial = false;
  plan.ask = true;
  link().set_plan(plan, now_);
  theirs();
  const Orders first = round();
  ASSERT_THAT(first.send, SizeIs(1));
  EXPECT_THAT(text_of(first.send[0]), HasSubstr(encode_lanes(3)));
  EXPECT_THAT(round().send, IsEmpty());
  facts_.complete = true;
  const Orders last = round();
  ASSERT_THAT(last.send, SizeIs(1));
  EXPECT_THAT(text_of(last.send[0]), HasSubstr(encode_lanes(0)));
}
TEST_F(Asking, ForACongestionControlThatIsNotGrantedWarnsOnce) {
  PeerPlan plan = plan_of(1);
  plan.congestion_control = "bbr";
  link().set_plan(plan, now_);
  ours(0);
  const Orders orders = round();
  EXPECT_THAT(orders.send, IsEmpty());
  EXPECT_THAT(orders.warnings, ElementsAre(HasSubstr("it grants none")));
  EXPECT_THAT(round().warnings, IsEmpty());
}
TEST_F(Asking, ForACongestionControlIsDoneOverTheOldestLanesAlone) {
  PeerPlan plan = plan_of(2);
  plan.congestion_control = "bbr";
  plan.congestion_lanes = 1;
  link().set_plan(plan, now_);
  for (const auto& lane : ours_up_to(2)) lane->peer_congestion_controls = {"bbr"};
  const Orders orders = round();
  ASSERT_THAT(orders.send, SizeIs(1));
  EXPECT_EQ(orders.send[0].first, table_.lanes()[0]);
}
TEST_F(Asking, GoesAsDeepAsPlanned) {
  PeerPlan plan = plan_of(1);
  plan.outstanding_blocks = 12;
  link().set_plan(plan, now_);
  const auto lane = ours(0);
  round();
  EXPECT_EQ(lane->planned_blocks, 12);
}

}  // namespace
}  // namespace gridtorrent::client::engine
