// Other files of a get that is under way.
#include "tests/support/node_fixture.h"

namespace gridtorrent::testing {
namespace {

using client::DiskTrust;
using client::TransferState;

/// "a" (3 bytes) is being fetched; "sub/b" has 5.
class Choice : public NodeFixture {
 protected:
  Choice() {
    published("set");
    auto some = job("set");
    some.globs = {"a"};
    id_ = get(some).value().id;
    EXPECT_TRUE(eventually([&] { return engine_->torrent(id_).has_value(); }));
  }
  Result<client::TransferView> choose(std::vector<std::string> globs) {
    return node_->choose_files(id_, {.globs = std::move(globs)});
  }
  void expect_fetches(const std::vector<bool>& wanted) {
    ASSERT_TRUE(eventually([&] {
      const auto torrent = engine_->torrent(id_);
      return torrent && torrent->spec.wanted == wanted;
    }));
  }
  Code refusal(const client::FileChoice& choice) { return node_->choose_files(id_, choice).error().code; }

  TransferId id_;
};

TEST_F(Choice, ReplacesTheOneBeforeAndKeepsWhatIsOnDisk) {
  const auto chosen = choose({"sub"});
  ASSERT_TRUE(chosen.ok()) << chosen.error().message;
  EXPECT_EQ(chosen->total_bytes, 5u);
  expect_fetches({false, true});
  const auto torrent = engine_->torrent(id_);
  EXPECT_EQ(torrent->spec.trust, DiskTrust::kResumeData) << "what is there is not hashed again";
  EXPECT_EQ(torrent->spec.resume_data, "resume " + id_.str() + " for 01");
  EXPECT_EQ(files_.count("prepare /home/in"), 2);
  engine_->completes(id_);
  EXPECT_EQ(wait_for(id_, TransferState::kSeeding).total_bytes, 5u);
  EXPECT_EQ(store_.transfers()->front().globs, std::vector<std::string>{"sub"});
  EXPECT_EQ(*node_->chosen_files(id_), std::vector<std::uint32_t>{3});
}

TEST_F(Choice, IsOnDiskBeforeItIsAcknowledged) {
  ASSERT_TRUE(choose({"sub"}).ok());
  EXPECT_EQ(store_.transfers()->front().globs, std::vector<std::string>{"sub"});
  restart();
  expect_fetches({false, true});
}

TEST_F(Choice, OfAllFilesByTheirPlaces) {
  ASSERT_TRUE(node_->choose_files(id_, {.entries = {1, 3}}).ok());
  ASSERT_TRUE(eventually([&] { return engine_->added().size() == 2; }));
  EXPECT_TRUE(store_.transfers()->front().globs.empty());
  EXPECT_EQ(*node_->chosen_files(id_), (std::vector<std::uint32_t>{1, 3}));
}

TEST_F(Choice, OfTheSameFilesDisturbsNothing) {
  ASSERT_TRUE(node_->choose_files(id_, {.entries = {1}}).ok());
  EXPECT_EQ(engine_->added().size(), 1u);
  EXPECT_FALSE(engine_->torrent(id_)->paused);
}

TEST_F(Choice, OfWhatIsNotThereIsRefusedAndTheTransferGoesOn) {
  EXPECT_EQ(refusal({.globs = {"nowhere"}}), Code::kNotFound);
  EXPECT_EQ(refusal({.entries = {4}}), Code::kInvalid);
  EXPECT_EQ(refusal({.globs = {"a"}, .entries = {1}}), Code::kInvalid);
  files_.with([](auto& state) { state.space = {1, 4}; });
  EXPECT_EQ(refusal({.globs = {"sub"}}), Code::kDisk) << "five bytes on a disk of four";
  EXPECT_EQ(node_->choose_files(TransferId(), {}).error().code, Code::kNotFound);
  EXPECT_EQ(engine_->added().size(), 1u);
  EXPECT_EQ(wait_for(id_, TransferState::kFetching).total_bytes, 3u);
}

TEST_F(Choice, ThatCannotBeWrittenDownIsRefusedAndTheTransferGoesOn) {
  store_.fail(Error{Code::kDisk, "the disk is full"});
  EXPECT_FALSE(choose({"sub"}).ok());
  store_.fail(std::nullopt);
  expect_fetches({true, false});
  EXPECT_FALSE(engine_->torrent(id_)->paused);
}

TEST_F(Choice, WhileItIsPausedIsTakenUpOnceItGoesOn) {
  ASSERT_TRUE(node_->pause(id_).ok());
  ASSERT_TRUE(eventually([&] { return engine_->torrent(id_)->paused; }));
  ASSERT_TRUE(choose({"sub"}).ok());
  EXPECT_EQ(wait_for(id_, TransferState::kPaused).total_bytes, 5u);
  ASSERT_TRUE(node_->resume(id_).ok());
  expect_fetches({false, true});
}

TEST_F(Choice, OfOneThatTheEngineDoesNotHaveIsHashed) {
  ASSERT_TRUE(node_->pause(id_).ok());
  restart();
  ASSERT_TRUE(choose({"sub"}).ok());
  ASSERT_TRUE(node_->resume(id_).ok());
  expect_fetches({false, true});
  EXPECT_EQ(engine_->torrent(id_)->spec.trust, DiskTrust::kRecheck);
}

TEST_F(Choice, OfWhatIsDoneNamesTheWayToFurtherFiles) {
  engine_->completes(id_);
  wait_for(id_, TransferState::kSeeding);
  const auto refused = choose({"sub"});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kConflict);
  EXPECT_NE(refused.error().message.find("gridtorrent get"), std::string::npos);
}

TEST_F(Choice, OfWhatHasFailedIsRefused) {
  gives_up_on_its_disk(id_);
  EXPECT_EQ(choose({"sub"}).error().code, Code::kConflict);
}

TEST_F(Choice, OfAnAdditionLeavesWhatIsThere) {
  engine_->completes(id_);
  wait_for(id_, TransferState::kSeeding);
  auto more = job("set");
  more.globs = {"sub"};
  const TransferId second = get(more).value().id;
  ASSERT_TRUE(eventually([&] { return engine_->torrent(second).has_value(); }));
  const auto nothing = node_->choose_files(second, {.globs = {"a"}});
  ASSERT_FALSE(nothing.ok());
  EXPECT_EQ(nothing.error().code, Code::kConflict) << "it is there";
  ASSERT_TRUE(node_->choose_files(second, {}).ok()) << "all: the same files are missing";
  EXPECT_EQ(engine_->torrent(second)->spec.wanted, (std::vector<bool>{false, true}));
}

TEST_F(Choice, OfAGetIsWidenedByAnotherToTheSamePlace) {
  auto more = job("set");
  more.globs = {"sub"};
  bool joined = false;
  const auto view = node_->get(more, joined);
  ASSERT_TRUE(view.ok()) << view.error().message;
  EXPECT_EQ(view->id, id_);
  EXPECT_TRUE(joined);
  ASSERT_TRUE(eventually([&] { return engine_->added().size() == 2; }));
  engine_->completes(id_);
  EXPECT_EQ(wait_for(id_, TransferState::kSeeding).total_bytes, 8u);
  EXPECT_EQ(store_.transfers()->size(), 1u);
}

TEST_F(Choice, OfAGetThatBringsAllIsJoinedAsItIs) {
  ASSERT_TRUE(choose({}).ok());
  ASSERT_TRUE(eventually([&] { return engine_->added().size() == 2; }));
  auto some = job("set");
  some.globs = {"a"};
  bool joined = false;
  ASSERT_TRUE(node_->get(some, joined).ok());
  EXPECT_TRUE(joined);
  EXPECT_EQ(engine_->added().size(), 2u);
}

TEST_F(Choice, OfAGetIsNotWidenedFromAnotherPlace) {
  auto more = job("set", "/elsewhere");
  more.globs = {"sub"};
  EXPECT_EQ(get(more).error().code, Code::kConflict);
  EXPECT_EQ(engine_->torrent(id_)->spec.wanted, (std::vector<bool>{true, false}));
}

}  // namespace
}  // namespace gridtorrent::testing
