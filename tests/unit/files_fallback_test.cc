#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/unit/files_fixture.h"
#include "tests/unit/files_sandbox.h"

namespace gridtorrent::client::files {
namespace {

constexpr int kNoSandbox = 77;

/// Runs `act` in a child process for which one system call fails with an errno, as on older kernels and other
/// filesystems. The child's exit status: 0 where `act` gave true, kNoSandbox where the system allows no such filter.
int without_syscall(long number, int error_number, const std::function<bool()>& act) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!refuse_syscall(number, error_number)) ::_exit(kNoSandbox);
    ::_exit(act() ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class Fallback : public testing::Test {
 protected:
  void SetUp() override {
    make_folder(temp_ / "set");
    make_folder(temp_ / "set/a");
    make_folder(temp_ / "set/a/b");
    write_file(temp_ / "set/a/b/file", std::string(100'000, 'f'));
    write_file(temp_ / "single", "one");
  }
  void expect_done(int status) {
    if (status == kNoSandbox) GTEST_SKIP() << "no seccomp filter allowed here";
    EXPECT_EQ(status, 0);
  }
  /// Stages `name` in full; true if all went well up to the commit.
  bool stage(const std::string& name) {
    metadata_ = hash(*work_, temp_ / name).value().metadata;
    return work_->prepare(plan_, metadata_.manifest).ok() &&
           work_->copy_into_staging(temp_.path(), plan_, metadata_.manifest, {}, {}).ok();
  }
  bool delivered() {
    const auto report = work_->verify(plan_.target, metadata_.manifest, {}, {}, {});
    return report && report->fault_count == 0 && !exists(plan_.staging());
  }

  TempFolder temp_;
  std::unique_ptr<FileWork> work_ = make_file_work({.hash_threads = 2, .durable = false});
  StagingPlan plan_{.id = transfer_id(), .target = temp_ / "to", .wanted = {}};
  metainfo::VersionMetadata metadata_;
};

TEST_F(Fallback, WithoutOpenat2NoLinkIsFollowedEither) {
  expect_done(without_syscall(SYS_openat2, ENOSYS, [&] {
    const auto tree = hash(*work_, temp_ / "set");
    if (!tree || tree->metadata.manifest.entries.size() != 4) return false;
    if (work_->verify(temp_.path(), tree->metadata.manifest, {}, {}, {}).value().fault_count != 0) return false;
    if (::rename((temp_ / "set/a").c_str(), (temp_ / "a").c_str()) != 0) return false;
    if (::symlink("../a", (temp_ / "set/a").c_str()) != 0) return false;
    return work_->verify(temp_.path(), tree->metadata.manifest, {}, {}, {}).value().fault_count == 3;
  }));
}

TEST_F(Fallback, WithoutNoReplaceAFolderAndAFileArriveAllTheSame) {
  for (const char* name : {"set", "single"}) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(stage(name));
    expect_done(without_syscall(SYS_renameat2, EINVAL,
                                [&] { return work_->commit(plan_, metadata_.manifest).ok() && delivered(); }));
  }
}

TEST_F(Fallback, ReplacesOnlyItsOwnPlaceholderAfterACrash) {
  ASSERT_TRUE(stage("set"));
  write_file(plan_.staging() + "/.committing", "");
  make_folder(temp_ / "to/set");
  write_file(temp_ / "to/set/foreign", "mine");
  expect_error(work_->commit(plan_, metadata_.manifest), Code::kConflict, "already exists");
  EXPECT_EQ(read_file(temp_ / "to/set/foreign"), "mine");
  ASSERT_EQ(::unlink((temp_ / "to/set/foreign").c_str()), 0);
  expect_error(work_->commit(plan_, metadata_.manifest), Code::kConflict, "already exists");
  write_file(plan_.staging() + "/.placeholder", "");
  const Status committed = work_->commit(plan_, metadata_.manifest);
  ASSERT_TRUE(committed) << committed.error().message;
  EXPECT_TRUE(delivered());
}

TEST_F(Fallback, ACommitThatCannotMoveLeavesNothingUnderTheFinalName) {
  for (const char* name : {"set", "single"}) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(stage(name));
    expect_done(without_syscall(SYS_renameat2, EINVAL, [&] {
      if (!refuse_syscall(SYS_linkat, EPERM) || !refuse_syscall(SYS_renameat, EDQUOT)) return false;
      const Status committed = work_->commit(plan_, metadata_.manifest);
      return !committed && committed.error().code == Code::kDisk && !exists(plan_.target + "/" + name);
    }));
    ASSERT_TRUE(exists(plan_.staging() + "/" + name));
    const Status committed = work_->commit(plan_, metadata_.manifest);
    ASSERT_TRUE(committed) << committed.error().message;
    EXPECT_TRUE(delivered());
  }
}

TEST_F(Fallback, CopiesThroughABufferWhereTheKernelCannot) {
  expect_done(without_syscall(SYS_copy_file_range, EXDEV, [&] {
    return stage("set") && work_->commit(plan_, metadata_.manifest).ok() && delivered();
  }));
}

}  // namespace
}  // namespace gridtorrent::client::files
