// The end that receives asks for a congestion control, the end that sends grants it, over real sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "client/engine/tcp_info.h"
#include "tests/integration/engine_lab.h"

namespace gridtorrent::client::engine::test {
namespace {

using std::chrono::seconds;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

std::string kernels_default() {
  std::istringstream line(read_file("/proc/sys/net/ipv4/tcp_congestion_control"));
  std::string name;
  line >> name;
  return name;
}

/// One that the kernel allows to everybody and that is not its default; empty: there is none.
std::string another() {
  std::istringstream names(allowed_congestion_controls());
  for (std::string name; names >> name;) {
    if (name != kernels_default()) return name;
  }
  return "";
}

class CongestionControl : public ::testing::Test {
 protected:
  void SetUp() override {
    if (another().empty()) GTEST_SKIP() << "this kernel allows its default alone";
  }
  /// A transfer that takes a minute, so that both ends keep talking.
  void start(std::vector<std::string> grants) {
    seeder_ = std::make_unique<Node>("127.0.0.1", nullptr, false, true, new_node(), std::move(grants));
    leecher_ = std::make_unique<Node>();
    sample_.write(folder_ / "seed");
    seeder_->seed(sample_, folder_ / "seed", transfer_);
    leecher_->fetch(sample_, folder_ / "get", transfer_);
    leecher_->engine->set_rate_limit(transfer_, 8'000'000, 0);
  }
  /// `of`: so many of these; 0: all.
  void ask(const std::string& name, int lanes = 2, int of = 0) {
    PeerPlan plan = seeder_->peer(lanes);
    plan.congestion_control = name;
    plan.congestion_lanes = of;
    leecher_->plan(transfer_, {plan});
  }
  /// As many lanes stand, and their sender says that it uses this.
  bool sends_with(const std::string& name, int lanes = 2) const {
    const auto snapshot = leecher_->snapshot(transfer_);
    return open_lanes(snapshot, seeder_->id) == lanes &&
           std::ranges::all_of(snapshot.peers.at(0).lanes, [&](const LaneSnapshot& lane) {
             return lane.theirs && lane.theirs->congestion_control == name;
           });
  }

  const Folder folder_;
  const Sample sample_ = one_file(60'000'000);
  const TransferId transfer_ = new_transfer();
  std::unique_ptr<Node> seeder_, leecher_;
};

TEST_F(CongestionControl, OfTheSenderStaysWhereItsOwnerGrantsNothing) {
  start({});
  ask(another());
  EXPECT_TRUE(eventually([&] { return !leecher_->recorder.warnings().empty(); }));
  EXPECT_THAT(leecher_->recorder.warnings(), Contains(HasSubstr("does not send with congestion control")));
  EXPECT_TRUE(eventually([&] { return sends_with(kernels_default()); }));
  EXPECT_TRUE(stays([&] { return !sends_with(another()); }, seconds(3)));
  EXPECT_EQ(leecher_->recorder.warnings().size(), 1u) << "once, not for each lane and second";
}

TEST_F(CongestionControl, OfTheSenderStaysWhereTheKernelDoesNotAllowTheOther) {
  start({"nonesuch"});
  ask("nonesuch");
  EXPECT_TRUE(eventually([&] { return !leecher_->recorder.warnings().empty(); }));
  EXPECT_THAT(leecher_->recorder.warnings(), Contains(HasSubstr("it grants none")));
  EXPECT_TRUE(eventually([&] { return sends_with(kernels_default()); }));
}

TEST_F(CongestionControl, OfTheSenderIsWhatTheReceiverAsksForUntilItNoLongerDoes) {
  start({another()});
  ask("");
  EXPECT_TRUE(eventually([&] { return sends_with(kernels_default()); }));
  EXPECT_EQ(leecher_->snapshot(transfer_).peers.at(0).lanes.at(0).grants, std::vector<std::string>{another()});
  ask(another());
  EXPECT_TRUE(eventually([&] { return sends_with(another()); }));
  ask(another(), 4);
  EXPECT_TRUE(eventually([&] { return sends_with(another(), 4); })) << "lanes that come later have it as well";
  ask("", 4);
  EXPECT_TRUE(eventually([&] { return sends_with(kernels_default(), 4); }));
  EXPECT_THAT(leecher_->recorder.warnings(), IsEmpty());
}

TEST_F(CongestionControl, IsThatOfTheOldestLanesWhereThePlanSaysSo) {
  start({another()});
  ask("", 4);
  ASSERT_TRUE(eventually([&] { return sends_with(kernels_default(), 4); }));
  ask(another(), 4, 2);
  const auto used = [&] {
    std::vector<std::string> names;
    const auto snapshot = leecher_->snapshot(transfer_);
    for (const auto& lane : snapshot.peers.at(0).lanes)
      names.push_back(lane.theirs.value_or(TcpFigures{}).congestion_control);
    return names;
  };
  EXPECT_TRUE(eventually(
      [&] { return used() == std::vector<std::string>{another(), another(), kernels_default(), kernels_default()}; }));
}

TEST_F(CongestionControl, OfTheReceiverStaysItsOwn) {
  start({another()});
  ask(another());
  ASSERT_TRUE(eventually([&] { return sends_with(another()); }));
  const auto snapshot = leecher_->snapshot(transfer_);
  for (const auto& lane : snapshot.peers.at(0).lanes) {
    EXPECT_EQ(lane.own.value_or(TcpFigures{}).congestion_control, kernels_default());
  }
}

}  // namespace
}  // namespace gridtorrent::client::engine::test
