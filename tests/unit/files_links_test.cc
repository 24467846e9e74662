#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>

#include "client/security/rooted_disk.h"
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

class FollowedLinks : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* folder : {"set", "set/raw", "big", "big/deep"}) make_folder(temp_ / folder);
    write_file(temp_ / "set/raw/a", "abc");
    write_file(temp_ / "big/b", "defg");
    write_file(temp_ / "big/deep/c", "hi");
    link("raw/a", "set/best");
    link(temp_ / "big", "set/more");
  }
  void link(const std::string& target, const std::string& path) {
    ASSERT_EQ(::symlink(target.c_str(), (temp_ / path).c_str()), 0) << path;
  }
  void lead(const std::string& path, const std::string& target) {
    ASSERT_EQ(::unlink((temp_ / path).c_str()), 0) << path;
    link(target, path);
  }
  Result<HashedTree> published(bool strict = false, std::vector<std::string> exclude = {}) {
    HashRequest request{.path = Place(temp_ / "set"), .strict = strict, .rules = {.links = LinkRule::kFollow}};
    request.rules.exclude = std::move(exclude);
    request.settled_before_ns = std::numeric_limits<std::int64_t>::max();
    return work_->hash_tree(request, {}, {});
  }
  Place parent(bool follow = true) const { return {temp_.path(), "", follow}; }
  std::string stamp(const metainfo::Manifest& manifest) { return disk_.stamp(parent(), manifest, {}).value(); }

  TempFolder temp_;
  std::unique_ptr<FileWork> work_ = make_file_work({.hash_threads = 2, .durable = false});
  security::RootedDisk disk_;
};

TEST_F(FollowedLinks, ArePublishedAsWhatTheyLeadTo) {
  const auto tree = published();
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_TRUE(tree->follow_links);
  const metainfo::Manifest& manifest = tree->metadata.manifest;
  std::map<std::string, std::pair<EntryKind, std::uint64_t>> entries;
  for (const auto& entry : manifest.entries) entries[entry.path] = {entry.kind, entry.size};
  const std::map<std::string, std::pair<EntryKind, std::uint64_t>> expected = {
      {"", {EntryKind::kFolder, 0}},     {"best", {EntryKind::kFile, 3}},        {"more", {EntryKind::kFolder, 0}},
      {"more/b", {EntryKind::kFile, 4}}, {"more/deep", {EntryKind::kFolder, 0}}, {"more/deep/c", {EntryKind::kFile, 2}},
      {"raw", {EntryKind::kFolder, 0}},  {"raw/a", {EntryKind::kFile, 3}}};
  EXPECT_EQ(entries, expected);
  EXPECT_TRUE(manifest.targets.empty()) << "programs that know no links read it";
  const auto scanned = work_->scan_tree(Place(temp_ / "set"), {.links = LinkRule::kFollow}, {}, {});
  ASSERT_TRUE(scanned) << scanned.error().message;
  EXPECT_EQ(scanned->figures.links, 2U);
  EXPECT_EQ(scanned->figures.files, 4U);
}

TEST_F(FollowedLinks, AreFollowedByWhoeverReadsTheFilesLater) {
  const auto tree = published();
  ASSERT_TRUE(tree) << tree.error().message;
  const metainfo::Manifest& manifest = tree->metadata.manifest;
  EXPECT_EQ(work_->verify(parent(), manifest, {}, {}, {}).value().fault_count, 0U);
  EXPECT_FALSE(work_->look_at(parent(), manifest, {}).value().difference);
  EXPECT_EQ(work_->flat_sha256(parent(), manifest, {}, {}, {}).value().size(), manifest.entries.size());
  make_folder(temp_ / "to");
  const StagingPlan plan{.id = transfer_id(), .target = temp_ / "to", .wanted = {}};
  ASSERT_TRUE(work_->prepare(plan, manifest));
  const Status copied = work_->copy_into_staging(parent(), plan, manifest, {}, {});
  ASSERT_TRUE(copied) << copied.error().message;
  ASSERT_TRUE(work_->commit(plan, manifest));
  EXPECT_EQ(work_->verify(temp_ / "to", manifest, {}, {}, {}).value().fault_count, 0U);
  EXPECT_GT(work_->verify(parent(false), manifest, {}, {}, {}).value().fault_count, 0U) << "nobody asked to follow";
}

