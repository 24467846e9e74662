// What a node remembers of the paths that its transfers used.
#include <gmock/gmock.h>

#include "tests/support/fetching_node.h"

namespace gridtorrent::testing {
namespace {

using ::testing::HasSubstr;

using History = FetchingNode;

TEST_F(History, KnowsNothingOfShortTransfers) {
  end_of(fetch("set", 4));
  EXPECT_TRUE(node_->path_history().empty());
  EXPECT_EQ(node_->forget_paths(seeder_).error().code, Code::kNotFound);
  EXPECT_TRUE(node_->forget_paths(std::nullopt)->empty());
}
TEST_F(History, OfAPathIsKeptWhenATransferEndsAndToldToTheNextOne) {
  end_of(fetch("set", 40));
  ASSERT_TRUE(eventually([&] { return !node_->path_history().empty(); }));
  restart();
  const auto kept = node_->path_history();
  ASSERT_EQ(kept.size(), 1U);
  const auto& facts = kept[0].facts;
  EXPECT_EQ(facts.node, seeder_);
  EXPECT_EQ(facts.network, "198.18.0.0/24");
  EXPECT_EQ(facts.congestion_control, "cubic");
  EXPECT_EQ(facts.round_trip, std::chrono::milliseconds(60));
  EXPECT_GT(facts.bits_per_s, 60'000'000U);
  EXPECT_GT(facts.lanes, 0);

  published("next");
  const auto next = get(job("next", "/home/next"));
  ASSERT_TRUE(eventually([&] {
    const auto asked = tuner_.asked(next->id);
    return asked && asked->memories.size() == 1 && asked->memories[0].transfers == 1 &&
           asked->memories[0].facts.lanes == facts.lanes;
  }));
}
TEST_F(History, OfATransferThatFetchesIsToldToAnotherAtOnce) {
  const auto first = fetch("set", 16);
  published("next");
  const auto next = get(job("next", "/home/next"));
  EXPECT_TRUE(eventually([&] {
    const auto asked = tuner_.asked(next->id);
    return asked && asked->memories.size() == 1 && asked->memories[0].transfers == 0 &&
           asked->memories[0].facts.node == seeder_;
  }));
  EXPECT_TRUE(node_->path_history().empty()) << "it is too short to be kept";
  ASSERT_TRUE(node_->cancel(first).ok());
}
TEST_F(History, OfATransferThatFetchesIsKeptWhenTheNodeEnds) {
  fetch("set", 40);
  restart();
  EXPECT_EQ(node_->path_history().size(), 1U);
}
TEST_F(History, IsForgottenOnDiskAsWell) {
  end_of(fetch("set", 40));
  ASSERT_TRUE(eventually([&] { return !node_->path_history().empty(); }));
  const NodeId other = NodeId::make(clock_.wall(), rng_);
  EXPECT_THAT(node_->forget_paths(other).error().message, HasSubstr("tune history"));
  EXPECT_EQ(node_->forget_paths(seeder_)->size(), 1U);
  EXPECT_TRUE(node_->path_history().empty());
  restart();
  EXPECT_TRUE(node_->path_history().empty());
}
TEST_F(History, IsForgottenWhereTheDiskTakesIt) {
  end_of(fetch("set", 40));
  ASSERT_TRUE(eventually([&] { return !node_->path_history().empty(); }));
  store_.fail(Error{Code::kDisk, "read only"});
  EXPECT_EQ(node_->forget_paths(std::nullopt).error().code, Code::kDisk);
  EXPECT_EQ(node_->path_history().size(), 1U);
  store_.fail(std::nullopt);
}
TEST(NetworkOf, IsTheAddressWithoutItsHost) {
  EXPECT_EQ(client::network_of("198.18.0.7:50000"), "198.18.0.0/24");
  EXPECT_EQ(client::network_of("[2001:db8:1:2:3::1]:50000"), "2001:db8:1:2::/64");
  EXPECT_EQ(client::network_of("[fe80::1%eth0]:50000"), "fe80::/64");
  for (const char* nonsense : {"", "x", ":", "1.2.3:4", "[:]:1", "[", "[]:1"}) {
    EXPECT_EQ(client::network_of(nonsense), "") << nonsense;
  }
}

}  // namespace
}  // namespace gridtorrent::testing
