#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>

#include "client/engine/lane.h"
#include "client/engine/lane_rules.h"
#include "client/engine/node_link.h"
#include "client/engine/tcp_info.h"
#include "common/rng.h"
#include "common/unique_fd.h"
#include "tests/support/fake_lane_socket.h"

namespace gridtorrent::client::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

DialState wanting(int lanes) {
  DialState state;
  state.planned = state.plan_dials = true;
  state.plan_lanes = lanes;
  state.has_endpoint = true;
  state.peer_grant = kMaxLanes;
  return state;
}

TEST(Pacing, WithoutALimitIsStillPacing) {
  constexpr std::uint64_t kUnpaced = ~std::uint64_t{0}, kAboveAnyNetwork = std::uint64_t{1} << 50;
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM, 0));
  const auto most = [&] {
    std::uint64_t rate = 0;
    socklen_t size = sizeof(rate);
    EXPECT_EQ(::getsockopt(socket.get(), SOL_SOCKET, SO_MAX_PACING_RATE, &rate, &size), 0);
    return rate;
  };
  ASSERT_EQ(most(), kUnpaced);
  set_pacing(socket.get(), 5'000'000);
  EXPECT_EQ(most(), 5'000'000U);
  set_pacing(socket.get(), 0);
  EXPECT_GT(most(), kAboveAnyNetwork);
  EXPECT_LT(most(), kUnpaced) << "the kernel would no longer pace";
}

TEST(OutgoingTarget, IsThePlanWithinGrantAndEndpoints) {
  EXPECT_EQ(outgoing_target(wanting(4)), 4);
  EXPECT_EQ(outgoing_target(wanting(99)), 32);
  EXPECT_EQ(outgoing_target(wanting(-1)), 0);
  DialState state = wanting(8);
  state.peer_grant = 3;
  EXPECT_EQ(outgoing_target(state), 3);
  state.has_endpoint = false;
  EXPECT_EQ(outgoing_target(state), 0);
}

TEST(OutgoingTarget, IsNothingWithoutAPlanOrBetweenTwoThatAreComplete) {
  DialState state = wanting(4);
  state.planned = false;
  state.outgoing = 4;
  EXPECT_EQ(outgoing_target(state), 0);
  state = wanting(4);
  state.we_are_complete = state.peer_is_complete = true;
  EXPECT_EQ(outgoing_target(state), 0);
}

TEST(OutgoingTarget, OfANodeThatOnlyServesFollowsThePeersWish) {
  DialState state = wanting(1);
  state.we_are_complete = true;
  EXPECT_EQ(outgoing_target(state), 1);  // one lane, so that the peer can ask
  state.peer_wants = 6;
  EXPECT_EQ(outgoing_target(state), 6);
  state.own_grant = 2;
  EXPECT_EQ(outgoing_target(state), 2);
  state.peer_wants = 0;
  EXPECT_EQ(outgoing_target(state), 0);
}

TEST(OutgoingTarget, WhereBothWantIsTheLargerWish) {
  DialState state = wanting(4);
  state.peer_wants = 6;
  EXPECT_EQ(outgoing_target(state), 6);
  state.peer_wants = 2;
  EXPECT_EQ(outgoing_target(state), 4);
}

TEST(OutgoingTarget, CountsWhatThePeerDialled) {
  DialState state = wanting(4);
  state.inbound_open = 1;
  EXPECT_EQ(outgoing_target(state), 3);
  state.inbound_open = 6;
  EXPECT_EQ(outgoing_target(state), 0);
}

TEST(OutgoingTarget, KeepsOurLanesBesideThePeersUntilItIsOursToGiveWay) {
  for (const bool dials : {true, false}) {
    DialState state = wanting(4);
    state.plan_dials = dials;
    state.outgoing = state.inbound_open = 4;
    EXPECT_EQ(outgoing_target(state), 4);
    state.gives_way = true;
    EXPECT_EQ(outgoing_target(state), 0);
    state.inbound_open = 3;
    EXPECT_EQ(outgoing_target(state), 1);
  }
}