TEST_F(FollowedLinks, ThatLeadElsewhereAreOtherFiles) {
  const auto tree = published();
  ASSERT_TRUE(tree) << tree.error().message;
  const metainfo::Manifest& manifest = tree->metadata.manifest;
  const std::string before = stamp(manifest);
  EXPECT_EQ(stamp(manifest), before);
  write_file(temp_ / "secret", "xyz");
  lead("set/best", temp_ / "secret");
  EXPECT_NE(stamp(manifest), before);
  const VerifyReport report = work_->verify(parent(), manifest, {}, {}, {}).value();
  ASSERT_EQ(report.fault_count, 1U);
  EXPECT_EQ(report.faults[0].path, "set/best");
}

TEST_F(FollowedLinks, OneThatIsExchangedWhileOthersAreHashedIsNoticed) {
  bool replaced = false;
  lead("set/best", temp_ / "big/best");  // by a second link, so that no folder of the tree changes
  link(temp_ / "set/raw/a", "big/best");
  lead("set/more", temp_ / "big/deep");
  const auto replace = [&](std::uint64_t, std::uint64_t) {
    if (std::exchange(replaced, true)) return;
    write_file(temp_ / "other", "abc");
    lead("big/best", temp_ / "other");
  };
  const auto tree =
      work_->hash_tree({.path = Place(temp_ / "set"), .rules = {.links = LinkRule::kFollow}}, replace, {});
  expect_error(tree, Code::kConflict, "changed while it was being hashed");
}

TEST_F(FollowedLinks, WithoutAnEndAreRefusedByName) {
  link("..", "set/raw/up");
  expect_error(published(), Code::kInvalid, "set/raw/up' is a symbolic link to the folder '");
  EXPECT_TRUE(published(false, {"up"})) << "what is excluded leads nowhere";
  lead("set/raw/up", "up");
  expect_error(published(), Code::kInvalid, "set/raw/up' is a symbolic link that cannot be followed");
}

TEST_F(FollowedLinks, ByWayOfAnotherFolderWithoutAnEndAreRefused) {
  link(temp_ / "set/raw", "big/deep/back");
  link("../more", "set/raw/more");
  expect_error(published(), Code::kInvalid, "that it lies in");
}

TEST_F(FollowedLinks, ThatLeadToNothingAreSkippedAndWarnedOf) {
  link("nowhere", "set/dangling");
  const auto tree = published();
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_EQ(tree->skipped, 1U);
  ASSERT_EQ(tree->warnings.size(), 1U);
  EXPECT_NE(tree->warnings[0].find("dangling': a symbolic link that leads to nothing"), std::string::npos);
  expect_error(published(true), Code::kInvalid, "leads to nothing");
}

TEST_F(FollowedLinks, OfWhatIsPublishedItselfCountAsWell) {
  link("set", "latest");
  const auto tree = work_->hash_tree({.path = Place(temp_ / "latest"), .rules = {.links = LinkRule::kFollow}}, {}, {});
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_EQ(tree->metadata.manifest.base_name, "latest");
  EXPECT_EQ(tree->metadata.manifest.file_count(), 4U);
}

TEST_F(FollowedLinks, ToAnotherFilesystemAreReadAnewByAnUpdate) {
  std::string other = "/dev/shm/gt-files-XXXXXX";
  if (::mkdtemp(other.data()) == nullptr) GTEST_SKIP() << "no /dev/shm";
  struct stat here{}, there{};
  ASSERT_EQ(::stat(temp_.path().c_str(), &here), 0);
  ASSERT_EQ(::stat(other.c_str(), &there), 0);
  write_file(other + "/far", "elsewhere");
  link(other + "/far", "set/far");
  const auto tree = published();
  std::filesystem::remove_all(other);
  if (here.st_dev == there.st_dev) GTEST_SKIP() << "/dev/shm is the filesystem of " << temp_.path();
  ASSERT_TRUE(tree) << tree.error().message;
  const auto& entries = tree->metadata.manifest.entries;
  const auto far = std::ranges::find(entries, "far", &metainfo::ManifestEntry::path);
  ASSERT_NE(far, entries.end());
  EXPECT_EQ(far->size, 9U);
  EXPECT_EQ(tree->inodes.at(static_cast<std::size_t>(far - entries.begin())), 0U) << "an inode of there means nothing";
  EXPECT_NE(tree->inodes.at(0), 0U);
}

TEST_F(FollowedLinks, BelowANamedRootAreRefused) {
  const auto refused =
      work_->hash_tree({.path = Place(temp_ / "set", temp_.path()), .rules = {.links = LinkRule::kFollow}}, {}, {});
  expect_error(refused, Code::kDenied, "below a named root, where no symbolic link is followed");
}

}  // namespace
}  // namespace gridtorrent::client::files
