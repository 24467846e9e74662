// A get to where files lie already, under the name that somebody wants, and refused at once.
#include <gmock/gmock.h>

#include "tests/support/node_fixture.h"

namespace gridtorrent::testing {
namespace {

using client::TransferState;
using ::testing::HasSubstr;

class GetAdopts : public NodeFixture {
 protected:
  /// The files of the fixture's content lie there, and no transfer knows of them.
  void lies_at(const std::string& base) {
    files_.with([&](auto& state) { state.existing[base] = 1; });
  }
  void expect_nothing_left() {
    EXPECT_TRUE(node_->transfers().empty());
    EXPECT_TRUE(eventually([&] { return store_.transfers()->empty(); }));
  }
};

TEST_F(GetAdopts, NothingThatDiffersInSize) {
  published("set");
  lies_at("/home/in/data");
  files_.with([](auto& state) { state.differing.insert("/home/in/data"); });
  const auto refused = get(job("set"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kConflict);
  EXPECT_THAT(refused.error().message, HasSubstr("'/home/in/data/a' already exists and is not right: size"));
  expect_nothing_left();
}

TEST_F(GetAdopts, NothingThatHasNoneOfItsFiles) {
  published("set");
  lies_at("/home/in/data");
  files_.with([](auto& state) { state.foreign.insert("/home/in/data"); });
  const auto refused = get(job("set"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kConflict);
  EXPECT_THAT(refused.error().message, HasSubstr("'/home/in/data' already exists"));
  expect_nothing_left();
}

TEST_F(GetAdopts, NothingOfWhichTheBytesDiffer) {
  published("set");
  lies_at("/home/in/data");
  files_.with([](auto& state) { state.damaged.insert("/home/in/data"); });
  const auto view = get(job("set"));
  ASSERT_TRUE(view.ok()) << "to be read first";
  const auto failed = wait_for(view->id, TransferState::kFailed);
  ASSERT_TRUE(failed.error);
  EXPECT_EQ(failed.error->code, Code::kConflict);
  EXPECT_THAT(failed.error->message, HasSubstr("already exists and is not right"));
  expect_nothing_left();
}

TEST_F(GetAdopts, WhatLiesThereAndIsRight) {
  published("set");
  lies_at("/home/in/data");
  const auto view = get(job("set"));
  ASSERT_TRUE(view.ok()) << view.error().message;
  const auto done = wait_for(view->id, TransferState::kSeeding);
  EXPECT_EQ(done.source, "attached");
  EXPECT_EQ(done.received_bytes, 0u);
  EXPECT_EQ(files_.count("verify /home/in/data"), 1);
  EXPECT_EQ(files_.count("prepare /home/in"), 0);
}

TEST_F(GetAdopts, AndFetchesTheRest) {
  published("set");
  lies_at("/home/in/data");
  files_.with([](auto& state) { state.gone.insert("/home/in/data/sub/b"); });
  const auto view = get(job("set"));
  ASSERT_TRUE(view.ok()) << view.error().message;
  complete(view->id);
  const auto done = wait_for(view->id, TransferState::kSeeding);
  EXPECT_EQ(done.source, "swarm");
  EXPECT_EQ(done.total_bytes, 8u);
  EXPECT_EQ(engine_->added().front().wanted, (std::vector<bool>{false, true}));
  EXPECT_EQ(node_->transfers().size(), 1u);
}

TEST_F(GetAdopts, AnEmptyFolderAndFetchesAllOfIt) {
  published("set");
  lies_at("/home/in/data");
  files_.with([](auto& state) { state.gone = {"/home/in/data/a", "/home/in/data/sub/b"}; });
  const auto view = get(job("set"));
  ASSERT_TRUE(view.ok()) << view.error().message;
  complete(view->id);
  const auto done = wait_for(view->id, TransferState::kSeeding);
  EXPECT_EQ(done.source, "swarm");
  EXPECT_EQ(done.total_bytes, 8u);
  EXPECT_EQ(node_->transfers().size(), 1u);
  const auto removed = node_->remove_files(done.id, true);
  ASSERT_TRUE(removed.ok()) << "what came is the node's: " << removed.error().message;
  EXPECT_EQ(removed->files, 2u);
}

class GetFillsAnEmptyFolder : public GetAdopts {
 protected:
  GetFillsAnEmptyFolder() {
    published("set");
    lies_at("/home/in/data");
    files_.with([](auto& state) { state.gone = {"/home/in/data/a", "/home/in/data/sub/b"}; });
  }
  /// What the engine is asked for.
  TransferId begun() {
    const auto view = get(job("set"));
    EXPECT_TRUE(view.ok()) << view.error().message;
    if (!view) return {};
    EXPECT_TRUE(eventually([&] { return engine_->torrent(view->id).has_value(); }));
    return view->id;
  }
  TransferId failed() {
    files_.with([](auto& state) { state.commit_error = Error{Code::kConflict, "data/a is in the way"}; });
    const TransferId id = begun();
    engine_->completes(id);
    wait_for(id, TransferState::kFailed);
    files_.with([](auto& state) { state.commit_error.reset(); });
    return id;
  }
};

TEST_F(GetFillsAnEmptyFolder, AndLeavesNothingInTheListWhereItIsCancelled) {
  const TransferId id = begun();
  EXPECT_EQ(node_->transfers().size(), 1u) << "nor is there another one while it is fetched";
  ASSERT_TRUE(node_->cancel(id).ok());
  EXPECT_TRUE(eventually([&] { return node_->transfers().empty() && store_.transfers()->empty(); }));
}

TEST_F(GetFillsAnEmptyFolder, AlsoAfterARestartWithoutVerifyingItOnceMore) {
  const TransferId id = begun();
  restart();
  complete(id);
  EXPECT_EQ(wait_for(id, TransferState::kSeeding).total_bytes, 8u);
  EXPECT_EQ(files_.count("verify /home/in/data"), 1) << "when it was looked at first";
}

TEST_F(GetFillsAnEmptyFolder, TheNextTimeWhereItFailed) {
  const TransferId id = failed();
  EXPECT_EQ(node_->transfers().size(), 1u);
  EXPECT_EQ(begun(), id);
  engine_->completes(id);
  EXPECT_EQ(wait_for(id, TransferState::kSeeding).total_bytes, 8u);
  EXPECT_TRUE(files_.with([](auto& state) { return state.committed.beside; }));
}

TEST_F(GetFillsAnEmptyFolder, WithOtherFilesWhereItFailed) {
  const TransferId first = failed();
  auto some = job("set");
  some.globs = {"a"};
  const auto view = get(some);
  ASSERT_TRUE(view.ok()) << view.error().message;
  EXPECT_NE(view->id, first);
  complete(view->id);
  EXPECT_EQ(wait_for(view->id, TransferState::kSeeding).total_bytes, 3u);
}

TEST_F(GetAdopts, AndAddsNothingToAFolderThatHoldsOtherThings) {
  published("set");
  lies_at("/home/in/data");
  files_.with([](auto& state) {
    state.gone.insert("/home/in/data/sub/b");
    state.added = "data/mine";
  });
  const auto refused = get(job("set"));
  ASSERT_FALSE(refused.ok()) << "who publishes could put files into any folder of which one file is known";
  EXPECT_EQ(refused.error().code, Code::kConflict);
  EXPECT_THAT(refused.error().message, HasSubstr("'/home/in/data/mine' is not of"));
  EXPECT_THAT(refused.error().message, HasSubstr("choose another folder with --to"));
  expect_nothing_left();
}

TEST_F(GetAdopts, WhatIsThereInAFolderThatHoldsOtherThings) {
  published("set");
  lies_at("/home/in/data");
  files_.with([](auto& state) { state.added = "data/mine"; });
  const auto view = get(job("set"));
  ASSERT_TRUE(view.ok()) << "nothing is added: " << view.error().message;
  EXPECT_EQ(wait_for(view->id, TransferState::kSeeding).source, "attached");
}

TEST_F(GetAdopts, AndAddsNothingLaterToWhatItAdoptedBesideOtherThings) {
  published("set");
  lies_at("/home/in/data");
  files_.with([](auto& state) {
    state.lying.insert("/home/in/data");
    state.added = "data/mine";
  });
  auto some = job("set");
  some.globs = {"a"};
  const auto adopted = get(some);
  ASSERT_TRUE(adopted.ok()) << adopted.error().message;
  wait_for(adopted->id, TransferState::kSeeding);
  files_.with([](auto& state) { state.gone.insert("/home/in/data/sub/b"); });
  const auto refused = get(job("set"));
  ASSERT_FALSE(refused.ok()) << "in two steps no more than in one";
  EXPECT_THAT(refused.error().message, HasSubstr("'/home/in/data/mine' is not of"));
}

TEST_F(GetAdopts, AndAddsToWhatAGetBroughtWhateverLiesBesideIt) {
  published("set");
  auto some = job("set");
  some.globs = {"a"};
  fetched(some);
  files_.with([](auto& state) { state.added = "data/notes"; });
  const auto view = get(job("set"));
  ASSERT_TRUE(view.ok()) << "that folder was made for the content: " << view.error().message;
}

TEST_F(GetAdopts, FurtherFilesToo) {
  published("set");
  auto some = job("set");
  some.globs = {"a"};
  const auto part = fetched(some);
  files_.with([](auto& state) { state.lying.insert("/home/in/data"); });
  const auto view = get(job("set"));
  ASSERT_TRUE(view.ok()) << view.error().message;
  EXPECT_NE(view->id, part.id);
  EXPECT_EQ(wait_for(view->id, TransferState::kSeeding).total_bytes, 8u);
  EXPECT_FALSE(node_->transfer(part.id).ok()) << "it is among what was looked at";
}

TEST_F(GetAdopts, AlsoAfterACrash) {
  published("set");
  lies_at("/home/in/data");
  const auto view = get(job("set"));
  ASSERT_TRUE(view.ok());
  restart();
  EXPECT_EQ(wait_for(view->id, TransferState::kSeeding).source, "attached");
}

using GetRefused = GetAdopts;

TEST_F(GetRefused, ToWhereACopyWouldGoLeavesNoTransfer) {
  published("set");
  const auto held = fetched(job("set"));
  lies_at("/elsewhere/data");
  files_.with([](auto& state) { state.differing.insert("/elsewhere/data"); });
  ASSERT_FALSE(get(job("set", "/elsewhere")).ok());
  files_.with([](auto& state) {
    state.existing.erase("/elsewhere/data");
    state.prepare_error = Error{Code::kDisk, "Read-only file system"};
  });
  const auto refused = get(job("set", "/elsewhere"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kDisk);
  ASSERT_EQ(node_->transfers().size(), 1u);
  EXPECT_EQ(node_->transfers().front().id, held.id);
}

TEST_F(GetRefused, BecauseNobodyServesIt) {
  published("set");
  auto wish = job("set");
  wish.if_seeded = true;
  const auto refused = get(wish);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kUnreachable);
  EXPECT_THAT(refused.error().message, HasSubstr("nobody serves ada/set now"));
  expect_nothing_left();
  link_.with([](FakeLink::State& state) { state.contents["set"].seeders = 1; });
  EXPECT_EQ(fetched(wish).source, "swarm");
}

TEST_F(GetRefused, NotWhereAllOfItIsHere) {
  published("set");
  lies_at("/home/in/data");
  auto wish = job("set");
  wish.if_seeded = true;
  const auto view = get(wish);
  ASSERT_TRUE(view.ok()) << view.error().message;
  wait_for(view->id, TransferState::kSeeding);
}

class GetUnderAName : public GetAdopts {
 protected:
  client::GetJob named(const std::string& name, const std::string& target = "/home/in") {
    auto wish = job("set", target);
    wish.base_name = name;
    return wish;
  }
};

TEST_F(GetUnderAName, RefusesOneThatIsNoName) {
  published("set");
  for (const char* name : {"a/b", "..", "."}) {
    const auto refused = get(named(name));
    ASSERT_FALSE(refused.ok()) << name;
    EXPECT_EQ(refused.error().code, Code::kInvalid);
    EXPECT_THAT(refused.error().message, HasSubstr("--as"));
  }
  expect_nothing_left();
}

TEST_F(GetUnderAName, PutsItThere) {
  published("set");
  const auto done = fetched(named("mine"));
  EXPECT_EQ(done.path, "/home/in/mine");
  EXPECT_THAT(engine_->added().front().file_paths, ::testing::ElementsAre("mine/a", "mine/sub/b"));
  EXPECT_TRUE(files_.with([](auto& state) { return state.existing.contains("/home/in/mine"); }));
  restart();
  EXPECT_EQ(wait_for(done.id, TransferState::kSeeding).path, "/home/in/mine");
  EXPECT_THAT(engine_->added().back().file_paths, ::testing::ElementsAre("mine/a", "mine/sub/b"));
}

TEST_F(GetUnderAName, KnowsItAgain) {
  published("set");
  const auto done = fetched(named("mine"));
  const auto again = get(named("mine"));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->id, done.id);
  EXPECT_EQ(wait_for(done.id, TransferState::kSeeding).source, "local");
  EXPECT_EQ(files_.count("verify /home/in/mine"), 1);
}

TEST_F(GetUnderAName, IsAnotherPlaceThanUnderItsOwn) {
  published("set");
  const auto first = get(job("set"));
  ASSERT_TRUE(first.ok());
  const auto refused = get(named("mine"));
  ASSERT_FALSE(refused.ok()) << "it is on its way to another place";
  EXPECT_EQ(refused.error().code, Code::kConflict);
  complete(first->id);
  wait_for(first->id, TransferState::kSeeding);
  const auto copy = get(named("mine"));
  ASSERT_TRUE(copy.ok()) << copy.error().message;
  EXPECT_EQ(wait_for(copy->id, TransferState::kComplete).path, "/home/in/mine");
  EXPECT_EQ(files_.count("verify /home/in/data"), 1) << "under the name that it has there";
}

TEST_F(GetUnderAName, MayBeginWithADotWhereSomebodySaysSo) {
  published("set");
  EXPECT_EQ(fetched(named(".mine")).path, "/home/in/.mine");
}

TEST_F(GetUnderAName, SeedsFilesThatAreCalledOtherwise) {
  published("set");
  lies_at("/home/archive/copy-of-data");
  const auto refused = node_->seed("set", Place("/home/archive/none"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kNotFound);
  const auto view = node_->seed("set", Place("/home/archive/copy-of-data"));
  ASSERT_TRUE(view.ok()) << view.error().message;
  EXPECT_EQ(wait_for(view->id, TransferState::kSeeding).path, "/home/archive/copy-of-data");
}

TEST_F(GetUnderAName, SetsAsidePatternsThatMatchNothing) {
  published("set");
  auto wish = job("set");
  wish.globs = {"sub", "no-such-*"};
  const auto view = get(wish);
  ASSERT_TRUE(view.ok()) << view.error().message;
  EXPECT_THAT(view->unmatched, ::testing::ElementsAre("no-such-*"));
  EXPECT_EQ(view->total_bytes, 5u);
  const auto same = get(wish);
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(same->id, view->id) << "asked again";
}

}  // namespace
}  // namespace gridtorrent::testing
