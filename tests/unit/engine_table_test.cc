// The lanes and links of a torrent: whose they are, what is kept of them, who is blamed for bad data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/engine/bad_pieces.h"
#include "tests/support/lanes_in_time.h"

namespace gridtorrent::client::engine {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Table : public LanesInTime {};

TEST_F(Table, KnowsNothingOfWhoHasNotGreeted) {
  const auto stranger = add({lt::make_address("192.0.2.9"), 40'000}, false);
  EXPECT_EQ(table_.link_of(*stranger), nullptr);
  EXPECT_THAT(table_.by_peer(), IsEmpty());
  EXPECT_FALSE(acts_for(*stranger, NodeId()));
}
TEST_F(Table, LetsWhoProvedNothingActForItsAddressAlone) {
  plan(1);
  const auto lane = theirs(/*proven=*/false);
  EXPECT_FALSE(acts_for(*lane, seeder_));
  EXPECT_EQ(key_of(*lane), PeerKey(seeder_, "192.0.2.1"));
  EXPECT_EQ(table_.contact_with(seeder_), Contact::kNone);
  EXPECT_EQ(table_.in_place_of_ours(seeder_, false, now_), 0);
  lane->proven = true;
  EXPECT_EQ(key_of(*lane), PeerKey(seeder_, ""));
  EXPECT_EQ(table_.contact_with(seeder_), Contact::kAnswers);
}
TEST_F(Table, NamesWhomADialWentTo) {
  plan(1);
  const auto lane = add({lt::make_address("192.0.2.1"), port(3)}, true);
  EXPECT_EQ(lane->node, seeder_);
  EXPECT_EQ(table_.target_of(*lane).second, &link().targets[3]);
  link().leave_plan();
  EXPECT_EQ(table_.target_of(*lane).second, nullptr);
}
TEST_F(Table, TellsTwoNodesAtOneAddressApartByWhoWasDialled) {
  plan(1);
  PeerPlan other = plan_of(1);
  other.node = NodeId::make(WallTime{3}, rng_);
  table_.link_of(other.node).set_plan(other, now_);
  link().targets[0].dialled = now_;
  EXPECT_EQ(add({lt::make_address("192.0.2.1"), port(0)}, true)->node, seeder_);
  EXPECT_EQ(link().targets[0].dialled, std::nullopt);
}
TEST_F(Table, CountsNeitherSilentNorDrainingLanesAsOnesThatWeHave) {
  plan(3);
  const auto lanes = ours_up_to(3);
  fall_silent(*lanes[0], 3);
  lanes[1]->drains = true;
  EXPECT_EQ(table_.outgoing_lanes(seeder_), 1);
  EXPECT_EQ(table_.open_lanes(key_of(*lanes[0])), 3);
  EXPECT_EQ(table_.contact_with(seeder_), Contact::kAnswers);
}
TEST_F(Table, KeepsTheBytesOfLanesThatAreGone) {
  plan(1);
  const auto lane = ours(0);
  lane->received_bytes = 7;
  link().asked = 3;
  end(*lane, "End of file");
  EXPECT_EQ(link().closed_received_bytes, 7U);
  EXPECT_EQ(link().asked, std::nullopt) << "no lane is left over which that was said";
  EXPECT_EQ(table_.take_out(*lane), nullptr);
}
TEST_F(Table, NotesWhatLanesShow) {
  plan(1);
  for (const auto& lane : ours_up_to(2)) lane->complete = now_;
  table_.note_shown(now_);
  EXPECT_EQ(link().lanes_peak, 2);
  EXPECT_TRUE(link().has_all(now_));
}
TEST_F(Table, ForgetsOfManyPeersThoseBeyondAndNoBytes) {
  plan(1);
  for (int i = 0; i < 1500; ++i) {
    NodeLink& link = table_.link_of(NodeId::make(WallTime{10}, rng_));
    link.closed_received_bytes = 2;
  }
  table_.forget_departed();
  EXPECT_EQ(table_.links().size(), 1024U);
  EXPECT_NE(table_.find(seeder_), nullptr) << "the plan names it";
  EXPECT_EQ(table_.forgotten_received_bytes(), 2 * (1501U - 1024U));
}

class Blame : public LanesInTime {
 protected:
  BadPieces pieces_{table_, /*tls=*/false};
  std::vector<std::string> judged() {
    Orders orders;
    pieces_.judge(now_, orders);
    return orders.warnings;
  }
};

TEST_F(Blame, FallsOnNobodyWhereSeveralMayHaveSpoiltAPiece) {
  plan(1);
  pieces_.note(*ours(0), 5);
  pieces_.note(*theirs(/*proven=*/false), 5);
  link();
  EXPECT_THAT(judged(), IsEmpty());
  EXPECT_EQ(link().bad_pieces, 0U);
}
TEST_F(Blame, FallsOnTheAddressWhereNobodyProvedToBeTheNode) {
  plan(1);
  const auto lane = ours(0);
  pieces_.note(*lane, 5);
  EXPECT_THAT(judged(), ElementsAre(HasSubstr("has not proved it")));
  EXPECT_EQ(link().bad_pieces, 0U);
  EXPECT_TRUE(link().all_targets_held(now_));
}
TEST_F(Blame, FallsOnTheNodeThatProvedItselfWhereWeDialledIt) {
  plan(1);
  const auto lane = ours(0);
  lane->proven = true;
  pieces_.note(*lane, 5);
  EXPECT_THAT(judged(), ElementsAre(testing::AllOf(
                            HasSubstr("piece 5 from " + seeder_.str() + " failed its hash"),
                            HasSubstr("its owner finds out what is wrong there with 'gridtorrent verify'"))));
  EXPECT_EQ(link().held_until, now_ + seconds(2));
  EXPECT_THAT(judged(), IsEmpty()) << "once a piece";
}
TEST_F(Blame, EndsWhatWasDialledFromWhereAProofIsRelayed) {
  plan(1);
  const auto lane = theirs();
  pieces_.note(*lane, 5);
  EXPECT_THAT(judged(), ElementsAre(HasSubstr("or whoever relays its lanes from there")));
  EXPECT_EQ(lane->state, LaneState::kClosing);
}

}  // namespace
}  // namespace gridtorrent::client::engine
