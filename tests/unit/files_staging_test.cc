#include <sys/time.h>
#include <sys/wait.h>

#include <filesystem>

#include "tests/unit/files_fixture.h"

namespace gridtorrent::client::files {
namespace {

class Staging : public testing::Test {
 protected:
  void SetUp() override {
    make_folder(temp_ / "from");
    make_folder(temp_ / "from/set", 0555 | 0200);
    make_folder(temp_ / "from/set/sub", 0755);
    make_folder(temp_ / "from/set/sub/deep", 0755);
    make_folder(temp_ / "from/set/empty", 0700);
    std::int64_t time = 1'400'000'000'987'654'321;
    for (const std::string& name : odd_names()) write_file(temp_ / ("from/set/sub/" + name), name, 0640);
    write_file(temp_ / "from/set/sub/deep/read only", std::string(300'000, 'r'), 0444);
    write_file(temp_ / "from/set/none", "", 0600);
    ASSERT_EQ(::chmod((temp_ / "from/set/sub/deep").c_str(), 0500), 0);
    ASSERT_EQ(::chmod((temp_ / "from/set").c_str(), 0555), 0);
    for (const auto* path : {"from/set/sub/deep/read only", "from/set/none", "from/set/sub/deep", "from/set/sub",
                             "from/set/empty", "from/set"})
      set_mtime(temp_ / path, time += 1'000'000'007);
    metadata_ = hash(*work_, temp_ / "from/set").value().metadata;
    plan_ = {.id = transfer_id(), .target = temp_ / "to/here", .wanted = {}};
  }

  const metainfo::Manifest& manifest() const { return metadata_.manifest; }
  Status prepare() { return work_->prepare(plan_, manifest()); }
  Status commit() { return work_->commit(plan_, manifest()); }
  Status copy() { return work_->copy_into_staging(temp_ / "from", plan_, manifest(), {}, {}); }
  void stage() {
    const Status prepared = prepare();
    ASSERT_TRUE(prepared) << prepared.error().message;
    const Status copied = copy();
    ASSERT_TRUE(copied) << copied.error().message;
  }
  /// Of another transfer, beside what is there: all the rest, empty folders included.
  void stage_all_but(const std::string& path) {
    plan_.id = transfer_id(2);
    plan_.beside = true;
    plan_.wanted.assign(manifest().entries.size(), true);
    for (std::size_t i = 0; i < plan_.wanted.size(); ++i)
      if (manifest().entries[i].path == path) plan_.wanted[i] = false;
    stage();
  }
  void choose(const std::string& path) {
    plan_.wanted.assign(manifest().entries.size(), false);
    for (std::size_t i = 0; i < plan_.wanted.size(); ++i) plan_.wanted[i] = manifest().entries[i].path == path;
  }
  void expect_whole(const std::string& target) {
    for (const metainfo::ManifestEntry& entry : manifest().entries) {
      const std::string path = target + "/" + metainfo::full_path(manifest(), entry);
      struct stat info{};
      ASSERT_EQ(::lstat(path.c_str(), &info), 0) << path;
      EXPECT_EQ(info.st_mode & 07777, left_by_umask(plan_.umask, entry.mode)) << path;
      EXPECT_EQ(to_ns(info.st_mtim), entry.mtime_ns) << path;
    }
    const auto report = work_->verify(target, manifest(), {}, {}, {});
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->fault_count, 0U);
    EXPECT_FALSE(exists(plan_.staging()));
  }

  TempFolder temp_;
  std::unique_ptr<FileWork> work_ = make_file_work({.hash_threads = 2, .durable = false});
  metainfo::VersionMetadata metadata_;
  StagingPlan plan_;
};

TEST_F(Staging, RefusesAForeignFileInTheWay) {
  make_folder(temp_ / "to");
  make_folder(temp_ / "to/here");
  write_file(temp_ / "to/here/set", "mine");
  expect_error(prepare(), Code::kConflict, "to/here/set' already exists");
  EXPECT_EQ(read_file(temp_ / "to/here/set"), "mine");
  EXPECT_FALSE(exists(plan_.staging()));
  ASSERT_EQ(::unlink((temp_ / "to/here/set").c_str()), 0);
  ASSERT_EQ(::symlink("nowhere", (temp_ / "to/here/set").c_str()), 0);
  expect_error(prepare(), Code::kConflict, "already exists");
}

TEST_F(Staging, ForAnotherChoiceKeepsWhatStaysChosenAndRemovesTheRest) {
  stage();
  choose("sub/deep/read only");
  ASSERT_TRUE(prepare());
  const std::string staged = plan_.staging() + "/set";
  EXPECT_EQ(read_file(staged + "/sub/deep/read only").size(), 300'000U);
  EXPECT_FALSE(exists(staged + "/empty"));
  EXPECT_FALSE(exists(staged + "/none"));
  for (const std::string& name : odd_names()) EXPECT_FALSE(exists(staged + "/sub/" + name)) << name;
  choose("none");
  ASSERT_TRUE(prepare());
  EXPECT_TRUE(exists(staged + "/none"));
  EXPECT_FALSE(exists(staged + "/sub")) << "nothing in it is chosen";
}

TEST_F(Staging, LeavesOutOfTheCommitWhatCameLateOfAnotherChoice) {
  stage();
  choose("sub/deep/read only");
  ASSERT_TRUE(prepare());
  write_file(plan_.staging() + "/set/none", "late");
  ASSERT_TRUE(commit());
  EXPECT_TRUE(exists(temp_ / "to/here/set/sub/deep/read only"));
  EXPECT_FALSE(exists(temp_ / "to/here/set/none"));
  EXPECT_FALSE(exists(plan_.staging()));
}

TEST_F(Staging, GivesFoldersThatItMakesTheModeThatIsAskedFor) {
  const auto mode_of = [&](const char* name) {
    struct stat info{};
    EXPECT_EQ(::stat((temp_ / name).c_str(), &info), 0);
    return info.st_mode & 07777;
  };
  make_folder(temp_ / "to", 0711);
  plan_.folder_mode = 0750;
  ASSERT_TRUE(prepare());
  EXPECT_EQ(mode_of("to/here"), 0750U);
  EXPECT_EQ(mode_of("to"), 0711U) << "it was there";
  plan_.target = temp_ / "to/other/here";
  plan_.folder_mode = 0;
  ASSERT_TRUE(prepare());
  EXPECT_EQ(mode_of("to/other"), 0700U) << "its owner has to get in";
}

TEST_F(Staging, IsUndoneByARemovalThatLeavesWhatIsNotItsOwn) {
  stage();
  ASSERT_TRUE(commit());
  const std::string target = temp_ / "to/here";
  const auto remove = [&](bool look_only) { return work_->remove_placed(target, manifest(), {}, look_only).value(); };
  const auto all = manifest().file_count();
  EXPECT_EQ(remove(true).files, all);
  EXPECT_EQ(remove(true).kept, 0U);
  ASSERT_EQ(::chmod((target + "/set").c_str(), 0755), 0);
  write_file(target + "/set/mine.txt", "mine");
  ASSERT_EQ(::chmod((target + "/set/none").c_str(), 0600), 0);
  write_file(target + "/set/none", "changed");
  const RemovedFiles removed = remove(false);
  EXPECT_EQ(removed.files, all - 1);
  EXPECT_EQ(removed.kept, 1U);
  EXPECT_EQ(removed.first_kept, "set/none");
  EXPECT_FALSE(exists(target + "/set/sub")) << "empty folders go, without write permission too";
  EXPECT_EQ(read_file(target + "/set/mine.txt"), "mine");
  EXPECT_EQ(read_file(target + "/set/none"), "changed");
  EXPECT_EQ(remove(false).files, 0U) << "done again after a crash";
}

TEST_F(Staging, IsUndoneWhereFoldersWerePublishedWithoutPermissions) {
  stage();
  ASSERT_TRUE(commit());
  const std::string target = temp_ / "to/here", sub = target + "/set/sub", deep = sub + "/deep";
  write_file(sub + "/mine.txt", "mine");
  for (const auto& path : {deep, sub}) ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(target.c_str(), 65534, 65534), 0);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(target))
      ASSERT_EQ(::lchown(entry.path().c_str(), 65534, 65534), 0);
    for (const char* above : {"", "to", "to/here"}) ASSERT_EQ(::chmod((temp_ / above).c_str(), 0755), 0);
  }
  const auto remove = [&](bool look_only) {
    const AsNobody nobody;
    const auto removed = work_->remove_placed(target, manifest(), {}, look_only);
    EXPECT_TRUE(removed.ok()) << removed.error().message;
    return removed.ok() ? *removed : RemovedFiles();
  };
  const auto mode_of = [](const std::string& path) {
    struct stat info{};
    EXPECT_EQ(::stat(path.c_str(), &info), 0);
    return info.st_mode & 07777;
  };
  EXPECT_EQ(remove(true).files, manifest().file_count());
  if (::geteuid() == 0) {
    EXPECT_EQ(mode_of(deep), 0U) << "looking changes nothing";
  }
  EXPECT_EQ(remove(false).files, manifest().file_count());
  EXPECT_EQ(mode_of(sub), 0U) << "what is kept has the mode that it had";
  ASSERT_EQ(::chmod(sub.c_str(), 0700), 0);
  EXPECT_EQ(read_file(sub + "/mine.txt"), "mine");
  EXPECT_FALSE(exists(deep));
}

TEST_F(Staging, TakesACopyOfWhatIsCalledOtherwise) {
  metadata_.manifest.base_name = "mine";
  plan_.copied_base = "set";
  stage();
  ASSERT_TRUE(commit());
  expect_whole(temp_ / "to/here");
  EXPECT_TRUE(exists(temp_ / "to/here/mine/sub/deep/read only"));
}

TEST_F(Staging, RefusesATargetThatCannotBeMadeOrWritten) {
  write_file(temp_ / "to", "a file");
  expect_error(prepare(), Code::kDisk, "to/here");
  plan_.target = "relative";
  expect_error(prepare(), Code::kInvalid, "absolute");
  make_folder(temp_ / "locked", 0555);
  plan_.target = temp_ / "locked";
  const AsNobody nobody;
  expect_error(prepare(), Code::kDisk, "cannot be written");
}

TEST_F(Staging, FollowsNoPlantedLink) {
  make_folder(temp_ / "to");
  make_folder(temp_ / "to/here");
  make_folder(temp_ / "elsewhere");
  ASSERT_EQ(::symlink((temp_ / "elsewhere").c_str(), plan_.staging().c_str()), 0);
  EXPECT_FALSE(prepare());
  EXPECT_FALSE(exists(temp_ / "elsewhere/set"));
  expect_error(work_->discard(plan_), Code::kConflict, "no folder");
  EXPECT_TRUE(exists(temp_ / "elsewhere"));
}

TEST_F(Staging, RefusesWhatCameInTheWayMeanwhile) {
  stage();
  make_folder(temp_ / "to/here/set");
  write_file(temp_ / "to/here/set/foreign", "mine");
  expect_error(commit(), Code::kConflict, "already exists");
  EXPECT_EQ(read_file(temp_ / "to/here/set/foreign"), "mine");
  EXPECT_TRUE(exists(plan_.staging() + "/set"));
}

TEST_F(Staging, RefusesToCommitWhatVanished) {
  ASSERT_TRUE(prepare());
  ASSERT_TRUE(work_->discard(plan_));
  expect_error(commit(), Code::kDisk, "vanished");
}

TEST_F(Staging, IsPrivateBesideTheTarget) {
  ASSERT_TRUE(prepare());
  struct stat info{};
  ASSERT_EQ(::stat(plan_.staging().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700U);
  EXPECT_TRUE(exists(plan_.staging() + "/set/sub/deep"));
  EXPECT_TRUE(exists(plan_.staging() + "/set/empty"));
  EXPECT_TRUE(exists(plan_.staging() + "/set/none"));
  EXPECT_FALSE(exists(plan_.staging() + "/set/sub/Case"));
  EXPECT_TRUE(prepare()) << "a second call goes on";
}

TEST_F(Staging, DeliversIntoALabsFolderWithTheSetGroupIdBitThatIsThere) {
  make_folder(temp_ / "to");
  make_folder(temp_ / "to/here");
  ASSERT_EQ(::chmod((temp_ / "to/here").c_str(), 02775), 0);
  stage();
  EXPECT_EQ(mode_of(plan_.staging()), 02700U);
  ASSERT_TRUE(commit());
  EXPECT_EQ(mode_of(temp_ / "to/here/set"), 02555U);
  EXPECT_EQ(mode_of(temp_ / "to/here/set/sub"), 02755U);
  EXPECT_EQ(mode_of(temp_ / "to/here/set/empty"), 02700U);
}

TEST_F(Staging, SaysWhatItTakesOfTheDisk) {
  EXPECT_EQ(work_->staged_bytes(plan_), 0U) << "it is not made yet";
  ASSERT_TRUE(prepare());
  const std::uint64_t empty = work_->staged_bytes(plan_);
  constexpr std::size_t kBytes = 1 << 20, kHole = std::size_t{64} << 20;
  write_file(plan_.staging() + "/set/sub/deep/found", std::string(kBytes, 'x'));
  ASSERT_EQ(::truncate((plan_.staging() + "/set/sub/deep/found").c_str(), kHole), 0);
  EXPECT_GE(work_->staged_bytes(plan_), empty + kBytes);
  EXPECT_LT(work_->staged_bytes(plan_), empty + kHole) << "holes take nothing";
  ASSERT_EQ(::symlink("/", (plan_.staging() + "/set/sub/elsewhere").c_str()), 0);
  EXPECT_LT(work_->staged_bytes(plan_), empty + kHole) << "links are not followed";
}

TEST_F(Staging, AddsToWhatAnEarlierTransferBrought) {
  choose("sub/deep/read only");
  stage();
  ASSERT_TRUE(commit());
  write_file(temp_ / "to/here/set/sub/notes of mine", "mine");
  stage_all_but("sub/deep/read only");
  EXPECT_FALSE(exists(plan_.staging() + "/set/sub/deep/read only"));
  const Status committed = commit();
  ASSERT_TRUE(committed) << committed.error().message;
  expect_whole(temp_ / "to/here");
  EXPECT_EQ(read_file(temp_ / "to/here/set/sub/notes of mine"), "mine");
}

TEST_F(Staging, TakesFromPublishedModesWhatTheUmaskTakesFromOthers) {
  plan_.umask = 0777;
  choose("sub/deep/read only");
  stage();
  ASSERT_TRUE(commit());
  stage_all_but("sub/deep/read only");
  const Status committed = commit();
  ASSERT_TRUE(committed) << committed.error().message;
  expect_whole(temp_ / "to/here");
  struct stat info{};
  ASSERT_EQ(::stat((temp_ / "to/here/set/sub/deep/read only").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0400U) << "what its owner may do is as it was published";
}

TEST_F(Staging, AddsToFoldersThatWereThereWithoutOpeningThem) {
  choose("sub/deep/read only");
  stage();
  ASSERT_TRUE(commit());
  const std::string top = temp_ / "to/here/set", sub = top + "/sub";
  const auto mode_of = [](const std::string& path) {
    struct stat info{};
    EXPECT_EQ(::stat(path.c_str(), &info), 0);
    return info.st_mode & 07777;
  };
  const auto published = mode_of(top);
  ASSERT_EQ(::chmod(top.c_str(), 0700), 0);
  ASSERT_EQ(::chmod(sub.c_str(), 0500), 0);
  stage_all_but("sub/deep/read only");
  const Status committed = commit();
  ASSERT_TRUE(committed) << committed.error().message;
  EXPECT_NE(published, 0700U);
  EXPECT_EQ(mode_of(top), 0700U) << "its owner closed it";
  EXPECT_EQ(mode_of(sub), 0500U) << "which had to be opened for its owner meanwhile";
  EXPECT_TRUE(exists(top + "/none"));
}

TEST_F(Staging, AddsNothingWhereAFileIsInTheWay) {
  choose("none");
  stage();
  ASSERT_TRUE(commit());
  plan_.id = transfer_id(2);
  expect_error(prepare(), Code::kConflict, "to/here/set' already exists");
  plan_.beside = true;
  expect_error(prepare(), Code::kConflict, "to/here/set/none' already exists");
  EXPECT_FALSE(exists(plan_.staging()));
  choose("sub/deep/read only");
  write_file(temp_ / "to/here/set/sub", "a file where a folder belongs");
  expect_error(prepare(), Code::kConflict, "to/here/set/sub' already exists");
}

TEST_F(Staging, DoesNotTakeAVanishedStagingFolderForADoneAddition) {
  choose("none");
  stage();
  ASSERT_TRUE(commit());
  plan_.id = transfer_id(2);
  plan_.beside = true;
  choose("sub/deep/read only");
  stage();
  ASSERT_TRUE(work_->discard(plan_));
  expect_error(commit(), Code::kDisk, "vanished");
}

TEST_F(Staging, DeliversModesTimesAndNamesAsPublished) {
  stage();
  write_file(plan_.staging() + "/.parts", "left over from the engine");
  const Status committed = commit();
  ASSERT_TRUE(committed) << committed.error().message;
  expect_whole(temp_ / "to/here");
  EXPECT_TRUE(commit()) << "again, after a crash that came last";
}

TEST_F(Staging, DeliversForAnOrdinaryUserToo) {
  if (::geteuid() != 0) GTEST_SKIP() << "the test already runs as an ordinary user";
  make_folder(temp_ / "to", 0777);
  ASSERT_EQ(::chmod((temp_ / "from/set/sub/deep").c_str(), 0555), 0);
  set_mtime(temp_ / "from/set/sub/deep", 5);
  for (const char* locked : {"from/set/none", "from/set/empty"}) ASSERT_EQ(::chmod((temp_ / locked).c_str(), 0755), 0);
  const UniqueFd sub(::open((temp_ / "from/set/sub").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (const std::string& name : odd_names()) ASSERT_EQ(::fchmodat(sub.get(), name.c_str(), 0444, 0), 0);
  metadata_ = hash(*work_, temp_ / "from/set").value().metadata;
  const AsNobody nobody;
  stage();
  const Status committed = commit();
  ASSERT_TRUE(committed) << committed.error().message;
  expect_whole(temp_ / "to/here");
}

TEST_F(Staging, DeliversASingleFile) {
  metadata_ = hash(*work_, temp_ / "from/set/sub/deep/read only").value().metadata;
  ASSERT_TRUE(prepare());
  ASSERT_TRUE(work_->copy_into_staging(temp_ / "from/set/sub/deep", plan_, manifest(), {}, {}));
  const Status committed = commit();
  ASSERT_TRUE(committed) << committed.error().message;
  expect_whole(temp_ / "to/here");
}

TEST_F(Staging, DeliversWhatIsCalledAsItsOwnMarkers) {
  std::uint64_t id = 10;
  for (const char* name : {".committing", ".placeholder"}) {
    SCOPED_TRACE(name);
    make_folder(temp_ / name);
    write_file(temp_ / name + "/file", "content");
    metadata_ = hash(*work_, temp_ / name).value().metadata;
    plan_.id = transfer_id(++id);
    ASSERT_TRUE(prepare());
    ASSERT_TRUE(work_->copy_into_staging(temp_.path(), plan_, manifest(), {}, {}));
    const Status committed = commit();
    ASSERT_TRUE(committed) << committed.error().message;
    expect_whole(temp_ / "to/here");
  }
}

TEST_F(Staging, RefusesAFifoPlantedWhereAnEmptyFileGoes) {
  ASSERT_TRUE(prepare());
  ASSERT_EQ(::unlink((plan_.staging() + "/set/none").c_str()), 0);
  ASSERT_EQ(::mkfifo((plan_.staging() + "/set/none").c_str(), 0600), 0);
  expect_error(prepare(), Code::kDisk, "set/none' cannot be made");
}

TEST_F(Staging, DeliversOnlyChosenFilesAndTheirFolders) {
  choose("sub/deep/read only");
  stage();
  ASSERT_TRUE(commit());
  EXPECT_TRUE(exists(temp_ / "to/here/set/sub/deep/read only"));
  EXPECT_FALSE(exists(temp_ / "to/here/set/sub/Case"));
  EXPECT_FALSE(exists(temp_ / "to/here/set/empty"));
  EXPECT_FALSE(exists(temp_ / "to/here/set/none"));
  EXPECT_FALSE(exists(plan_.staging()));
}

TEST_F(Staging, DiscardRemovesTheStagingFolderAlone) {
  stage();
  write_file(temp_ / "to/here/bystander", "x");
  ASSERT_EQ(::chmod((plan_.staging() + "/set/sub").c_str(), 0000), 0);
  const Status discarded = work_->discard(plan_);
  ASSERT_TRUE(discarded) << discarded.error().message;
  EXPECT_FALSE(exists(plan_.staging()));
  EXPECT_TRUE(exists(temp_ / "to/here/bystander"));
  EXPECT_TRUE(work_->discard(plan_)) << "nothing left to do";
}

TEST_F(Staging, CopyNoticesAFileThatGotShorter) {
  ASSERT_TRUE(prepare());
  ASSERT_EQ(::truncate((temp_ / "from/set/sub/deep/read only").c_str(), 5), 0);
  expect_error(copy(), Code::kCorrupt, "changed meanwhile");
}

TEST_F(Staging, AStateAfterTheMoveIsFinishedNotRefused) {
  stage();
  write_file(plan_.staging() + "/.committing", "");
  ASSERT_EQ(::rename((plan_.staging() + "/set").c_str(), (temp_ / "to/here/set").c_str()), 0);
  EXPECT_TRUE(prepare());
}

/// Killed anywhere, then done again: the result is as if nothing had happened.
TEST_F(Staging, SurvivesAKillAtAnyMoment) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  SeededRng rng(seed);
  int killed = 0;
  for (std::uint64_t round = 0; round < 40; ++round) {
    plan_.id = transfer_id(round + 1);
    plan_.target = temp_ / ("to" + std::to_string(round));
    stage();
    const suseconds_t delay = static_cast<suseconds_t>(1 + rng.below(1500));
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      // SIGALRM ends the process where it stands.
      const itimerval timer{{0, 0}, {0, delay}};
      ::setitimer(ITIMER_REAL, &timer, nullptr);
      ::_exit(commit() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    killed += WIFSIGNALED(status) ? 1 : 0;
    if (exists(plan_.staging())) {
      const Status prepared = prepare();
      ASSERT_TRUE(prepared) << prepared.error().message << ", round " << round;
    }
    const Status committed = commit();
    ASSERT_TRUE(committed) << committed.error().message << ", round " << round << ", killed after " << delay << " us";
    expect_whole(plan_.target);
  }
  RecordProperty("killed", killed);
}

}  // namespace
}  // namespace gridtorrent::client::files
