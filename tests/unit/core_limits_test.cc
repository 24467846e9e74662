// The limits of the whole node.
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