TEST(OutgoingTarget, DialsNothingNewWhereThePlanLetsThePeerDial) {
  DialState state = wanting(4);
  state.plan_dials = false;
  EXPECT_EQ(outgoing_target(state), 0);
  state.outgoing = 2;
  EXPECT_EQ(outgoing_target(state), 2);
}

/// One side of a pair in which both dialled.
struct DuelSide {
  bool lower_id;
  int dialled_ms, round_ms;  ///< when it dialled; when in each second it looks at its lanes
  NodeLink link;
  int lanes = 0;
  std::vector<int> history;  ///< its lanes at the end of each tenth of a second

  DuelSide(bool by_rule, bool lower, int dialled, int round) : lower_id(lower), dialled_ms(dialled), round_ms(round) {
    link.plan.emplace().by_rule = by_rule;
  }

  int lanes_before(int now_ms) const {
    const int index = now_ms / 100 - 1;
    return index < 0 ? 0 : history.at(static_cast<std::size_t>(index));
  }

  void step(int now_ms, int inbound) {
    if (now_ms == dialled_ms) lanes = 4;
    if (now_ms % 1000 == round_ms) {
      DialState state = wanting(4);
      state.outgoing = lanes;
      state.inbound_open = inbound;
      state.gives_way = link.gives_way(lanes, inbound, lower_id, MonoTime{milliseconds(now_ms)});
      lanes = std::min(lanes, outgoing_target(state));
    }
    history.push_back(lanes);
  }
};

TEST(OutgoingTarget, LeavesTheWishOfLanesToTwoThatBothDialledWhateverEachBelieves) {
  for (const bool a_by_rule : {false, true}) {
    for (const bool b_by_rule : {false, true}) {
      for (const int b_round_ms : {0, 300, 900}) {
        for (const int b_dialled_ms : {100, 900, 1700}) {
          for (const int seen_after_ms : {0, 500, 1500}) {
            SCOPED_TRACE(testing::Message() << a_by_rule << b_by_rule << " b looks at " << b_round_ms << ", dials at "
                                            << b_dialled_ms << ", lanes are seen after " << seen_after_ms << " ms");
            DuelSide a(a_by_rule, true, 100, 0), b(b_by_rule, false, b_dialled_ms, b_round_ms);
            for (int now_ms = 0; now_ms < 20'000; now_ms += 100) {
              const int of_a = a.lanes_before(now_ms - seen_after_ms), of_b = b.lanes_before(now_ms - seen_after_ms);
              a.step(now_ms, of_b);
              b.step(now_ms, of_a);
              if (now_ms < 100) continue;
              ASSERT_GE(a.lanes + b.lanes, 4) << "after " << now_ms << " ms";
            }
            EXPECT_EQ(a.lanes + b.lanes, 4);
            if (a_by_rule == b_by_rule) continue;
            EXPECT_EQ(a_by_rule ? a.lanes : b.lanes, 4) << "the rule's dialler's stay";
          }
        }
      }
    }
  }
}

TEST(OutgoingTarget, DialsNothingNewToANodeHeldBack) {
  DialState state = wanting(4);
  state.held_back = true;
  EXPECT_EQ(outgoing_target(state), 0);
  state.outgoing = 2;
  EXPECT_EQ(outgoing_target(state), 2);
}

class Admissions : public testing::Test {
 protected:
  std::string why_not(const std::optional<TlsProof>& proof, const Audience* audience, WallTime now) {
    const Admission admission = admit(proof, audience, now);
    EXPECT_EQ(admission.node.is_nil(), !admission.reason.empty());
    return admission.reason;
  }
  SeededRng rng_{1};
  const NodeId node_ = NodeId::make(WallTime{1}, rng_);
  const TlsProof proof_{{7}, WallTime{1000}, WallTime{2000}, true};
  const Audience audience_{{proof_.key, node_}};
};

