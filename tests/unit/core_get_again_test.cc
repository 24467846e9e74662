#include "tests/support/node_fixture.h"

namespace gridtorrent::testing {
namespace {

using client::TransferState;

class GetAgain : public NodeFixture {};

TEST_F(GetAgain, OfWhatIsHereAndIntactIsDoneAtOnce) {
  published("set");
  const auto first = fetched(job("set"));
  const auto again = get(job("set"));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->id, first.id);
  const auto view = wait_for(first.id, TransferState::kSeeding);
  EXPECT_EQ(view.source, "local");
  EXPECT_EQ(engine_->added().size(), 1u);
  EXPECT_EQ(files_.count("verify /home/in/data"), 1);
}

TEST_F(GetAgain, OfWhatIsHereIsCopiedToAnotherPlace) {
  published("set");
  fetched(job("set"));
  const auto copy = get(job("set", "/elsewhere"));
  ASSERT_TRUE(copy.ok());
  const auto view = wait_for(copy->id, TransferState::kComplete);
  EXPECT_EQ(view.source, "local");
  EXPECT_EQ(files_.count("copy /home/in /elsewhere"), 1);
  EXPECT_EQ(engine_->added().size(), 1u);
}

TEST_F(GetAgain, OfWhatIsDamagedHereIsFetchedAgainAndTheOldForgotten) {
  published("set");
  const auto old = fetched(job("set"));
  files_.with([](auto& state) { state.damaged.insert("/home/in/data"); });
  const auto again = fetched(job("set", "/elsewhere"));
  EXPECT_EQ(again.source, "swarm");
  EXPECT_FALSE(node_->transfer(old.id).ok());
  EXPECT_EQ(store_.transfers()->size(), 1u);
}

TEST_F(GetAgain, NeverOverwritesWhatWasChangedInTheSamePlace) {
  published("set");
  const auto old = fetched(job("set"));
  files_.with([](auto& state) { state.damaged.insert("/home/in/data"); });
  ASSERT_TRUE(get(job("set")).ok());
  const auto view = wait_for(old.id, TransferState::kFailed);
  EXPECT_EQ(view.error->code, Code::kConflict);
}

TEST_F(GetAgain, RefetchesTheMissingInTheSamePlace) {
  published("set");
  const auto old = fetched(job("set"));
  files_.with([](auto& state) { state.existing.clear(); });
  ASSERT_TRUE(get(job("set")).ok());
  ASSERT_TRUE(eventually([&] { return engine_->added().size() == 2; }));
  engine_->completes(old.id);
  EXPECT_EQ(wait_for(old.id, TransferState::kSeeding).source, "swarm");
}

TEST_F(GetAgain, WithRefetchGoesToTheNetwork) {
  published("set");
  fetched(job("set"));
  auto wish = job("set", "/elsewhere");
  wish.refetch = true;
  EXPECT_EQ(fetched(wish).source, "swarm");
  EXPECT_EQ(files_.count("verify /home/in/data"), 0);
}

TEST_F(GetAgain, ThatIsRefusedLeavesWhatIsHeld) {
  published("set");
  auto some = job("set");
  some.globs = {"a"};
  const auto held = fetched(some);
  auto more = job("set");
  more.globs = {"sub"};
  more.refetch = true;
  const auto view = get(more);
  ASSERT_FALSE(view.ok());
  EXPECT_EQ(view.error().code, Code::kConflict);
  ASSERT_TRUE(node_->transfer(held.id).ok());
  EXPECT_EQ(node_->transfer(held.id)->state, TransferState::kSeeding);
  EXPECT_TRUE(eventually([&] { return store_.transfers()->size() == 1; })) << "the refused one goes after the answer";
}

TEST_F(GetAgain, OfOtherFilesIsNotTakenForHereAfterARestart) {
  published("set");
  auto some = job("set");
  some.globs = {"a"};
  const auto held = fetched(some);
  ASSERT_TRUE(node_->pause(held.id).ok());
  restart();
  const auto all = get(job("set"));
  ASSERT_TRUE(all.ok()) << all.error().message;
  EXPECT_NE(all->id, held.id);
  EXPECT_EQ(all->total_bytes, 5u) << "what is missing";
}

TEST_F(GetAgain, OfOtherFilesToAnotherPlaceTakesTheOldOnesPlace) {
  published("set");
  auto some = job("set");
  some.globs = {"a"};
  const auto old = fetched(some);
  auto more = job("set", "/elsewhere");
  more.globs = {"sub"};
  EXPECT_EQ(fetched(more).source, "swarm");
  EXPECT_FALSE(node_->transfer(old.id).ok());
}

}  // namespace
}  // namespace gridtorrent::testing
