// Folders below a named root that somebody else exchanges for links, over and over, while the node works there.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "client/files/file_work.h"
#include "client/security/rooted_disk.h"
#include "common/place.h"
#include "tests/support/temp_folder.h"

namespace gridtorrent::client::files {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// How often each test tries at least; it goes on until both sides of the race have won, so that luck is not needed. An
/// exchange takes some 2 µs: every system call of the node meets both.
constexpr int kTries = 1000, kMostTries = 200 * kTries;

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

/// root/box is a folder, root/link leads to `outside`, which looks the same; another thread exchanges the two.
class RootedFiles : public ::testing::Test {
 protected:
  RootedFiles() {
    fs::create_directories(root_ / "box");
    fs::create_directories(outside_);
    fs::create_directory_symlink(outside_, root_ / "link");
  }
  ~RootedFiles() override { stop(); }

  void exchange() { ASSERT_EQ(::renameat2(AT_FDCWD, box_.c_str(), AT_FDCWD, link_.c_str(), RENAME_EXCHANGE), 0); }
  void exchange_for_ever() {
    attacker_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) exchange();
    });
  }
  void stop() { attacker_ = {}; }
  Place box() const { return {root_ / "box", root_}; }
  static metainfo::Manifest manifest(const std::string& base) {
    metainfo::Manifest manifest;
    manifest.base_name = base;
    manifest.entries = {{"", metainfo::EntryKind::kFolder, 0, 0755, 1, {}},
                        {"empty", metainfo::EntryKind::kFile, 0, 0644, 1, {}},
                        {"sub", metainfo::EntryKind::kFolder, 0, 0755, 1, {}}};
    return manifest;
  }

  testing::TempFolder folder_;
  const fs::path root_ = fs::path(folder_.path()) / "root", outside_ = fs::path(folder_.path()) / "outside";
  const std::string box_ = root_ / "box", link_ = root_ / "link";
  const std::unique_ptr<FileWork> files_ = make_file_work({.durable = false});
  security::RootedDisk disk_;
  SystemClock clock_;
  SystemRng rng_;
  std::jthread attacker_;
};

TEST_F(RootedFiles, AreNeverMadeOutsideByAGet) {
  exchange_for_ever();
  int done = 0, refused = 0;
  for (int i = 0; i < kTries || (i < kMostTries && (done == 0 || refused == 0)); ++i) {
    const std::string base = "b" + std::to_string(i);
    StagingPlan plan{TransferId::make(clock_.wall(), rng_), box_, {}, false, root_};
    const auto tree = manifest(base);
    const bool committed = files_->prepare(plan, tree).ok() && files_->commit(plan, tree).ok();
    if (!committed) (void)files_->discard(plan);
    ++(committed ? done : refused);
    ASSERT_TRUE(fs::is_empty(outside_)) << "try " << i;
  }
  stop();
  EXPECT_GT(done, 0) << "the attacker was too quick for the test to say anything";
  EXPECT_GT(refused, 0) << "the attacker was too slow for the test to say anything";
}

TEST_F(RootedFiles, AreNeverReadFromOutsideByAPublish) {
  write(root_ / "box/run/data", "inside");
  write(outside_ / "run/data", "secret");
  const auto inside = files_->hash_tree({Place{box_ + "/run", root_}, false, ""}, {}, {});
  ASSERT_TRUE(inside.ok()) << inside.error().message;
  const auto root_of = [](const HashedTree& tree) { return tree.metadata.manifest.entries.back().root; };
  exchange_for_ever();
  int done = 0, refused = 0;
  for (int i = 0; i < kTries || (i < kMostTries && (done == 0 || refused == 0)); ++i) {
    const auto tree = files_->hash_tree({Place{box_ + "/run", root_}, false, ""}, {}, {});
    ++(tree.ok() ? done : refused);
    if (tree.ok()) {
      ASSERT_EQ(root_of(*tree), root_of(*inside)) << "try " << i;
    }
  }
  stop();
  EXPECT_GT(done, 0);
  EXPECT_GT(refused, 0);
}

TEST_F(RootedFiles, AreRefusedBehindALinkWithAWayOut) {
  write(outside_ / "run/data", "secret");
  for (const bool must_exist : {true, false}) {
    const auto resolved = disk_.resolve_below(root_, "link/run", must_exist);
    ASSERT_FALSE(resolved.ok());
    EXPECT_EQ(resolved.error().code, Code::kDenied);
    EXPECT_THAT(resolved.error().message, HasSubstr("as a root of its own"));
  }
  EXPECT_EQ(disk_.resolve_below(root_, "link", true).error().code, Code::kDenied) << "the link itself";
  EXPECT_EQ(disk_.resolve_below(root_, "link/new/folder", false).error().code, Code::kDenied);
  const Place behind{root_ / "link/run", root_};
  EXPECT_FALSE(disk_.list(behind).ok());
  EXPECT_FALSE(disk_.exists(below(behind, "data")));
  EXPECT_EQ(files_->verify(Place{root_ / "link", root_}, manifest("run"), {}, {}, {}).error().code, Code::kDenied);
  EXPECT_EQ(files_->hash_tree({behind, false, ""}, {}, {}).error().code, Code::kDenied);
}

TEST_F(RootedFiles, BehindALinkThatAPersonNamesAreReached) {
  write(outside_ / "run/data", "mine");
  EXPECT_TRUE(files_->hash_tree({Place{root_ / "link/run"}, false, ""}, {}, {}).ok());
  EXPECT_TRUE(disk_.exists(Place{root_ / "link/run/data"}));
}

TEST_F(RootedFiles, AreReachedFromARootThatIsItselfBehindALink) {
  write(outside_ / "run/data", "named");
  const auto resolved = disk_.resolve_below(root_ / "link", "run", true);
  ASSERT_TRUE(resolved.ok()) << resolved.error().message;
  EXPECT_TRUE(files_->hash_tree({*resolved, false, ""}, {}, {}).ok());
}

TEST(Places, GoNowhereButBelowTheirRoot) {
  const testing::TempFolder folder;
  const std::string root = folder.path();
  fs::create_directories(root + "/a/b");
  EXPECT_TRUE(open_place({root + "/a/b", root}, O_PATH | O_DIRECTORY));
  EXPECT_TRUE(open_place({root, root}, O_PATH | O_DIRECTORY));
  EXPECT_FALSE(open_place({root + "/../" + fs::path(root).filename().string(), root}, O_PATH));
  EXPECT_FALSE(open_place({root + "x", root}, O_PATH)) << "a name that only begins like the root's";
  EXPECT_FALSE(open_place({"/etc", root}, O_PATH));
  EXPECT_EQ(folder_of({root + "/a", root}), (Place{root, root}));
  EXPECT_EQ(folder_of({root, root}).root, "") << "above the root its owner's path counts";
  EXPECT_EQ(below({"/", "/"}, "a"), (Place{"/a", "/"}));
}

}  // namespace
}  // namespace gridtorrent::client::files
