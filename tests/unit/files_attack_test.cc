// What somebody else does who may write in the folder where a transfer is put together: renames, links, planted marks.
#include <cerrno>
#include <cstdio>
#include <thread>

#include "client/files/merge_tree.h"
#include "tests/unit/files_fixture.h"
#include "tests/unit/files_sandbox.h"

namespace gridtorrent::client::files {
namespace {

void rename_to(const std::string& from, const std::string& to) {
  ASSERT_EQ(::rename(from.c_str(), to.c_str()), 0) << from << " to " << to;
}

constexpr int kMostCalls = 2'000;

/// A transfer in a folder without the sticky bit, beside something of the same owner's that looks like what is fetched.
class InReachOfOthers : public testing::Test {
 protected:
  void SetUp() override {
    make_folder(temp_ / "set");
    make_folder(temp_ / "set/sub");
    write_file(temp_ / "set/a", "published");
    write_file(temp_ / "set/sub/b", "published");
    metadata_ = hash(*work_, temp_ / "set").value().metadata;
    make_folder(temp_ / "lab", 0777);
    make_folder(thesis_, 0700);
    make_folder(thesis_ + "/set");
    write_file(thesis_ + "/set/a", "mine");
    write_file(thesis_ + "/set/notes", "mine");
    begin(1);
  }
  void begin(int round) {
    plan_ = {.id = transfer_id(static_cast<std::uint64_t>(round)), .target = temp_ / "lab", .wanted = {}};
  }
  Status prepare() { return work_->prepare(plan_, manifest()); }
  Status copy() { return work_->copy_into_staging(temp_.path(), plan_, manifest(), {}, {}); }
  Status commit() { return work_->commit(plan_, manifest()); }
  Status discard() { return work_->discard(plan_); }
  Status stage() {
    GT_TRY(prepare());
    return copy();
  }
  const metainfo::Manifest& manifest() const { return metadata_.manifest; }
  std::string done() const { return plan_.staging() + ".done"; }
  std::string away() { return temp_ / ("lab/away" + std::to_string(++moved_)); }
  static void expect_thesis(const std::string& place) {
    EXPECT_EQ(mode_of(place), 0700U);
    EXPECT_EQ(read_file(place + "/set/a"), "mine");
    EXPECT_EQ(read_file(place + "/set/notes"), "mine");
  }

