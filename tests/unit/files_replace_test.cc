// A version that takes the place of an earlier one: what is taken from that, the exchange, and a crash at any call of
// it.
#include "client/files/local_sources.h"
#include "tests/unit/files_fixture.h"
#include "tests/unit/files_sandbox.h"

namespace gridtorrent::client::files {
namespace {

using metainfo::EntryKind;
using metainfo::Manifest;

Manifest manifest_of(const std::vector<std::tuple<std::string, std::uint64_t, int>>& files) {
  Manifest manifest;
  manifest.base_name = "set";
  manifest.entries.push_back({.path = "", .kind = EntryKind::kFolder});
  for (const auto& [path, size, root] : files) {
    metainfo::ManifestEntry entry;
    entry.path = path;
    entry.size = size;
    entry.root[0] = static_cast<std::uint8_t>(root);
    manifest.entries.push_back(entry);
  }
  return manifest;
}

using Sources = std::vector<std::optional<LocalSource>>;

TEST(LocalSources, AreFilesOfTheSameRootWhateverTheirName) {
  const Manifest before = manifest_of({{"a", 10, 1}, {"b", 20, 2}});
  const Manifest next = manifest_of({{"a", 20, 2}, {"moved", 10, 1}});
  EXPECT_EQ(plan_local_sources(before, {}, next, {}), (Sources{{}, LocalSource{2, true}, LocalSource{1, true}}));
}

TEST(LocalSources, AreFilesOfTheSameNameInPart) {
  const Manifest before = manifest_of({{"a", 10, 1}, {"b", 20, 2}});
  const Manifest next = manifest_of({{"a", 12, 3}, {"c", 20, 4}});
  EXPECT_EQ(plan_local_sources(before, {}, next, {}), (Sources{{}, LocalSource{1, false}, {}}));
}

TEST(LocalSources, AreOnlyWhatWasFetchedAndOnlyForWhatIsWanted) {
  const Manifest before = manifest_of({{"a", 10, 1}, {"b", 20, 2}});
  const Manifest next = manifest_of({{"a", 10, 1}, {"b", 20, 2}, {"c", 0, 0}});
  EXPECT_EQ(plan_local_sources(before, {true, true, false}, next, {}), (Sources{{}, LocalSource{1, true}, {}, {}}));
  EXPECT_EQ(plan_local_sources(before, {}, next, {true, false, true, true}),
            (Sources{{}, {}, LocalSource{2, true}, {}}));
}

/// A folder as it was fetched, and the one that is published now, beside each other.
class Replace : public testing::Test {
 protected:
  void SetUp() override {
    make_folder(temp_ / "to");
    fill(temp_ / "to", 'a');
    before_ = hash(*work_, temp_ / "to/set").value().metadata;
    make_folder(temp_ / "new");
    fill(temp_ / "new", 'b');
    write_file(temp_ / "new/set/sub/added", std::string(5'000, 'n'));
    ASSERT_EQ(::chmod((temp_ / "new/set").c_str(), 0555), 0);
    ASSERT_EQ(::chmod((temp_ / "to/set").c_str(), 0555), 0);
    next_ = hash(*work_, temp_ / "new/set").value().metadata;
    before_.manifest.entries.front().mode = 0555;
  }
  /// `same` is in both, `changed` not.
  static void fill(const std::string& folder, char what) {
    make_folder(folder + "/set");
    make_folder(folder + "/set/sub");
    write_file(folder + "/set/same", std::string(40'000, 's'), 0440);
    write_file(folder + "/set/sub/changed", std::string(50'000, 'c') + what);
    set_mtime(folder + "/set/same", 1'000'000'000);
  }
  Status stage(std::uint64_t round = 1) {
    plan_ = {.id = transfer_id(round), .target = temp_ / "to", .wanted = {}, .replaces = true};
    GT_TRY(work_->prepare(plan_, next_.manifest));
    const auto taken = work_->stage_local(earlier(), plan_, next_.manifest, {}, {});
    if (!taken) return taken.error();
    taken_ = *taken;
    // What a fetch brings.
    write_file(plan_.staging() + "/set/sub/changed", read_file(temp_ / "new/set/sub/changed"));
    write_file(plan_.staging() + "/set/sub/added", read_file(temp_ / "new/set/sub/added"));
    return {};
  }
  LocalTree earlier() const { return {Place(temp_ / "to"), before_.manifest, {}}; }
  bool holds(const std::string& folder, const Manifest& manifest) {
    return work_->verify(folder, manifest, {}, {}, {}).value().fault_count == 0;
  }

  TempFolder temp_;
  std::unique_ptr<FileWork> work_ = make_file_work({.hash_threads = 1, .durable = true});
  metainfo::VersionMetadata before_, next_;
  StagingPlan plan_;
  std::uint64_t taken_ = 0;
};

TEST_F(Replace, TakesWhatIsThereAndExchangesBoth) {
  ASSERT_TRUE(stage());
  EXPECT_EQ(taken_, 40'000U + 50'001U);
  EXPECT_EQ(read_file(plan_.staging() + "/set/same"), std::string(40'000, 's'));
  EXPECT_FALSE(work_->has_replaced(plan_, next_.manifest));
  const Status done = work_->commit(plan_, next_.manifest);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(work_->has_replaced(plan_, next_.manifest));
  EXPECT_TRUE(holds(plan_.target, next_.manifest));
  EXPECT_TRUE(holds(plan_.staging(), before_.manifest));
  struct stat info{};
  ASSERT_EQ(::stat((temp_ / "to/set").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0555U);
  ASSERT_TRUE(work_->discard(plan_));
  EXPECT_FALSE(exists(plan_.staging()));
  EXPECT_TRUE(work_->commit(plan_, next_.manifest)) << "when all was done but to write that down";
}

TEST_F(Replace, OpensNothingThatWasClosed) {
  ASSERT_EQ(::chmod((temp_ / "to/set").c_str(), 0700), 0);
  ASSERT_TRUE(stage());
  const Status done = work_->commit(plan_, next_.manifest);
  ASSERT_TRUE(done) << done.error().message;
  struct stat info{};
  ASSERT_EQ(::stat((temp_ / "to/set").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0500U) << "as published, less what its owner took from others";
}

TEST_F(Replace, TakesFromModesWhatTheUmaskTakesFromOthers) {
  ASSERT_EQ(::chmod((temp_ / "to/set").c_str(), 0500), 0);
  ASSERT_EQ(::chmod((temp_ / "new/set").c_str(), 0775), 0);
  next_ = hash(*work_, temp_ / "new/set").value().metadata;
  ASSERT_TRUE(stage());
  plan_.umask = 027;
  plan_.replaced_mode = 0500;
  const Status done = work_->commit(plan_, next_.manifest);
  ASSERT_TRUE(done) << done.error().message;
  struct stat info{};
  ASSERT_EQ(::stat((temp_ / "to/set").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0750U) << "what was there had the mode that it came with";
  ASSERT_EQ(::stat((temp_ / "to/set/sub/added").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640U);
}

TEST_F(Replace, IsUndoneAsItWas) {
  ASSERT_TRUE(stage());
  ASSERT_TRUE(work_->commit(plan_, next_.manifest));
  const Status undone = work_->put_back(plan_, next_.manifest);
  ASSERT_TRUE(undone) << undone.error().message;
  EXPECT_TRUE(holds(plan_.target, before_.manifest));
  EXPECT_FALSE(work_->has_replaced(plan_, next_.manifest));
  struct stat info{};
  ASSERT_EQ(::stat((temp_ / "to/set").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0555U);
  ASSERT_TRUE(work_->commit(plan_, next_.manifest));
  EXPECT_TRUE(holds(plan_.target, next_.manifest));
}

TEST_F(Replace, KilledWhileTheOldOneIsRemovedKeepsTheNewOne) {
  int killed = 0;
  for (int nth = 1; nth < 500; ++nth) {
    SCOPED_TRACE("killed at call " + std::to_string(nth));
    const Status staged = stage(static_cast<std::uint64_t>(nth));
    ASSERT_TRUE(staged) << staged.error().message;
    ASSERT_TRUE(work_->commit(plan_, next_.manifest));
    const ChildEnd end = killed_at_syscall(nth, [this] { return static_cast<bool>(work_->discard(plan_)); });
    if (end == ChildEnd::kNotAllowed) GTEST_SKIP() << "no tracing allowed here";
    ASSERT_NE(end, ChildEnd::kFailed);
    ASSERT_TRUE(holds(plan_.target, next_.manifest));
    ASSERT_TRUE(!exists(plan_.staging()) || holds(plan_.staging(), before_.manifest)) << "all of it, or nothing";
    ASSERT_TRUE(work_->discard(plan_));
    ASSERT_FALSE(exists(plan_.staging() + ".done"));
    if (end == ChildEnd::kDone) break;
    ++killed;
    // As it was before.
    const UniqueFd target(::open(plan_.target.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(remove_tree(target.get(), "set", plan_.target));
    fill(plan_.target, 'a');
  }
  EXPECT_GT(killed, 3);
}

TEST_F(Replace, RefusesWhereNothingIsThereAnyMore) {
  ASSERT_TRUE(stage());
  ASSERT_EQ(::chmod((temp_ / "to/set").c_str(), 0755), 0);
  ASSERT_EQ(::rename((temp_ / "to/set").c_str(), (temp_ / "to/away").c_str()), 0);
  expect_error(Result<bool>(work_->commit(plan_, next_.manifest).error()), Code::kConflict, "nothing to replace");
}

TEST_F(Replace, FindsWhatSomebodyAdded) {
  EXPECT_EQ(work_->foreign_path(earlier(), true).value(), "");
  ASSERT_EQ(::chmod((temp_ / "to/set").c_str(), 0755), 0);
  write_file(temp_ / "to/set/sub/notes", "mine");
  EXPECT_EQ(work_->foreign_path(earlier(), true).value(), "set/sub/notes");
  EXPECT_EQ(work_->foreign_path(earlier(), false).value(), "set/sub/notes");
  ASSERT_EQ(::unlink((temp_ / "to/set/sub/notes").c_str()), 0);
  ASSERT_EQ(::symlink("same", (temp_ / "to/set/link").c_str()), 0);
  EXPECT_EQ(work_->foreign_path(earlier(), true).value(), "set/link");
}

TEST_F(Replace, PutsLinksInThePlaceOfOtherLinks) {
  ASSERT_EQ(::chmod((temp_ / "new/set").c_str(), 0755), 0);
  ASSERT_EQ(::chmod((temp_ / "to/set").c_str(), 0755), 0);
  ASSERT_EQ(::symlink("same", (temp_ / "to/set/best").c_str()), 0);
  ASSERT_EQ(::symlink("sub/changed", (temp_ / "new/set/best").c_str()), 0);
  const auto keep = [&](const std::string& path) {
    return work_->hash_tree({.path = Place(path), .rules = {.links = LinkRule::kKeep}}, {}, {}).value().metadata;
  };
  before_ = keep(temp_ / "to/set");
  next_ = keep(temp_ / "new/set");
  EXPECT_EQ(work_->foreign_path(earlier(), true).value(), "");
  ASSERT_TRUE(stage());
  EXPECT_FALSE(exists(plan_.staging() + "/set/best")) << "not before everything else is there";
  ASSERT_TRUE(work_->commit(plan_, next_.manifest));
  EXPECT_TRUE(holds(plan_.target, next_.manifest));
  EXPECT_TRUE(holds(plan_.staging(), before_.manifest));
  ASSERT_TRUE(work_->put_back(plan_, next_.manifest));
  EXPECT_TRUE(holds(plan_.target, before_.manifest));
  ASSERT_TRUE(work_->commit(plan_, next_.manifest)) << "the links of the first attempt are there";
  EXPECT_TRUE(holds(plan_.target, next_.manifest));
}

TEST_F(Replace, KilledAtAnyCallLeavesOneOfTheTwoAndGoesOn) {
  int killed = 0;
  for (int nth = 1; nth < 2'000; ++nth) {
    SCOPED_TRACE("killed at call " + std::to_string(nth));
    const Status staged = stage(static_cast<std::uint64_t>(nth));
    ASSERT_TRUE(staged) << staged.error().message;
    const ChildEnd end =
        killed_at_syscall(nth, [this] { return static_cast<bool>(work_->commit(plan_, next_.manifest)); });
    if (end == ChildEnd::kNotAllowed) GTEST_SKIP() << "no tracing allowed here";
    ASSERT_NE(end, ChildEnd::kFailed);
    ASSERT_TRUE(holds(plan_.target, before_.manifest) || holds(plan_.target, next_.manifest));
    const Status done = work_->commit(plan_, next_.manifest);
    ASSERT_TRUE(done) << done.error().message;
    ASSERT_TRUE(holds(plan_.target, next_.manifest));
    ASSERT_TRUE(holds(plan_.staging(), before_.manifest));
    const Status undone = work_->put_back(plan_, next_.manifest);
    ASSERT_TRUE(undone) << undone.error().message;
    ASSERT_TRUE(holds(plan_.target, before_.manifest));
    ASSERT_TRUE(work_->discard(plan_));
    if (end == ChildEnd::kDone) break;
    ++killed;
  }
  EXPECT_GT(killed, 20);
}

}  // namespace
}  // namespace gridtorrent::client::files
