#include "tests/support/node_fixture.h"

namespace gridtorrent::testing {
namespace {

using client::DiskTrust;
using client::TorrentState;
using client::TransferState;

class GetInTrouble : public NodeFixture {};

TEST_F(GetInTrouble, PausesOnAFullDiskAndGoesOnByItself) {
  published("set");
  const auto view = get(job("set"));
  ASSERT_TRUE(eventually([&] { return engine_->torrent(view->id).has_value(); }));
  files_.with([](auto& state) { state.space = {2, 1000}; });
  engine_->happens(view->id, [](auto& snapshot) {
    snapshot.state = TorrentState::kError;
    snapshot.error = {Code::kDisk, "No space left on device"};
  });
  const auto paused = wait_for(view->id, TransferState::kPaused);
  ASSERT_TRUE(paused.error);
  EXPECT_NE(paused.error->message.find("2 bytes"), std::string::npos) << paused.error->message;
  EXPECT_NE(paused.error->message.find("8 bytes"), std::string::npos) << paused.error->message;
  files_.with([](auto& state) { state.space = {1'000'000'000, 1'000'000'000}; });
  EXPECT_TRUE(eventually([&] { return node_->transfer(view->id)->state == TransferState::kFetching; }));
  EXPECT_FALSE(node_->transfer(view->id)->error);
}

TEST_F(GetInTrouble, PausedByHandOnAFullDiskDoesNotSayThatItGoesOnByItself) {
  published("set");
  files_.with([](auto& state) { state.space = {2, 1000}; });
  const auto view = get(job("set"));
  ASSERT_TRUE(eventually([&] { return node_->transfer(view->id)->error.has_value(); }));
  ASSERT_TRUE(node_->pause(view->id).ok());
  EXPECT_EQ(node_->transfer(view->id)->state, TransferState::kPaused);
  EXPECT_FALSE(node_->transfer(view->id)->error);
  ASSERT_TRUE(node_->resume(view->id).ok());
  ASSERT_TRUE(node_->transfer(view->id)->error) << "there is no room yet";
  files_.with([](auto& state) { state.space = {1'000'000'000, 1'000'000'000}; });
  EXPECT_TRUE(eventually([&] { return node_->transfer(view->id)->state == TransferState::kFetching; }));
}

TEST_F(GetInTrouble, FailsOnADiskThatIsNotFullButRefuses) {
  published("set");
  const auto view = get(job("set"));
  ASSERT_TRUE(eventually([&] { return engine_->torrent(view->id).has_value(); }));
  gives_up_on_its_disk(view->id);
  EXPECT_EQ(node_->transfer(view->id)->error->message,
            "Read-only file system; mend the disk, then: gridtorrent transfer resume " + view->id.str());
}

TEST_F(GetInTrouble, ResumedAfterAFailureNeedsRoomOnlyForTheRest) {
  published("set");
  const auto view = get(job("set"));
  ASSERT_TRUE(eventually([&] { return engine_->torrent(view->id).has_value(); }));
  gives_up_on_its_disk(view->id);
  const auto added = engine_->added().size();
  files_.with([](auto& state) {
    state.space = {3, 1000};
    state.staged_bytes = 6;  // of 8
  });
  ASSERT_TRUE(node_->resume(view->id).ok());
  EXPECT_TRUE(eventually([&] { return engine_->added().size() == added + 1; }));
  EXPECT_FALSE(node_->transfer(view->id)->error);
}

TEST_F(GetInTrouble, KeepsWhatIsStagedWhereTheDiskBecameTooSmallForTheRest) {
  published("set");
  const auto view = get(job("set"));
  ASSERT_TRUE(eventually([&] { return engine_->torrent(view->id).has_value(); }));
  gives_up_on_its_disk(view->id);
  files_.with([](auto& state) {
    state.space = {1, 2};
    state.staged_bytes = 4;
  });
  const auto discards = files_.count("discard /home/in");
  ASSERT_TRUE(node_->resume(view->id).ok());
  wait_for(view->id, TransferState::kFailed);
  EXPECT_EQ(files_.count("discard /home/in"), discards);
}

TEST_F(GetInTrouble, ChecksAgainOnceWhereRootsDifferAndThenGivesUp) {
  published("set");
  files_.with([](auto& state) { state.roots_wrong = 1; });
  const auto healed = get(job("set"));
  complete(healed->id);
  ASSERT_TRUE(eventually([&] { return engine_->added().size() == 2; }));
  EXPECT_EQ(engine_->added().back().trust, DiskTrust::kRecheck);
  engine_->completes(healed->id);
  wait_for(healed->id, TransferState::kSeeding);

  published("other");
  files_.with([](auto& state) { state.roots_wrong = 2; });
  const auto corrupt = get(job("other", "/2"));
  complete(corrupt->id);
  ASSERT_TRUE(eventually([&] { return engine_->added().size() == 4; }));
  engine_->completes(corrupt->id);
  EXPECT_EQ(wait_for(corrupt->id, TransferState::kFailed).error->code, Code::kCorrupt);
  EXPECT_EQ(files_.count("commit /2"), 0);
}

TEST_F(GetInTrouble, SurvivesARestartAndBelievesItsResumeData) {
  published("set");
  const auto view = get(job("set"));
  ASSERT_TRUE(eventually([&] { return engine_->torrent(view->id).has_value(); }));
  restart();
  ASSERT_TRUE(eventually([&] { return engine_->torrent(view->id).has_value(); }));
  EXPECT_EQ(engine_->added().front().trust, DiskTrust::kResumeData);
  EXPECT_EQ(engine_->added().front().resume_data, "resume " + view->id.str());
  engine_->completes(view->id);
  wait_for(view->id, TransferState::kSeeding);
}

TEST_F(GetInTrouble, HashesWhatIsThereAfterADeathWithoutResumeData) {
  published("set");
  const auto view = get(job("set"));
  auto rows = *store_.transfers();
  end();
  // As kill -9 leaves it: the row says neither "clean" nor has resume data.
  auto row = store_.transfers()->front();
  row.clean = false;
  ASSERT_TRUE(store_.erase_transfer(row.id).ok());
  ASSERT_TRUE(store_.put_transfer(row).ok());
  start();
  ASSERT_TRUE(eventually([&] { return engine_->torrent(view->id).has_value(); }));
  EXPECT_EQ(engine_->added().front().trust, DiskTrust::kRecheck);
}

TEST_F(GetInTrouble, TouchesTheMarkOfItsStagingFolderAtTheBeginAndEveryTwelveHours) {
  published("set");
  const std::string touch = "touch /home/in/.gridtorrent-" + get(job("set"))->id.str();
  ASSERT_TRUE(eventually([&] { return files_.count(touch) == 1; }));
  clock_.advance(std::chrono::hours(12));
  ASSERT_TRUE(eventually([&] { return files_.count(touch) == 2; }));
  restart();
  EXPECT_TRUE(eventually([&] { return files_.count(touch) == 3; }));
}

TEST_F(GetInTrouble, ACommitThatWasCutOffIsDoneAgain) {
  published("set");
  const auto view = get(job("set"));
  end();
  auto row = store_.transfers()->front();
  row.step = client::TransferStep::kCommit;
  ASSERT_TRUE(store_.put_transfer(row).ok());
  start();
  wait_for(view->id, TransferState::kSeeding);
  EXPECT_EQ(files_.count("commit /home/in"), 1);
}

TEST_F(GetInTrouble, ACommitThatWasCutOffBelievesNothingThatStandsThere) {
  published("set");
  const auto view = get(job("set"));
  end();
  auto row = store_.transfers()->front();
  row.step = client::TransferStep::kCommit;
  ASSERT_TRUE(store_.put_transfer(row).ok());
  files_.with([](auto& state) {
    state.existing["/home/in/data"] = 9;
    state.damaged.insert("/home/in/data");
  });
  start();
  const auto failed = wait_for(view->id, TransferState::kFailed);
  EXPECT_EQ(failed.error->code, Code::kCorrupt);
  EXPECT_TRUE(engine_->added().empty());
}

TEST_F(GetInTrouble, SavesResumeDataWhileItFetches) {
  published("set");
  const auto view = get(job("set"));
  ASSERT_TRUE(eventually([&] { return engine_->torrent(view->id).has_value(); }));
  engine_->happens(view->id, [](auto& snapshot) {
    snapshot.wanted_bytes = std::uint64_t{1} << 40;
    snapshot.verified_bytes = std::uint64_t{64} << 20;
  });
  EXPECT_TRUE(eventually([&] { return engine_->resumes_saved() >= 1; }));
  EXPECT_TRUE((*store_.load_resume(view->id)).has_value());
}

}  // namespace
}  // namespace gridtorrent::testing
