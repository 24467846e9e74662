#include "tests/unit/files_fixture.h"

namespace gridtorrent::client::files {
namespace {

using metainfo::EntryKind;

std::string target_of(const std::string& path) {
  std::string target(4096, '\0');
  const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
  if (size < 0) return "no link";
  target.resize(static_cast<std::size_t>(size));
  return target;
}

class KeptLinks : public testing::Test {
 protected:
  void SetUp() override {
    make_folder(temp_ / "from");
    make_folder(temp_ / "from/set");
    make_folder(temp_ / "from/set/raw");
    write_file(temp_ / "from/set/raw/a", "abc");
    link("raw/a", "from/set/best");
    link("../raw", "from/set/raw/here");
    link("missing", "from/set/dangling");
  }
  void link(const std::string& target, const std::string& path) {
    ASSERT_EQ(::symlink(target.c_str(), (temp_ / path).c_str()), 0) << path;
  }
  Result<HashedTree> published(WalkRules rules = {.links = LinkRule::kKeep}) {
    return work_->hash_tree({.path = Place(temp_ / "from/set"), .rules = std::move(rules)}, {}, {});
  }
  /// Puts what is in `from` together in `to`.
  void arrive() {
    const auto tree = published();
    ASSERT_TRUE(tree) << tree.error().message;
    metadata_ = tree->metadata;
    const Status prepared = work_->prepare(plan_, metadata_.manifest);
    ASSERT_TRUE(prepared) << prepared.error().message;
    const Status copied = work_->copy_into_staging(temp_ / "from", plan_, metadata_.manifest, {}, {});
    ASSERT_TRUE(copied) << copied.error().message;
  }
  Status commit() { return work_->commit(plan_, metadata_.manifest); }
  VerifyReport verified() { return work_->verify(temp_ / "to", metadata_.manifest, plan_.wanted, {}, {}).value(); }

  TempFolder temp_;
  std::unique_ptr<FileWork> work_ = make_file_work({.hash_threads = 2, .durable = false});
  metainfo::VersionMetadata metadata_;
  StagingPlan plan_{.id = transfer_id(), .target = temp_ / "to", .wanted = {}};
};

TEST_F(KeptLinks, ThatLeadOutsideAreRefusedByNameWithTheWayOut) {
  link("../../secret", "from/set/raw/out");
  const auto refused = published();
  expect_error(refused, Code::kInvalid, "'set/raw/out' to '../../secret' leads outside");
  EXPECT_NE(refused.error().message.find("--links skip"), std::string::npos);
  EXPECT_TRUE(published({.links = LinkRule::kKeep, .exclude = {"out"}})) << "what is excluded leads nowhere";
  EXPECT_TRUE(published({})) << "skipped as before";
}

TEST_F(KeptLinks, ArriveAsTheyWere) {
  set_mtime(temp_ / "from/set/best", 1'400'000'000'123'456'789);
  arrive();
  EXPECT_FALSE(exists(plan_.staging() + "/set/best")) << "not before everything else is there";
  const Status committed = commit();
  ASSERT_TRUE(committed) << committed.error().message;
  EXPECT_EQ(target_of(temp_ / "to/set/best"), "raw/a");
  EXPECT_EQ(target_of(temp_ / "to/set/raw/here"), "../raw");
  EXPECT_EQ(target_of(temp_ / "to/set/dangling"), "missing");
  struct stat info{};
  ASSERT_EQ(::lstat((temp_ / "to/set/best").c_str(), &info), 0);
  EXPECT_EQ(to_ns(info.st_mtim), 1'400'000'000'123'456'789);
  EXPECT_EQ(verified().fault_count, 0U);
  EXPECT_TRUE(commit()) << "again after a crash at its end";
}

TEST_F(KeptLinks, AnInterruptedCommitMakesThemOnce) {
  arrive();
  const std::string staged = plan_.staging() + "/set";
  ASSERT_EQ(::symlink("raw/a", (staged + "/best").c_str()), 0);
  write_file(plan_.staging() + "/.committing", "");
  const Status committed = commit();
  ASSERT_TRUE(committed) << committed.error().message;
  EXPECT_EQ(verified().fault_count, 0U);
}

TEST_F(KeptLinks, AVerifyFindsOnesThatLeadElsewhereOrAreNone) {
  arrive();
  ASSERT_TRUE(commit());
  ASSERT_EQ(::unlink((temp_ / "to/set/best").c_str()), 0);
  link("/etc/passwd", "to/set/best");
  ASSERT_EQ(::unlink((temp_ / "to/set/dangling").c_str()), 0);
  write_file(temp_ / "to/set/dangling", "");
  const VerifyReport report = verified();
  ASSERT_EQ(report.fault_count, 2U);
  EXPECT_EQ(report.faults[0].path, "set/best");
  EXPECT_EQ(report.faults[0].reason, "leads elsewhere");
  EXPECT_EQ(report.faults[1].reason, "no symbolic link");
}

TEST_F(KeptLinks, AreAddedToWhatIsThereAndReplaceNothing) {
  arrive();
  make_folder(temp_ / "to/set");
  write_file(temp_ / "to/set/dangling", "mine");
  plan_.beside = true;
  expect_error(commit(), Code::kConflict, "set/dangling' already exists");
  ASSERT_EQ(::unlink((temp_ / "to/set/dangling").c_str()), 0);
  link("missing", "to/set/dangling");
  const Status committed = commit();
  ASSERT_TRUE(committed) << committed.error().message;
  EXPECT_EQ(verified().fault_count, 0U);
}

TEST_F(KeptLinks, OnlyThoseThatAreAskedForCome) {
  const auto tree = published();
  ASSERT_TRUE(tree) << tree.error().message;
  metadata_ = tree->metadata;
  for (const auto& entry : metadata_.manifest.entries) plan_.wanted.push_back(entry.path == "best");
  ASSERT_TRUE(work_->prepare(plan_, metadata_.manifest));
  const Status committed = commit();
  ASSERT_TRUE(committed) << committed.error().message;
  EXPECT_EQ(target_of(temp_ / "to/set/best"), "raw/a");
  EXPECT_FALSE(exists(temp_ / "to/set/raw"));
  EXPECT_EQ(verified().fault_count, 0U);
}

TEST_F(KeptLinks, NothingIsWrittenThroughOneThatStandsWhereAFolderBelongs) {
  arrive();
  make_folder(temp_ / "elsewhere");
  make_folder(temp_ / "to/set");
  link("../../elsewhere", "to/set/raw");
  plan_.beside = true;
  EXPECT_FALSE(commit());
  EXPECT_FALSE(exists(temp_ / "elsewhere/a"));
}

TEST_F(KeptLinks, OneThatWasReplacedWhileOthersWereHashedIsNoticed) {
  bool replaced = false;
  const auto replace = [&](std::uint64_t, std::uint64_t) {
    if (std::exchange(replaced, true)) return;
    EXPECT_EQ(::unlink((temp_ / "from/set/best").c_str()), 0);
    link("raw", "from/set/best");
  };
  const auto tree =
      work_->hash_tree({.path = Place(temp_ / "from/set"), .rules = {.links = LinkRule::kKeep}}, replace, {});
  expect_error(tree, Code::kConflict, "changed while it was being hashed");
}

}  // namespace
}  // namespace gridtorrent::client::files
