// How long a get would take: what is asked of server, history and a probe, and what is left behind.
#include <gmock/gmock.h>

#include <future>

#include "tests/support/fetching_node.h"

namespace gridtorrent::testing {
namespace {

using client::EstimateBasis;
using ::testing::HasSubstr;

class Estimates : public FetchingNode {
 protected:
  Result<client::EstimateOutcome> estimate(const std::string& content, bool may_probe = false) {
    return node_->estimate({content, "/home/" + content, {}, may_probe}, [](auto, auto) {}, {});
  }
  /// With a probe, while data comes each second; it ends by the node's clock.
  Result<client::EstimateOutcome> probe(const std::string& content, int seconds_of_data) {
    auto outcome = std::async(std::launch::async, [&] { return estimate(content, true); });
    TransferId id;
    EXPECT_TRUE(eventually(
        [&] {
          for (const auto& view : node_->transfers()) {
            if (view.name == content) id = view.id;
          }
          return !id.is_nil();
        },
        std::chrono::milliseconds(0)));
    if (seconds_of_data > 0) comes(id, seconds_of_data);
    EXPECT_TRUE(eventually([&] { return outcome.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }));
    return outcome.get();
  }
};

TEST_F(Estimates, NothingOfWhatIsUnknownOrWithdrawn) {
  EXPECT_EQ(estimate("nothing").error().code, Code::kNotFound);
  published("set");
  link_.with([&](auto& state) { state.contents["set"].withdrawn = true; });
  EXPECT_EQ(estimate("set").error().code, Code::kNotFound);
}
TEST_F(Estimates, NothingWhereNoSeederIsOnline) {
  published("set");
  link_.with([&](auto& state) { state.peers.clear(); });
  const auto outcome = estimate("set", true);
  EXPECT_EQ(outcome.error().code, Code::kUnreachable);
  EXPECT_THAT(outcome.error().message, HasSubstr("no seeder of ada/set is online"));
  EXPECT_TRUE(node_->transfers().empty()) << "nothing is begun";
}
TEST_F(Estimates, NothingOfWhatIsHereAlready) {
  end_of(fetch("set", 1));
  EXPECT_EQ(estimate("set").error().code, Code::kConflict);
  EXPECT_THAT(estimate("set").error().message, HasSubstr("here already, at /home/set/data"));
}
TEST_F(Estimates, NothingOfUnknownPathsWithoutAProbe) {
  published("set");
  const auto outcome = estimate("set");
  EXPECT_EQ(outcome.error().code, Code::kNotFound);
  EXPECT_THAT(outcome.error().message, HasSubstr("--no-probe"));
}
TEST_F(Estimates, AskForTheSwarmAsAGetDoesAndLeaveItAtOnce) {
  published("set");
  EXPECT_FALSE(estimate("set"));
  link_.with([](auto& state) {
    ASSERT_EQ(state.announces.size(), 2U);
    EXPECT_EQ(state.announces[0].role, client::SwarmRole::kFetching);
    EXPECT_EQ(state.announces[0].verified_bytes, 0U);
    EXPECT_EQ(state.announces[1].role, client::SwarmRole::kGone);
  });
}
TEST_F(Estimates, ComeFromHistoryWhereThereIsAny) {
  end_of(fetch("set", 40));
  ASSERT_TRUE(eventually([&] { return !node_->path_history().empty(); }));
  published("next");
  const auto outcome = estimate("next");
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome->basis, EstimateBasis::kHistory);
  EXPECT_EQ(outcome->transfers, 1);
  EXPECT_EQ(outcome->seeders, 1U);
  EXPECT_EQ(outcome->bytes, 8U);
  EXPECT_GT(outcome->bits_per_s, 60'000'000U);
  EXPECT_THAT(client::estimate_text(*outcome), HasSubstr("From 1 transfer over this path, the last 0 minutes ago."));
  EXPECT_EQ(node_->transfers().size(), 1U) << "nothing is begun";
}
TEST_F(Estimates, ProbeWhereFewOfTheSeedersAreKnown) {
  end_of(fetch("set", 40));
  ASSERT_TRUE(eventually([&] { return !node_->path_history().empty(); }));
  published("next");
  link_.with([&](auto& state) {
    for (int i = 0; i < 2; ++i) {
      auto stranger = state.peers.front();
      stranger.node = NodeId::make(clock_.wall(), rng_);
      state.peers.push_back(stranger);
    }
  });
  const auto unprobed = estimate("next");
  ASSERT_TRUE(unprobed.ok()) << unprobed.error().message;
  EXPECT_THAT(client::estimate_text(*unprobed), HasSubstr("from 3 seeders, of which 1 known"));
  const auto outcome = probe("next", 4);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome->basis, EstimateBasis::kProbe);
}
TEST_F(Estimates, NameThePatternsThatMeanNoFile) {
  end_of(fetch("set", 40));
  ASSERT_TRUE(eventually([&] { return !node_->path_history().empty(); }));
  published("next");
  const auto outcome = node_->estimate({"next", "/home/next", {"data", "typo*"}, false}, [](auto, auto) {}, {});
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome->unmatched, std::vector<std::string>{"typo*"});
}
TEST_F(Estimates, AreBoundByTheNodesLimit) {
  end_of(fetch("set", 40));
  ASSERT_TRUE(eventually([&] { return !node_->path_history().empty(); }));
  published("next");
  ASSERT_TRUE(node_->set_limits({0, 5'000'000}).ok());
  const auto outcome = estimate("next");
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome->bits_per_s, 5'000'000U);
  EXPECT_EQ(outcome->limit, client::Limit::kCap);
}
TEST_F(Estimates, ProbeAnUnknownPathAndKeepWhatCameForTheGet) {
  published("set");
  const auto outcome = probe("set", 4);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome->basis, EstimateBasis::kProbe);
  EXPECT_GT(outcome->bits_per_s, 60'000'000U);
  EXPECT_GE(outcome->probed, client::EstimateFlow::kProbe);
  const auto paused = wait_for(outcome->transfer, client::TransferState::kPaused);
  EXPECT_THAT(client::estimate_text(*outcome), HasSubstr("transfer cancel " + paused.id.str()));
  bool joined = false;
  const auto get = node_->get(job("set", "/home/set"), joined);
  ASSERT_TRUE(get.ok());
  EXPECT_TRUE(joined);
  EXPECT_EQ(get->id, outcome->transfer);
  complete(get->id);
  wait_for(get->id, client::TransferState::kSeeding);
}
TEST_F(Estimates, SayWhereAProbeBringsNothing) {
  published("set");
  const auto outcome = probe("set", 0);
  EXPECT_EQ(outcome.error().code, Code::kUnreachable);
  EXPECT_THAT(outcome.error().message, HasSubstr("no data has come"));
  EXPECT_EQ(node_->transfers().front().state, client::TransferState::kPaused);
}
TEST_F(Estimates, OfATransferThatFetchesAreOfWhatItHasShown) {
  const auto id = fetch("set", 4);
  const auto outcome = estimate("set");
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome->basis, EstimateBasis::kTransfer);
  EXPECT_EQ(outcome->transfer, id);
  EXPECT_EQ(node_->transfer(id)->state, client::TransferState::kFetching) << "it goes on";
}

}  // namespace
}  // namespace gridtorrent::testing
