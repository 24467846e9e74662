// The limits of the whole node.
#include "client/core/plan_input.h"
#include "tests/support/node_fixture.h"

namespace gridtorrent::testing {
namespace {

using NodeLimits = NodeFixture;
using Pair = std::pair<std::uint64_t, std::uint64_t>;

TEST_F(NodeLimits, TakeHoldInTheEngineAtOnce) {
  EXPECT_EQ(engine_->node_limit(), Pair(0, 0));
  ASSERT_TRUE(node_->set_limits({.send_bits_per_s = 200'000'000, .receive_bits_per_s = 0}).ok());
  EXPECT_EQ(engine_->node_limit(), Pair(0, 200'000'000));
  EXPECT_EQ(node_->status().limits.send_bits_per_s, 200'000'000U);
  EXPECT_EQ(node_->status().limits.receive_bits_per_s, 0U);
}

TEST_F(NodeLimits, FollowTheConfigurationWhenItIsReadAgain) {
  ASSERT_TRUE(node_->set_limits({5'000'000, 6'000'000}).ok());
  node_->reconfigure({{{"raw", "/raw"}}, {}, 2, {7'000'000, 0}});
  EXPECT_EQ(engine_->node_limit(), Pair(0, 7'000'000));
}

TEST(PartOfANodesLimit, IsWhatOthersLeaveAndAnEvenOneAtLeast) {
  client::ControllerInput input;
  EXPECT_EQ(limit_beside(0, 0, input), 0U) << "there is none";
  EXPECT_EQ(limit_beside(50, 0, input), 50U);
  EXPECT_EQ(limit_beside(0, 90, input), 90U);
  input.others = {{TransferId(TransferId::Bytes{2}), {}, 30}, {TransferId(TransferId::Bytes{3}), {}, 30}};
  EXPECT_EQ(limit_beside(0, 90, input), 30U);
  EXPECT_EQ(limit_beside(20, 90, input), 20U) << "its own is lower";
  EXPECT_EQ(limit_beside(50, 0, input), 50U);
  input.others.front().receive_bits_per_s = 5;
  EXPECT_EQ(limit_beside(0, 90, input), 55U) << "who is slow leaves more";
  input.others.front().receive_bits_per_s = 1'000;
  EXPECT_EQ(limit_beside(0, 90, input), 30U) << "each may have an even part";
}

TEST_F(NodeLimits, TooLowToKeepLanesAliveAreRefused) {
  ASSERT_TRUE(node_->set_limits({5'000'000, 6'000'000}).ok());
  const Status refused = node_->set_limits({5'000'000, 999'999});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kInvalid);
  EXPECT_NE(refused.error().message.find("download-limit"), std::string::npos) << refused.error().message;
  EXPECT_NE(refused.error().message.find("1Mbit"), std::string::npos) << refused.error().message;
  EXPECT_EQ(engine_->node_limit(), Pair(6'000'000, 5'000'000)) << "all stays as it was";
}

}  // namespace
}  // namespace gridtorrent::testing
