// Which congestion control a lane's sender uses: asked for by who receives, granted by who sends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/engine/congestion_grants.h"
#include "client/engine/lane.h"

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

/// A socket of a kernel that has some congestion controls.
class FakeSocket final : public LaneSocket {
 public:
  explicit FakeSocket(Names offers) : offers_(std::move(offers)) { now_.congestion_control = "cubic"; }
  std::optional<TcpFigures> figures() const override { return now_; }
  std::optional<LossFacts> loss_facts() const override { return std::nullopt; }
  std::optional<TcpLiveness> liveness() const override { return std::nullopt; }
  bool connecting() const override { return false; }
  std::size_t unsent_bytes() const override { return 0; }
  void set_no_delay(bool) override {}
  void set_pacing(std::uint64_t) override {}
  void set_receive_buffer(int) override {}
  bool set_congestion_control(const std::string& name) override {
    ++calls;
    if (std::ranges::find(offers_, name) == offers_.end()) return false;
    now_.congestion_control = name;
    return true;
  }
  void end() override {}
  int descriptor() const override { return -1; }
  int calls = 0;

 private:
  TcpFigures now_;
  const Names offers_;
};

class SendingLane : public ::testing::Test {
 protected:
  explicit SendingLane(Names offers = {"cubic", "bbr"})
      : kernel_(new FakeSocket(std::move(offers))),
        lane_(lt::peer_connection_handle({}), std::unique_ptr<LaneSocket>(kernel_)) {
    lane_.read_tcp(EngineLoad());
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
