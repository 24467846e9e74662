// Which congestion control a lane's sender uses: asked for by who receives, granted by who sends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/engine/congestion_grants.h"
#include "client/engine/lane.h"
#include "tests/support/fake_lane_socket.h"

namespace gridtorrent::client::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Names = std::vector<std::string>;

TEST(CongestionGrants, AreWhatTheOwnerNamesAndTheKernelAllows) {
  EXPECT_THAT(granted_congestion_controls({"bbr", "vegas"}, "reno cubic bbr"), ElementsAre("bbr"));
  EXPECT_THAT(granted_congestion_controls({"bbr"}, "reno cubic"), IsEmpty());
  EXPECT_THAT(granted_congestion_controls({"bbr"}, "reno cubic bbr2"), IsEmpty());
  EXPECT_THAT(granted_congestion_controls({"bbr"}, ""), IsEmpty()) << "the kernel's list cannot be read";
  EXPECT_THAT(granted_congestion_controls({}, "reno cubic bbr"), IsEmpty());
}

TEST(CongestionChange, FollowsAWishThatIsGranted) {
  EXPECT_EQ(congestion_change("bbr", {"reno", "bbr"}, ""), "bbr");
  EXPECT_EQ(congestion_change("bbr", {"reno", "bbr"}, "bbr"), std::nullopt) << "that is so already";
  EXPECT_EQ(congestion_change("", {"bbr"}, ""), std::nullopt);
}

TEST(CongestionChange, GoesBackToTheDefaultWithoutAWishOrAGrant) {
  EXPECT_EQ(congestion_change("", {"bbr"}, "bbr"), "");
  EXPECT_EQ(congestion_change("bbr", {"reno"}, "reno"), "");
  EXPECT_EQ(congestion_change("bbr", {}, ""), std::nullopt);
}

class SendingLane : public ::testing::Test {
 protected:
  explicit SendingLane(Names offers = {"cubic", "bbr"})
      : kernel_(new FakeSocket(std::move(offers))),
        lane_(lt::peer_connection_handle({}), std::unique_ptr<LaneSocket>(kernel_)) {
    lane_.read_tcp(EngineLoad(), MonoTime{});
  }
  std::string uses() const { return lane_.own->congestion_control; }
  FakeSocket* kernel_;
  Lane lane_;
};

TEST_F(SendingLane, KeepsItsCongestionControlWhereNobodyAsks) {
  EXPECT_FALSE(lane_.grant_congestion_control({"bbr"}));
  EXPECT_EQ(kernel_->calls, 0);
}
TEST_F(SendingLane, ChangesToWhatIsAskedForAndSaysSo) {
  lane_.congestion_wish = "bbr";
  EXPECT_TRUE(lane_.grant_congestion_control({"bbr"}));
  EXPECT_EQ(uses(), "bbr");
  EXPECT_FALSE(lane_.grant_congestion_control({"bbr"})) << "nothing new is to be told";
}
TEST_F(SendingLane, RefusesWhatIsNotGranted) {
  lane_.congestion_wish = "bbr";
  EXPECT_FALSE(lane_.grant_congestion_control({}));
  EXPECT_EQ(uses(), "cubic");
  EXPECT_EQ(kernel_->calls, 0);
}
TEST_F(SendingLane, GoesBackOnceTheWishEnds) {
  lane_.congestion_wish = "bbr";
  lane_.grant_congestion_control({"bbr"});
  lane_.congestion_wish = "";
  EXPECT_TRUE(lane_.grant_congestion_control({"bbr"}));
  EXPECT_EQ(uses(), "cubic");
}
TEST_F(SendingLane, GoesBackOnceTheGrantEnds) {
  lane_.congestion_wish = "bbr";
  lane_.grant_congestion_control({"bbr"});
  EXPECT_TRUE(lane_.grant_congestion_control({}));
  EXPECT_EQ(uses(), "cubic");
}

class LaneOfAKernelWithoutBbr : public SendingLane {
 protected:
  LaneOfAKernelWithoutBbr() : SendingLane({"cubic"}) {}
};
TEST_F(LaneOfAKernelWithoutBbr, TriesItOnceAndStays) {
  lane_.congestion_wish = "bbr";
  EXPECT_FALSE(lane_.grant_congestion_control({"bbr"}));
  EXPECT_FALSE(lane_.grant_congestion_control({"bbr"}));
  EXPECT_EQ(kernel_->calls, 1);
  EXPECT_EQ(uses(), "cubic");
}

}  // namespace
}  // namespace gridtorrent::client::engine
