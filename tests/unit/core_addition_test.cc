// Further files of a content, to where an earlier get brought some of it.
#include "tests/support/node_fixture.h"

namespace gridtorrent::testing {
namespace {

using client::DiskTrust;
using client::TransferState;

/// "a" is held; "sub" is asked for at the same place.
class Addition : public NodeFixture {
 protected:
  Addition() {
    published("set");
    auto some = job("set");
    some.globs = {"a"};
    held_ = fetched(some).id;
    more_ = job("set");
    more_.globs = {"sub"};
  }
  TransferId begun() {
    const auto view = get(more_);
    EXPECT_TRUE(view.ok()) << view.error().message;
    if (!view) return {};
    EXPECT_TRUE(eventually([&] { return engine_->torrent(view->id).has_value(); }));
    return view->id;
  }
  void expect_held_seeds_again() {
    wait_for(held_, TransferState::kSeeding);
    EXPECT_EQ(engine_->torrent(held_)->spec.wanted, (std::vector<bool>{true, false}));
  }

  TransferId held_;
  client::GetJob more_;
};

TEST_F(Addition, FetchesWhatIsMissingAndTakesTheOldOnesPlace) {
  const TransferId id = begun();
  EXPECT_EQ(engine_->torrent(id)->spec.wanted, (std::vector<bool>{false, true}));
  EXPECT_FALSE(engine_->torrent(held_)) << "the engine knows a content once";
  EXPECT_EQ(node_->transfer(id)->total_bytes, 5u);
  engine_->completes(id);
  const auto whole = wait_for(id, TransferState::kSeeding);
  EXPECT_EQ(whole.total_bytes, 8u);
  EXPECT_EQ(engine_->torrent(id)->spec.wanted, (std::vector<bool>{true, true}));
  EXPECT_EQ(engine_->torrent(id)->spec.trust, DiskTrust::kComplete);
  EXPECT_FALSE(node_->transfer(held_).ok());
  EXPECT_EQ(store_.transfers()->size(), 1u);
  EXPECT_EQ(get(job("set"))->id, id) << "all of it is there now";
}

TEST_F(Addition, OfEverythingBringsTheRest) {
  more_.globs = {};
  const TransferId id = begun();
  EXPECT_EQ(engine_->torrent(id)->spec.wanted, (std::vector<bool>{false, true}));
  engine_->completes(id);
  EXPECT_EQ(wait_for(id, TransferState::kSeeding).total_bytes, 8u);
  EXPECT_TRUE(store_.transfers()->front().globs.empty());
}

TEST_F(Addition, ThatIsCancelledLeavesWhatWasThere) {
  const TransferId id = begun();
  ASSERT_TRUE(node_->cancel(id).ok());
  expect_held_seeds_again();
}

TEST_F(Addition, ThatFailsLeavesWhatWasThereAndCanBeRepeated) {
  files_.with([](auto& state) { state.commit_error = Error{Code::kConflict, "sub/b is in the way"}; });
  const TransferId id = begun();
  engine_->completes(id);
  wait_for(id, TransferState::kFailed);
  expect_held_seeds_again();
  files_.with([](auto& state) { state.commit_error.reset(); });
  EXPECT_EQ(begun(), id);
  engine_->completes(id);
  EXPECT_EQ(wait_for(id, TransferState::kSeeding).total_bytes, 8u);
}

TEST_F(Addition, IsRefusedAtOnceWhereWhatIsThereWasChanged) {
  files_.with([](auto& state) { ++state.existing["/home/in/data"]; });
  const auto view = get(more_);
  ASSERT_FALSE(view.ok());
  EXPECT_EQ(view.error().code, Code::kConflict);
  EXPECT_NE(view.error().message.find("/home/in/data was changed since it was fetched"), std::string::npos)
      << view.error().message;
}

TEST_F(Addition, IsAGetLikeAnyOtherWhereWhatWasThereIsGone) {
  files_.with([](auto& state) { state.existing.erase("/home/in/data"); });
  const TransferId id = begun();
  EXPECT_EQ(engine_->torrent(id)->spec.wanted, (std::vector<bool>{false, true}));
  engine_->completes(id);
  EXPECT_EQ(wait_for(id, TransferState::kSeeding).total_bytes, 5u);
  EXPECT_FALSE(node_->transfer(held_).ok());
}

TEST_F(Addition, IsCopiedFromElsewhereOnThisNode) {
  auto elsewhere = job("set", "/elsewhere");
  elsewhere.refetch = true;
  fetched(elsewhere);  // takes the place of the first
  auto some = job("set");
  some.globs = {"a"};
  files_.with([](auto& state) { state.existing.erase("/home/in/data"); });
  const auto first = get(some);
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_EQ(wait_until(first->id, [](const auto& view) { return view.source == "local"; }).total_bytes, 3u);
  ASSERT_TRUE(eventually([&] { return !in_progress(store_.transfers()->back().step); }));
  const auto second = get(more_);
  ASSERT_TRUE(second.ok()) << second.error().message;
  const auto done = wait_until(second->id, [](const auto& view) { return view.total_bytes == 8; });
  EXPECT_EQ(done.source, "local");
}

TEST_F(Addition, ThatGivesUpOnItsDiskLetsWhatWasThereSeedAgain) {
  const TransferId id = begun();
  gives_up_on_its_disk(id);
  expect_held_seeds_again();
}

TEST_F(Addition, WhoseCommitBeganIsResumedByAnotherCommit) {
  files_.with([](auto& state) { state.commit_error = Error{Code::kDisk, "Input/output error"}; });
  const TransferId id = begun();
  engine_->completes(id);
  wait_for(id, TransferState::kFailed);
  files_.with([](auto& state) {
    state.commit_error.reset();
    state.commit_begun = true;
  });
  const auto prepares = files_.count("prepare /home/in");
  ASSERT_TRUE(node_->resume(id).ok());
  EXPECT_EQ(wait_for(id, TransferState::kSeeding).total_bytes, 8u);
  EXPECT_EQ(files_.count("prepare /home/in"), prepares) << "nothing is fetched again";
  EXPECT_GE(files_.count("verify /home/in/data"), 1) << "but all of it is verified";
}

TEST_F(Addition, GoesOnAfterARestart) {
  const TransferId id = begun();
  restart();
  ASSERT_TRUE(eventually([&] { return engine_->torrent(id).has_value(); }));
  EXPECT_EQ(engine_->torrent(id)->spec.wanted, (std::vector<bool>{false, true}));
  EXPECT_FALSE(engine_->torrent(held_));
  engine_->completes(id);
  EXPECT_EQ(wait_for(id, TransferState::kSeeding).total_bytes, 8u);
}

TEST_F(Addition, VerifiesWhatWasThereIfItMayHaveChanged) {
  const TransferId id = begun();
  files_.with([](auto& state) {
    ++state.existing["/home/in/data"];
    state.damaged.insert("/home/in/data");
  });
  engine_->completes(id);
  const auto failed = wait_for(id, TransferState::kFailed);
  EXPECT_EQ(failed.error->code, Code::kCorrupt);
  EXPECT_GE(files_.count("verify /home/in/data"), 1);
}

}  // namespace
}  // namespace gridtorrent::testing