  TempFolder temp_;
  const std::string thesis_ = temp_ / "lab/thesis";
  std::unique_ptr<FileWork> work_ = make_file_work({.hash_threads = 1, .durable = false});
  metainfo::VersionMetadata metadata_;
  StagingPlan plan_;
  int moved_ = 0;
};

TEST_F(InReachOfOthers, WhatGotTheNameOfTheStagingFolderIsNotRemoved) {
  ASSERT_TRUE(stage());
  rename_to(plan_.staging(), away());
  rename_to(thesis_, plan_.staging());
  expect_error(discard(), Code::kConflict, "left alone");
  expect_thesis(plan_.staging());
}

TEST_F(InReachOfOthers, WhatGotTheNameOfADoneFolderIsNotRemoved) {
  ASSERT_TRUE(stage());
  rename_to(thesis_, done());
  expect_error(discard(), Code::kConflict, "left alone");
  expect_thesis(done());
  const Status committed = commit();
  ASSERT_TRUE(committed) << committed.error().message;
  EXPECT_EQ(read_file(temp_ / "lab/set/sub/b"), "published");
  expect_thesis(done());
}

TEST_F(InReachOfOthers, WhatGotTheNameOfTheStagingFolderIsNotWrittenTo) {
  ASSERT_TRUE(stage());
  rename_to(plan_.staging(), away());
  rename_to(thesis_, plan_.staging());
  for (const auto& entry : manifest().entries) plan_.wanted.push_back(entry.path == "sub/b");
  expect_error(prepare(), Code::kConflict, "bears no mark");
  plan_.wanted.clear();
  expect_error(copy(), Code::kConflict, "bears no mark");
  expect_error(commit(), Code::kConflict, "bears no mark");
  expect_thesis(plan_.staging());
}

TEST_F(InReachOfOthers, AFolderThatWasBegunBeforeThereWereMarksIsGoneOnWith) {
  ASSERT_TRUE(stage());
  ASSERT_EQ(::unlink((plan_.staging() + "/" + split_path(plan_.staging()).name).c_str()), 0);
  expect_error(commit(), Code::kConflict, "bears no mark");
  plan_.unmarked = true;
  const Status prepared = prepare(), committed = commit();
  ASSERT_TRUE(prepared) << prepared.error().message;
  ASSERT_TRUE(committed) << committed.error().message;
  EXPECT_EQ(read_file(temp_ / "lab/set/sub/b"), "published");
  EXPECT_FALSE(exists(plan_.staging()));
}

TEST_F(InReachOfOthers, ALostMarkIsMadeAnewAsTheErrorSays) {
  ASSERT_TRUE(stage());
  const std::string mark = plan_.staging() + "/" + split_path(plan_.staging()).name;
  ASSERT_EQ(::unlink(mark.c_str()), 0);
  expect_error(commit(), Code::kConflict, "`touch " + mark + "`");
  write_file(mark, "");
  const Status committed = commit();
  ASSERT_TRUE(committed) << committed.error().message;
}

TEST_F(InReachOfOthers, AMarkThatIsTouchedIsNoOldFile) {
  ASSERT_TRUE(prepare());
  const std::string mark = plan_.staging() + "/" + split_path(plan_.staging()).name;
  set_mtime(mark, 1'000'000'000);
  work_->touch_mark(plan_);
  struct stat info{};
  ASSERT_EQ(::stat(mark.c_str(), &info), 0);
  EXPECT_GT(info.st_mtim.tv_sec, 1'000'000'000);
}

TEST_F(InReachOfOthers, AStagingFolderIsNotRemovedBecauseItIsCalledDone) {
  ASSERT_TRUE(stage());
  rename_to(plan_.staging(), done());
  expect_error(discard(), Code::kConflict, "left alone");
  EXPECT_EQ(read_file(done() + "/set/a"), "published")
      << "it may hold what an update replaced, and is yet to be verified";
}

TEST_F(InReachOfOthers, AFolderThatEverybodyMayWriteInIsNotOnesOwn) {
  EXPECT_TRUE(work_->is_own_folder({temp_ / "lab", ""}, "thesis"));
  ASSERT_EQ(::chmod(thesis_.c_str(), 0777), 0);
  EXPECT_FALSE(work_->is_own_folder({temp_ / "lab", ""}, "thesis"));
  EXPECT_FALSE(work_->is_own_folder({temp_ / "lab", ""}, "gone"));
}

TEST_F(InReachOfOthers, AMarkWhereOthersMayWriteCountsForNothing) {
  ASSERT_TRUE(prepare());
  write_file(thesis_ + "/" + split_path(done()).name, "");
  ASSERT_EQ(::chmod(thesis_.c_str(), 0770), 0);
  rename_to(thesis_, done());
  expect_error(discard(), Code::kConflict, "others may write in it");
  EXPECT_EQ(read_file(done() + "/set/notes"), "mine");
}

TEST_F(InReachOfOthers, APrepareKilledAtAnyCallLeavesWhatTheNextOneAndADiscardKnow) {
  int killed = 0;
  for (int nth = 1; nth < kMostCalls; ++nth) {
    SCOPED_TRACE("killed at call " + std::to_string(nth));
    begin(nth);
    const ChildEnd end = killed_at_syscall(nth, [this] { return static_cast<bool>(prepare()); });
    if (end == ChildEnd::kNotAllowed) GTEST_SKIP() << "no tracing allowed here";
    ASSERT_NE(end, ChildEnd::kFailed);
    if (nth % 2 == 0) {
      ASSERT_TRUE(stage());
    }
    const Status discarded = discard();
    ASSERT_TRUE(discarded) << discarded.error().message;
    ASSERT_FALSE(exists(plan_.staging()));
    if (end == ChildEnd::kDone) break;
    ++killed;
  }
  EXPECT_GT(killed, 10);
}

TEST_F(InReachOfOthers, WhatIsPutThereAtAnyMomentOfADiscardIsNotRemoved) {
  int swapped = 0;
  for (int nth = 1; nth < kMostCalls; ++nth) {
    SCOPED_TRACE("killed at call " + std::to_string(nth));
    begin(nth);
    ASSERT_TRUE(stage());
    const ChildEnd end = killed_at_syscall(nth, [this] { return static_cast<bool>(discard()); });
    if (end == ChildEnd::kNotAllowed) GTEST_SKIP() << "no tracing allowed here";
    ASSERT_NE(end, ChildEnd::kFailed);
    if (end == ChildEnd::kDone) break;
    for (const std::string& name : {plan_.staging(), done()}) {
      if (!exists(name)) continue;
      rename_to(name, away());
      rename_to(thesis_, name);
      EXPECT_FALSE(discard());
      expect_thesis(name);
      rename_to(name, thesis_);
      ++swapped;
    }
  }
  EXPECT_GT(swapped, 10);
}

TEST_F(InReachOfOthers, APrivateFolderThatGotTheNameOfBaseIsNotOpened) {
  const std::string place = temp_ / "lab/set";
  int swapped = 0;
  for (int nth = 1; nth < kMostCalls; ++nth) {
    SCOPED_TRACE("killed at call " + std::to_string(nth));
    begin(nth);
    ASSERT_TRUE(stage());
    const ChildEnd end = killed_at_syscall(nth, [this] { return static_cast<bool>(commit()); });
    if (end == ChildEnd::kNotAllowed) GTEST_SKIP() << "no tracing allowed here";
    ASSERT_NE(end, ChildEnd::kFailed);
    if (exists(place)) {
      rename_to(place, away());
      rename_to(thesis_, place);
      (void)commit();
      expect_thesis(place);
      rename_to(place, thesis_);
      ++swapped;
    }
    if (end == ChildEnd::kDone) break;
  }
  EXPECT_GT(swapped, 3);
}

class ChmodEntry : public testing::Test {
 protected:
  TempFolder temp_;
  const UniqueFd folder_{::open(temp_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
};

TEST_F(ChmodEntry, RefusesALinkAndLeavesWhatItLeadsTo) {
  write_file(temp_ / "key", "secret", 0600);
  ASSERT_EQ(::symlink("key", (temp_ / "link").c_str()), 0);
  EXPECT_FALSE(chmod_entry(folder_.get(), "link", to_mode(0666)));
  EXPECT_EQ(errno, ELOOP);
  EXPECT_EQ(mode_of(temp_ / "key"), 0600U);
}

TEST_F(ChmodEntry, NamesWhatIsMissing) {
  EXPECT_FALSE(chmod_entry(folder_.get(), "none", to_mode(0666)));
  EXPECT_EQ(errno, ENOENT);
}

TEST_F(ChmodEntry, AddsToTheModeThatItFindsAndTakesFromIt) {
  make_folder(temp_ / "folder", 0);
  EXPECT_TRUE(chmod_entry(folder_.get(), "folder", {.add = 0700})) << "also where it may not be read";
  EXPECT_EQ(mode_of(temp_ / "folder"), 0700U);
  EXPECT_TRUE(chmod_entry(folder_.get(), "folder", {.keep = 0555}));
  EXPECT_EQ(mode_of(temp_ / "folder"), 0500U) << "nobody gets in who did not before";
  ASSERT_EQ(::chmod((temp_ / "folder").c_str(), 02700), 0);
  EXPECT_TRUE(chmod_entry(folder_.get(), "folder", to_mode(0755)));
  EXPECT_EQ(mode_of(temp_ / "folder"), 02755U) << "the set-group-id bit is the site's";
}

TEST_F(ChmodEntry, FollowsNoLinkThatComesBetweenTheLookAndTheChange) {
  constexpr int kTries = 1000, kMostTries = 200 * kTries;
  write_file(temp_ / "key", "secret", 0600);
  write_file(temp_ / "entry", "fetched");
  ASSERT_EQ(::symlink("key", (temp_ / "link").c_str()), 0);
  metainfo::ManifestEntry entry;
  int done = 0, refused = 0;
  {
    const std::jthread attacker([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) ::renameat2(folder_.get(), "entry", folder_.get(), "link", RENAME_EXCHANGE);
    });
    for (int i = 0; i < kTries || (i < kMostTries && (done == 0 || refused == 0)); ++i) {
      const ModeChange mode = to_mode(i % 2 == 0 ? 0666 : 0644);
      ++(set_mode_and_time(folder_.get(), "entry", entry, mode, "entry").ok() ? done : refused);
      ASSERT_EQ(mode_of(temp_ / "key"), 0600U) << "try " << i;
    }
  }
  EXPECT_GT(done, 0) << "the attacker was too quick for the test to say anything";
  EXPECT_GT(refused, 0) << "the attacker was too slow for the test to say anything";
}

}  // namespace
}  // namespace gridtorrent::client::files