TEST_F(Admissions, AreForListedKeysWithinTheDatesOfTheirCertificate) {
  EXPECT_EQ(admit(proof_, &audience_, WallTime{1000}).node, node_);
  EXPECT_EQ(admit(proof_, &audience_, WallTime{1999}).node, node_);
  EXPECT_EQ(why_not(proof_, &audience_, WallTime{999}),
            "its certificate is not valid yet: one of the two clocks is wrong");
  EXPECT_EQ(why_not(proof_, &audience_, WallTime{2000}), "its certificate has expired");
}

TEST_F(Admissions, AreRefusedWithoutCertificateRightOrList) {
  EXPECT_EQ(why_not(std::nullopt, &audience_, WallTime{1500}), "it showed no certificate");
  TlsProof other = proof_;
  other.key[31] = 1;
  EXPECT_EQ(why_not(other, &audience_, WallTime{1500}), "it is not among those who may have this content");
  const Audience nobody;
  EXPECT_EQ(why_not(proof_, &nobody, WallTime{1500}), "it is not among those who may have this content");
  EXPECT_EQ(why_not(proof_, nullptr, WallTime{1500}), "the server has not confirmed of late who may have this content");
  TlsProof old = proof_;
  old.is_1_3 = false;
  EXPECT_EQ(why_not(old, &audience_, WallTime{1500}), "it speaks an older TLS than 1.3");
}

TEST(AskingForLanes, HappensOnlyWhereThePlanSaysSoAndWeWantData) {
  EXPECT_EQ(lanes_to_ask(true, true, 5, false), 5);
  EXPECT_EQ(lanes_to_ask(true, false, 5, false), 0);
  EXPECT_EQ(lanes_to_ask(false, true, 5, false), 0);
  EXPECT_EQ(lanes_to_ask(true, true, 5, true), 0);
  EXPECT_EQ(lanes_to_ask(true, true, 50, false), 32);
}

