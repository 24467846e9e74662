#include <gmock/gmock.h>

#include "tests/support/node_fixture.h"

namespace gridtorrent::testing {
namespace {

using client::AnnounceRequest;
using client::SwarmRole;
using client::TransferState;

/// What the server is told that this node has.
class NodeClaims : public NodeFixture {
 protected:
  NodeClaims() { published("data"); }

  std::optional<AnnounceRequest> last_announce() {
    return link_.with(
        [](auto& state) { return state.announces.empty() ? std::nullopt : std::optional(state.announces.back()); });
  }
  ::testing::AssertionResult told(SwarmRole role) {
    return eventually([&] { return last_announce() && last_announce()->role == role; });
  }
  std::size_t stored() { return store_.transfers()->size(); }
  void damage(const std::string& base) {
    files_.with([&](auto& state) { state.damaged.insert(base); });
  }
  void verify_finds_a_fault(const TransferId& id) {
    const auto outcome = node_->verify("data", "", false, {}, {});
    ASSERT_TRUE(outcome.ok()) << outcome.error().message;
    ASSERT_GT(outcome->report.fault_count, 0u);
    ASSERT_TRUE(eventually([&] { return node_->transfer(id)->state == TransferState::kFailed; }));
  }
  void server_is_away(bool away) {
    link_.with(
        [&](auto& state) { state.down = away ? std::optional(Error{Code::kUnreachable, "no route"}) : std::nullopt; });
  }
};

TEST_F(NodeClaims, AreWithdrawnWhenACopyIsFoundToBeDamaged) {
  const auto id = fetched(job("data")).id;
  ASSERT_TRUE(told(SwarmRole::kSeeding));
  damage("/home/in/data");
  verify_finds_a_fault(id);
  EXPECT_TRUE(told(SwarmRole::kGone));
  const auto announces = link_.with([](auto& state) { return state.announces.size(); });
  const auto later = clock_.mono() + std::chrono::minutes(2);
  ASSERT_TRUE(eventually([&] { return clock_.mono() >= later; }, std::chrono::seconds(1)));
  EXPECT_EQ(link_.with([](auto& state) { return state.announces.size(); }), announces) << "once is enough";
}

TEST_F(NodeClaims, BringTheNameThatTheContentHasNow) {
  const auto id = fetched(job("data")).id;
  link_.with([](auto& state) { state.contents.at("data").name = "better"; });
  ASSERT_TRUE(eventually([&] { return node_->transfer(id)->name == "better"; }));
  restart();
  EXPECT_EQ(node_->transfer(id)->name, "better");
}

TEST_F(NodeClaims, ComeBackWithAContentThatWasWithdrawn) {
  const auto id = fetched(job("data")).id;
  link_.with([](auto& state) {
    state.contents.at("data").withdrawn = true;
    state.announce_error = Error{Code::kConflict, "its owner has withdrawn it"};
  });
  ASSERT_TRUE(eventually([&] { return node_->transfer(id)->state == TransferState::kComplete; }));
  link_.with([](auto& state) {
    state.contents.at("data").withdrawn = false;
    state.announce_error.reset();
  });
  EXPECT_TRUE(eventually([&] { return node_->transfer(id)->state == TransferState::kSeeding; }));
  EXPECT_TRUE(told(SwarmRole::kSeeding));
}

TEST_F(NodeClaims, AreWithdrawnAfterARestartWhereTheServerWasAway) {
  const auto id = fetched(job("data")).id;
  ASSERT_TRUE(told(SwarmRole::kSeeding));
  server_is_away(true);
  damage("/home/in/data");
  verify_finds_a_fault(id);
  end();
  server_is_away(false);
  start();
  EXPECT_TRUE(told(SwarmRole::kGone));
  EXPECT_EQ(node_->transfer(id)->state, TransferState::kFailed);
}

TEST_F(NodeClaims, AreWithdrawnUntilTheServerTakesIt) {
  const auto id = fetched(job("data")).id;
  ASSERT_TRUE(told(SwarmRole::kSeeding));
  link_.with([](auto& state) { state.announce_error = Error{Code::kBusy, "too much to do"}; });
  damage("/home/in/data");
  verify_finds_a_fault(id);
  link_.with([](auto& state) { state.announce_error.reset(); });
  EXPECT_TRUE(told(SwarmRole::kGone));
}

TEST_F(NodeClaims, OfACancelledCopyAreRememberedUntilTheyAreWithdrawn) {
  const auto id = fetched(job("data")).id;
  ASSERT_TRUE(told(SwarmRole::kSeeding));
  server_is_away(true);
  ASSERT_TRUE(node_->cancel(id).ok());
  EXPECT_THAT(node_->transfers(), ::testing::IsEmpty());
  end();
  EXPECT_EQ(stored(), 1u);
  server_is_away(false);
  start();
  EXPECT_TRUE(told(SwarmRole::kGone));
  EXPECT_TRUE(eventually([&] { return stored() == 0; }));
}

TEST_F(NodeClaims, StayWhileAnotherCopyOfTheSameNodeIsWhole) {
  const auto first = fetched(job("data", "/home/one")).id;
  const auto second = get(job("data", "/home/two"));
  ASSERT_TRUE(second.ok()) << second.error().message;
  ASSERT_TRUE(eventually([&] { return node_->transfer(second->id)->state == TransferState::kComplete; }));
  damage("/home/one/data");
  ASSERT_GT(node_->verify("", "/home/one/data", false, {}, {})->report.fault_count, 0u);
  ASSERT_TRUE(eventually([&] { return node_->transfer(second->id)->state == TransferState::kSeeding; }));
  ASSERT_TRUE(eventually([&] { return node_->transfer(first)->state == TransferState::kFailed; }));
  const auto later = clock_.mono() + std::chrono::minutes(1);
  ASSERT_TRUE(eventually([&] { return clock_.mono() >= later; }, std::chrono::seconds(1)));
  EXPECT_TRUE(told(SwarmRole::kSeeding)) << "whatever was said in between";
}

TEST_F(NodeClaims, SayWhenTheCopyWasLastHashed) {
  fetched(job("data"));
  ASSERT_TRUE(eventually([&] { return last_announce() && last_announce()->role == SwarmRole::kSeeding; }));
  ASSERT_TRUE(last_announce()->verified_age);
  EXPECT_LT(*last_announce()->verified_age, std::chrono::minutes(1));
  restart();
  clock_.advance(std::chrono::hours(1));
  ASSERT_TRUE(eventually([&] {
    return last_announce()->verified_age && *last_announce()->verified_age >= std::chrono::hours(1);
  })) << "a restart is no verification";
  ASSERT_EQ(node_->verify("data", "", false, {}, {})->report.fault_count, 0u);
  EXPECT_TRUE(eventually([&] { return *last_announce()->verified_age < std::chrono::minutes(1); }));
}

}  // namespace
}  // namespace gridtorrent::testing
