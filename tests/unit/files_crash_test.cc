// A commit killed at each of its system calls, one after the other, and taken up again.
#include <sys/syscall.h>

#include "tests/unit/files_fixture.h"
#include "tests/unit/files_sandbox.h"

namespace gridtorrent::client::files {
namespace {

/// What is published, how much of it is wanted, and which calls the target's filesystem lacks.
struct Case {
  const char* name;
  const char* published;
  const char* only = nullptr;
  std::vector<long> lacks = {};
};
void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
}

class CommitKilled : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    make_folder(temp_ / "set");
    make_folder(temp_ / "set/sub");
    write_file(temp_ / "set/a", std::string(40'000, 'a'), 0440);
    write_file(temp_ / "set/sub/b", std::string(20'000, 'b'));
    write_file(temp_ / "set/sub/none", "");
    write_file(temp_ / "single", std::string(30'000, 's'), 0400);
    ASSERT_EQ(::chmod((temp_ / "set/sub").c_str(), 0555), 0);
    ASSERT_EQ(::chmod((temp_ / "set").c_str(), 0555), 0);
    metadata_ = hash(*work_, temp_ / GetParam().published).value().metadata;
  }
  const metainfo::Manifest& manifest() const { return metadata_.manifest; }
  std::string place() const { return plan_.target + "/" + manifest().base_name; }

  void stage(int round) {
    plan_ = {.id = transfer_id(static_cast<std::uint64_t>(round)),
             .target = temp_ / ("to" + std::to_string(round)),
             .wanted = {}};
    if (GetParam().only != nullptr) {
      for (const auto& entry : manifest().entries) plan_.wanted.push_back(entry.path == GetParam().only);
    }
    const Status prepared = work_->prepare(plan_, manifest());
    ASSERT_TRUE(prepared) << prepared.error().message;
    ASSERT_TRUE(work_->copy_into_staging(temp_.path(), plan_, manifest(), {}, {}));
    write_file(plan_.target + "/bystander", "mine");
  }
  /// In a child, with the calls that the filesystem lacks.
  ChildEnd commit_killed_at(int nth) {
    return killed_at_syscall(nth, [this] {
      for (const long number : GetParam().lacks) {
        if (!refuse_syscall(number, number == SYS_linkat ? EPERM : EINVAL)) return false;
      }
      return static_cast<bool>(work_->commit(plan_, manifest()));
    });
  }
  bool whole() { return work_->verify(plan_.target, manifest(), plan_.wanted, {}, {}).value().fault_count == 0; }
  /// Nothing, all, or, where there is no rename that refuses to replace, an empty placeholder.
  bool nothing_half_done() {
    struct stat info{};
    if (::lstat(place().c_str(), &info) != 0 || whole()) return true;
    if (GetParam().lacks.empty()) return false;
    if (S_ISREG(info.st_mode)) return info.st_size == 0;
    return ::rmdir(place().c_str()) == 0 && ::mkdir(place().c_str(), 0700) == 0;
  }

  TempFolder temp_;
  std::unique_ptr<FileWork> work_ = make_file_work({.hash_threads = 1, .durable = true});
  metainfo::VersionMetadata metadata_;
  StagingPlan plan_;
};

constexpr int kNever = 1'000'000;
constexpr int kMostCalls = 2'000;

TEST_P(CommitKilled, AtAnyCallIsFinishedByTheNextOne) {
  int killed = 0;
  for (int nth = 1; nth < kMostCalls; ++nth) {
    SCOPED_TRACE("killed at call " + std::to_string(nth));
    stage(nth);
    const ChildEnd end = commit_killed_at(nth);
    if (end == ChildEnd::kNotAllowed) GTEST_SKIP() << "no tracing allowed here";
    ASSERT_NE(end, ChildEnd::kFailed);
    ASSERT_TRUE(nothing_half_done());
    if (end == ChildEnd::kDone) break;
    ++killed;
    ASSERT_EQ(commit_killed_at(kNever), ChildEnd::kDone);
    ASSERT_TRUE(whole());
    ASSERT_FALSE(exists(plan_.staging()));
    ASSERT_FALSE(exists(plan_.staging() + ".done"));
    ASSERT_EQ(read_file(plan_.target + "/bystander"), "mine");
  }
  EXPECT_GT(killed, 20);
}

TEST_P(CommitKilled, NeverReplacesWhatSomebodyPutThereMeanwhile) {
  for (int nth = 1; nth < kMostCalls; ++nth) {
    SCOPED_TRACE("killed at call " + std::to_string(nth));
    stage(nth);
    const ChildEnd end = commit_killed_at(nth);
    if (end == ChildEnd::kNotAllowed) GTEST_SKIP() << "no tracing allowed here";
    if (end == ChildEnd::kDone) break;
    if (exists(place())) continue;
    write_file(place(), "theirs");
    ASSERT_EQ(commit_killed_at(kNever), ChildEnd::kFailed);
    ASSERT_EQ(read_file(place()), "theirs");
    ASSERT_EQ(::unlink(place().c_str()), 0);
    ASSERT_EQ(commit_killed_at(kNever), ChildEnd::kDone);
    ASSERT_TRUE(whole());
  }
}

/// sub/b, beside the `a` of an earlier transfer.
class AdditionKilled : public CommitKilled {
 protected:
  void stage_beside(int round) {
    plan_ = {.id = transfer_id(1'000'000), .target = temp_ / ("to" + std::to_string(round)), .wanted = {}};
    choose("a");
    ASSERT_TRUE(work_->prepare(plan_, manifest()));
    ASSERT_TRUE(work_->copy_into_staging(temp_.path(), plan_, manifest(), {}, {}));
    ASSERT_TRUE(work_->commit(plan_, manifest()));
    plan_.id = transfer_id(static_cast<std::uint64_t>(round));
    plan_.beside = true;
    choose(GetParam().only);
    const Status prepared = work_->prepare(plan_, manifest());
    ASSERT_TRUE(prepared) << prepared.error().message;
    ASSERT_TRUE(work_->copy_into_staging(temp_.path(), plan_, manifest(), {}, {}));
  }
  void choose(std::string_view path) {
    plan_.wanted.clear();
    for (const auto& entry : manifest().entries) plan_.wanted.push_back(entry.path == path);
  }
  std::string added() const { return place() + "/" + GetParam().only; }
  bool earlier_is_whole() {
    return read_file(place() + "/a") == std::string(40'000, 'a') && (!exists(added()) || whole_file());
  }
  bool whole_file() { return read_file(added()) == std::string(20'000, 'b'); }
};

TEST_P(AdditionKilled, AtAnyCallIsFinishedByTheNextOne) {
  int killed = 0;
  for (int nth = 1; nth < kMostCalls; ++nth) {
    SCOPED_TRACE("killed at call " + std::to_string(nth));
    stage_beside(nth);
    const ChildEnd end = commit_killed_at(nth);
    if (end == ChildEnd::kNotAllowed) GTEST_SKIP() << "no tracing allowed here";
    ASSERT_NE(end, ChildEnd::kFailed);
    ASSERT_TRUE(earlier_is_whole());
    if (end == ChildEnd::kDone) break;
    ++killed;
    ASSERT_EQ(commit_killed_at(kNever), ChildEnd::kDone);
    ASSERT_TRUE(earlier_is_whole());
    ASSERT_TRUE(whole());
    struct stat info{};
    ASSERT_EQ(::stat((place() + "/sub").c_str(), &info), 0);
    ASSERT_EQ(info.st_mode & 07777, 0555U);
    ASSERT_FALSE(exists(plan_.staging()));
    ASSERT_FALSE(exists(plan_.staging() + ".done"));
  }
  EXPECT_GT(killed, 20);
}

TEST_P(AdditionKilled, NeverReplacesWhatSomebodyPutThereMeanwhile) {
  for (int nth = 1; nth < kMostCalls; ++nth) {
    SCOPED_TRACE("killed at call " + std::to_string(nth));
    stage_beside(nth);
    const ChildEnd end = commit_killed_at(nth);
    if (end == ChildEnd::kNotAllowed) GTEST_SKIP() << "no tracing allowed here";
    if (end == ChildEnd::kDone) break;
    if (exists(added())) continue;
    ASSERT_EQ(::chmod(place().c_str(), 0755), 0);
    ::mkdir((place() + "/sub").c_str(), 0755);
    write_file(added(), "theirs");
    ASSERT_EQ(commit_killed_at(kNever), ChildEnd::kFailed);
    ASSERT_EQ(read_file(added()), "theirs");
    ASSERT_EQ(::unlink(added().c_str()), 0);
    ASSERT_EQ(commit_killed_at(kNever), ChildEnd::kDone);
    ASSERT_TRUE(whole());
    ASSERT_TRUE(earlier_is_whole());
  }
}

INSTANTIATE_TEST_SUITE_P(Additions, AdditionKilled,
                         testing::Values(Case{"Renamed", "set", "sub/b"},
                                         Case{"Linked", "set", "sub/b", {SYS_renameat2}},
                                         Case{"WithoutLinks", "set", "sub/b", {SYS_renameat2, SYS_linkat}}),
                         [](const auto& instance) { return instance.param.name; });

INSTANTIATE_TEST_SUITE_P(Commits, CommitKilled,
                         testing::Values(Case{"Folder", "set"}, Case{"Partial", "set", "sub/b"}, Case{"File", "single"},
                                         Case{"FolderWithoutNoReplace", "set", nullptr, {SYS_renameat2}},
                                         Case{"FileWithoutNoReplace", "single", nullptr, {SYS_renameat2}},
                                         Case{"FileWithoutLinks", "single", nullptr, {SYS_renameat2, SYS_linkat}}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace gridtorrent::client::files