TEST(Endpoints, AreChosenInOrderButTroubledAddressesLast) {
  std::array<DialCandidate, 5> candidates{};
  EXPECT_EQ(choose_endpoints(candidates, 3), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_TRUE(choose_endpoints(candidates, 0).empty());
  EXPECT_TRUE(choose_endpoints(candidates, -2).empty());
  candidates[0].is_dialled = true;
  candidates[1].waiting = true;
  candidates[2].address_failures = 3;
  candidates[3].failures = 1;
  candidates[3].address = 1;
  EXPECT_EQ(choose_endpoints(candidates, 5), (std::vector<std::size_t>{4, 3, 2}));
}

TEST(Endpoints, OfTheFirstAddressAreTakenAgainWhereItAnswersAndThoseOfTheSecondAreNot) {
  std::array<DialCandidate, 4> candidates{};
  candidates[0].lanes = candidates[1].lanes = 1;
  candidates[2].address = candidates[3].address = 1;
  EXPECT_EQ(choose_endpoints(candidates, 3), (std::vector<std::size_t>{0, 1}));
  candidates[0].lanes = 2;
  EXPECT_EQ(choose_endpoints(candidates, 3), (std::vector<std::size_t>{1, 0}));
}

TEST(Endpoints, OfTheSecondAddressAreTakenWhereTheFirstRefusesMore) {
  std::array<DialCandidate, 3> candidates{};
  candidates[0].lanes = candidates[1].lanes = 1;
  candidates[0].failures = candidates[1].failures = 1;
  candidates[0].address_failures = candidates[1].address_failures = 2;
  candidates[2].address = 1;
  EXPECT_EQ(choose_endpoints(candidates, 1), (std::vector<std::size_t>{2}));
}

TEST(Listings, AreUnderPortsThatNoEntryHas) {
  std::bitset<kListingPorts> taken;
  EXPECT_EQ(free_listing(taken, 7), 7);
  EXPECT_EQ(free_listing(taken, 1024 + 7), 7) << "any number is a beginning";
  EXPECT_EQ(free_listing(taken, 0), 1) << "0 is no port";
  taken.set(7).set(8);
  EXPECT_EQ(free_listing(taken, 7), 9);
  taken.set(1023);
  EXPECT_EQ(free_listing(taken, 1023), 1) << "around";
  taken.set();
  taken.reset(0);
  EXPECT_EQ(free_listing(taken, 7), 0) << "a lane without one keeps its endpoint";
}

TEST(Pauses, GrowAndStayBounded) {
  EXPECT_EQ(redial_pause(0), milliseconds(0));
  EXPECT_LT(redial_pause(1), seconds(1));
  EXPECT_GT(redial_pause(2), redial_pause(1));
  EXPECT_EQ(redial_pause(1000), seconds(4));
  EXPECT_EQ(bad_data_pause(0), milliseconds(0));
  EXPECT_EQ(bad_data_pause(1), seconds(2));
  EXPECT_EQ(bad_data_pause(1000), seconds(60));
}

TEST(ReceiveBuffers, ShareABudgetUnlessTheKernelStaysBelow) {
  constexpr std::uint64_t kMiB = 1024 * 1024;
  EXPECT_FALSE(receive_buffer_for(8, {6 * kMiB, 208 * 1024}));  // the kernel's defaults
  EXPECT_EQ(receive_buffer_for(8, {32 * kMiB, 64 * kMiB}), static_cast<int>(4 * kMiB));
  EXPECT_EQ(receive_buffer_for(1, {128 * kMiB, 4 * kMiB}), static_cast<int>(4 * kMiB));
  EXPECT_EQ(receive_buffer_for(64, {32 * kMiB, 64 * kMiB}), static_cast<int>(2 * kMiB));
  EXPECT_FALSE(receive_buffer_for(16, {32 * kMiB, kMiB}));  // too small for long paths: rather memory than speed
}
TEST(ReceiveBuffers, GrowWhereLanesBecomeFewerAndNoFurtherThanTheKernelsOwn) {
  constexpr std::uint64_t kMiB = 1024 * 1024;
  EXPECT_EQ(largest_receive_buffer_for(16, {64 * kMiB, 64 * kMiB}), static_cast<int>(2 * kMiB));
  EXPECT_EQ(largest_receive_buffer_for(2, {64 * kMiB, 64 * kMiB}), static_cast<int>(16 * kMiB));
  EXPECT_EQ(largest_receive_buffer_for(2, {64 * kMiB, 4 * kMiB}), static_cast<int>(4 * kMiB));
  EXPECT_EQ(largest_receive_buffer_for(2, {6 * kMiB, 64 * kMiB}), static_cast<int>(3 * kMiB));
  EXPECT_EQ(largest_receive_buffer_for(2, {}), 0) << "what is not known sets nothing";
}
TEST(ReceiveBuffers, OfALaneAreKnownBeforeItStands) {
  constexpr std::uint64_t kMiB = 1024 * 1024;
  EXPECT_EQ(receive_bytes_of_lane(16, {6 * kMiB, 208 * 1024}), 6 * kMiB) << "the kernel sizes them";
  EXPECT_EQ(receive_bytes_of_lane(16, {64 * kMiB, 64 * kMiB}), 4 * kMiB);
  EXPECT_EQ(receive_bytes_of_lane(16, {}), 0U) << "not known";
}

TEST(ReceiveBuffers, OfALaneGrowWhereOthersEndButNotOfOneThatDrains) {
  auto* kernel = new FakeSocket;
  Lane lane(lt::peer_connection_handle({}), std::unique_ptr<LaneSocket>(kernel));
  const int largest = largest_receive_buffer_for(1, receive_limits());
  if (largest <= 1) GTEST_SKIP() << "this kernel tells no limits of buffers";
  lane.grow_receive_buffer(1);
  EXPECT_EQ(kernel->receive_buffer, 0) << "the kernel sizes it";
  lane.receive_buffer = 1;
  lane.drains = true;
  lane.grow_receive_buffer(1);
  EXPECT_EQ(kernel->receive_buffer, 0);
  lane.drains = false;
  lane.grow_receive_buffer(1);
  EXPECT_EQ(kernel->receive_buffer, largest);
  lane.grow_receive_buffer(16);
  EXPECT_EQ(kernel->receive_buffer, largest) << "what TCP has promised it cannot take back";
}

PeerPlan plan_with(std::vector<LaneEndpoint> endpoints) {
  PeerPlan plan;
  plan.endpoints = std::move(endpoints);
  return plan;
}

TEST(NodeLinks, KeepTheHistoryOfEndpointsAcrossPlans) {
  NodeLink link;
  link.set_plan(plan_with({{"10.0.0.1", 50000, false, ""}, {"10.0.0.1", 50001, false, ""}}), MonoTime{});
  link.dial_failed(link.targets[1], "refused", MonoTime{});
  link.set_plan(plan_with({{"10.0.0.1", 50001, false, "a"},
                           {"10.0.0.1", 50001, false, "b"},  // the same socket
                           {"10.0.0.1", 50016, true, ""},    // of TLS editions
                           {"10.0.0.2", 50000, false, ""}}),
                MonoTime{});
  ASSERT_EQ(link.targets.size(), 2U);
  EXPECT_EQ(link.targets[0].failures, 1);
  EXPECT_EQ(link.targets[1].failures, 0);
  EXPECT_EQ(link.address_failures("10.0.0.1"), 1);
  EXPECT_EQ(link.address_failures("10.0.0.2"), 0);
}

TEST(NodeLinks, BelieveForHalfAMinuteThatANodeHasAll) {
  NodeLink link;
  const MonoTime start{seconds(100)};
  EXPECT_FALSE(link.has_all(start));
  link.set_plan(plan_with({{"10.0.0.1", 50000, false, ""}}), MonoTime{});
  link.seen_complete = start;
  link.set_plan(plan_with({{"10.0.0.1", 50001, false, ""}}), MonoTime{});
  EXPECT_TRUE(link.has_all(start + seconds(29)));
  EXPECT_FALSE(link.has_all(start + seconds(30))) << "it may have lost a file";
}

TEST(NodeLinks, ForgetThatANodeHadAllOnceItIsPlannedAgain) {
  NodeLink link;
  const MonoTime start{seconds(100)};
  link.seen_complete = start;
  link.leave_plan();
  link.set_plan(plan_with({{"10.0.0.1", 50000, false, ""}}), MonoTime{});
  EXPECT_TRUE(link.has_all(start)) << "planned for the first time, maybe by a late word of the server";
  link.leave_plan();
  EXPECT_TRUE(link.has_all(start));
  link.set_plan(plan_with({{"10.0.0.1", 50000, false, ""}}), start);
  EXPECT_FALSE(link.has_all(start));
}

TEST(NodeLinks, BelieveNoLaneOfAnEarlierFetchThatANodeHasAll) {
  NodeLink link;
  const MonoTime start{seconds(100)};
  const PeerPlan plan = plan_with({{"10.0.0.1", 50000, false, ""}});
  link.set_plan(plan, start);
  link.showed_all(start - seconds(9), start);
  EXPECT_TRUE(link.has_all(start)) << "planned for the first time";
  link.leave_plan();
  const MonoTime again = start + seconds(5);
  link.set_plan(plan, again);
  link.showed_all(start, again + seconds(1));
  EXPECT_FALSE(link.has_all(again + seconds(1))) << "the end of that lane is still on its way";
  link.showed_all(again, again + seconds(2));
  EXPECT_TRUE(link.has_all(again + seconds(2))) << "it has fetched anew";
  link.leave_plan();
  const MonoTime third = again + seconds(60);
  link.set_plan(plan, third);
  link.showed_all(start, third + seconds(30));
  EXPECT_TRUE(link.has_all(third + seconds(30))) << "a lane that lasts is none of an earlier fetch";
}

TEST(NodeLinks, LetAnAddressRestOnceAllOfItsPortsHaveFailed) {
  NodeLink link;
  const MonoTime start = MonoTime{} + std::chrono::hours(1);
  link.set_plan(plan_with({{"10.0.0.1", 1, false, ""}, {"10.0.0.1", 2, false, ""}, {"10.0.0.2", 1, false, ""}}),
                MonoTime{});
  EXPECT_FALSE(link.address_rests("10.0.0.1", start));
  link.dial_failed(link.targets[0], "ended", start);
  EXPECT_FALSE(link.address_rests("10.0.0.1", start)) << "the other port may do";
  const MonoTime later = start + redial_pause(1);
  link.dial_failed(link.targets[1], "ended", later);
  EXPECT_TRUE(link.address_rests("10.0.0.1", later)) << "also its first port, whose own pause is over";
  EXPECT_FALSE(link.address_rests("10.0.0.2", later));
  EXPECT_FALSE(link.address_rests("10.0.0.1", later + redial_pause(1)));
}

TEST(NodeLinks, DialTlsEndpointsForTlsEditionsAlone) {
  const PeerPlan plan = plan_with({{"10.0.0.1", 50000, false, ""}, {"10.0.0.1", 50016, true, ""}});
  NodeLink plain, tls;
  plain.set_plan(plan, MonoTime{});
  tls.set_plan(plan, MonoTime{}, true);
  ASSERT_EQ(plain.targets.size(), 1U);
  ASSERT_EQ(tls.targets.size(), 1U);
  EXPECT_EQ(plain.targets[0].endpoint.port, 50000);
  EXPECT_EQ(tls.targets[0].endpoint.port, 50016);
}

TEST(NodeLinks, HoldBackLongerTheMoreBadPiecesCome) {
  NodeLink link;
  MonoTime now{};
  link.bad_piece(now);
  EXPECT_EQ(link.held_until, now + seconds(2));
  link.bad_piece(now);
  EXPECT_EQ(link.held_until, now + seconds(4));
  now = link.held_until + seconds(61);
  link.bad_piece(now);
  EXPECT_EQ(link.held_until, now + seconds(2));
  EXPECT_EQ(link.bad_pieces, 3U);
}

TEST(PathProblems, AreToldAfterTwoSecondsWithoutALane) {
  NodeLink link;
  const MonoTime start{seconds(100)};
  EXPECT_FALSE(path_problem(NodeId(), link, start));
  link.set_plan(plan_with({{"2001:db8::1", 50000, false, ""}}), MonoTime{});
  link.without_lane_since = start;
  EXPECT_FALSE(path_problem(NodeId(), link, start + seconds(1)));
  EXPECT_TRUE(path_problem(NodeId(), link, start + seconds(2))->ends_with("yet: dialling"));
  link.dial_failed(link.targets[0], "Connection timed out", start);
  EXPECT_TRUE(path_problem(NodeId(), link, start + seconds(2))->ends_with("[2001:db8::1]:50000: Connection timed out"));
  link.plan->dial = false;
  EXPECT_TRUE(path_problem(NodeId(), link, start + seconds(2))->ends_with("it is to dial us"));
  link.set_plan(plan_with({}), MonoTime{});
  EXPECT_TRUE(path_problem(NodeId(), link, start + seconds(2))->ends_with("no endpoint that can be dialled"));
  link.plan->lanes = 0;
  EXPECT_FALSE(path_problem(NodeId(), link, start + seconds(2)));
}

TEST(RememberedPeers, AreKeptUpToTheLimitAndThoseWithTheFewestBytesGoFirst) {
  const std::vector<RememberedPeer> peers{{false, 7}, {true, 0}, {false, 0}, {false, 3}, {false, 0}};
  EXPECT_THAT(peers_to_forget(peers, 5), testing::IsEmpty());
  EXPECT_THAT(peers_to_forget(peers, 3), testing::ElementsAre(2, 4));
  EXPECT_THAT(peers_to_forget(peers, 2), testing::ElementsAre(2, 4, 3));
}

TEST(RememberedPeers, AreNeverForgottenWhileNeeded) {
  const std::vector<RememberedPeer> peers{{true, 0}, {false, 9}, {true, 0}};
  EXPECT_THAT(peers_to_forget(peers, 0), testing::ElementsAre(1));
}

}  // namespace
}  // namespace gridtorrent::client::engine
