#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "client/security/node_identity.h"
#include "client/security/rooted_disk.h"
#include "tests/support/temp_folder.h"

namespace gridtorrent::testing {
namespace {

namespace fs = std::filesystem;
using client::security::EnrolmentRequest;
using client::security::NodeIdentity;
using client::security::RootedDisk;

class Roots : public ::testing::Test {
 protected:
  Roots() {
    fs::create_directories(folder_ / "root/sub");
    fs::create_directories(folder_ / "outside");
    std::ofstream(folder_ / "root/sub/file") << "x";
    fs::create_symlink(folder_ / "outside", folder_ / "root/out");
    fs::create_symlink("sub", folder_ / "root/inner");
    fs::create_symlink(folder_ / "nowhere", folder_ / "root/dangling");
    root_ = fs::canonical(folder_ / "root").string();
  }
  TempFolder folder_;
  std::string root_;
  RootedDisk disk_;
};

TEST_F(Roots, RefuseWhatLeadsOut) {
  for (const auto* path : {"..", "../outside", "sub/../../outside", "out", "out/x", "/etc"}) {
    for (const bool must_exist : {true, false}) {
      const auto found = disk_.resolve_below(root_, path, must_exist);
      EXPECT_FALSE(found.ok()) << path << " became " << (found.ok() ? found->path : "");
    }
  }
}

TEST_F(Roots, RefuseADanglingLinkWhereSomethingIsToBeMade) {
  EXPECT_FALSE(disk_.resolve_below(root_, "dangling", false).ok());
  EXPECT_FALSE(disk_.resolve_below(root_, "dangling/x", false).ok());
}

TEST_F(Roots, ResolveWhatLiesBelow) {
  EXPECT_EQ(*disk_.resolve_below(root_, "sub/file", true), (Place{root_ + "/sub/file", root_}));
  EXPECT_EQ(*disk_.resolve_below(root_, "", true), (Place{root_, root_}));
  EXPECT_EQ(disk_.resolve_below(root_, "inner/file", true).error().code, Code::kDenied)
      << "also a link that stays inside";
  EXPECT_EQ(disk_.resolve_below(root_, "new/deeper", false)->path, root_ + "/new/deeper");
  EXPECT_EQ(disk_.resolve_below(root_, "new", true).error().code, Code::kNotFound);
}

TEST_F(Roots, ListFilesAndFoldersOnly) {
  const auto entries = disk_.list(root_);
  ASSERT_TRUE(entries.ok());
  ASSERT_EQ(entries->size(), 1u);
  EXPECT_EQ(entries->front().name, "sub");
  EXPECT_EQ(disk_.list(root_ + "/missing").error().code, Code::kNotFound);
}

TEST_F(Roots, AStampChangesWithTheFileAndNamesTheMissing) {
  metainfo::Manifest manifest;
  manifest.base_name = "sub";
  manifest.entries = {{"", metainfo::EntryKind::kFolder, 0, 0755, 0, {}},
                      {"file", metainfo::EntryKind::kFile, 1, 0644, 0, {}}};
  const auto before = disk_.stamp(root_, manifest, {});
  ASSERT_TRUE(before.ok());
  EXPECT_EQ(*disk_.stamp(root_, manifest, {}), *before);
  std::ofstream(folder_ / "root/sub/file") << "yy";
  EXPECT_NE(*disk_.stamp(root_, manifest, {}), *before);
  fs::remove(folder_ / "root/sub/file");
  const auto gone = disk_.stamp(root_, manifest, {});
  ASSERT_FALSE(gone.ok());
  EXPECT_NE(gone.error().message.find("sub/file"), std::string::npos);
  EXPECT_TRUE(disk_.stamp(root_, manifest, {true, false}).ok()) << "nobody asked for it";
}

class Identity : public ::testing::Test {
 protected:
  NodeIdentity identity() {
    return {NodeId::make({1}, rng_), "desk", UserId::make({1}, rng_), "ada", "server:1", "gtn_secret", {5}, {6}};
  }
  Result<NodeIdentity> enrol(const std::string& token, const std::string& request_id,
                             std::optional<Error> refusal = std::nullopt) {
    return client::security::enrol_once(
        folder_.path(), token, "desk", request_id, [](const std::string& text) { return "proof:" + text; },
        [&](const EnrolmentRequest& request) -> Result<NodeIdentity> {
          asked_.push_back(request);
          if (refusal) return *refusal;
          return identity();
        });
  }
  TempFolder folder_;
  SeededRng rng_{1};
  std::vector<EnrolmentRequest> asked_;
};

TEST_F(Identity, IsNothingBeforeEnrolment) {
  const auto known = client::security::load_identity(folder_.path());
  ASSERT_TRUE(known.ok());
  EXPECT_FALSE(known->has_value());
}

TEST_F(Identity, RefusesADamagedFile) {
  ASSERT_TRUE(crypto::write_secret_file(folder_ / "credential.json", "{\"node_id\":\"n_\"}").ok());
  EXPECT_EQ(client::security::load_identity(folder_.path()).error().code, Code::kCorrupt);
  ASSERT_TRUE(crypto::write_secret_file(folder_ / "credential.json", "not json").ok());
  EXPECT_EQ(client::security::load_identity(folder_.path()).error().code, Code::kCorrupt);
}

TEST_F(Identity, RefusesAFileThatOthersMayRead) {
  ASSERT_TRUE(client::security::save_identity(folder_.path(), identity()).ok());
  ASSERT_EQ(::chmod((folder_ / "credential.json").c_str(), 0644), 0);
  EXPECT_EQ(client::security::load_identity(folder_.path()).error().code, Code::kDenied);
}

TEST_F(Identity, SurvivesWithItsTokenKeptSecret) {
  const auto mine = identity();
  ASSERT_TRUE(client::security::save_identity(folder_.path(), mine).ok());
  struct stat status{};
  ASSERT_EQ(::stat((folder_ / "credential.json").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(**client::security::load_identity(folder_.path()), mine);
}

TEST_F(Identity, IsKeptOnceEnrolledAndProvesItsKey) {
  const auto made = enrol("token", "r1");
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(**client::security::load_identity(folder_.path()), *made);
  ASSERT_EQ(asked_.size(), 1u);
  EXPECT_TRUE(*crypto::verify_signature(asked_[0].public_key, "proof:token", asked_[0].proof));
}

TEST_F(Identity, ALostAnswerIsAskedForAgainUnderTheSameRequest) {
  EXPECT_EQ(enrol("token", "r1", Error{Code::kUnreachable, "gone"}).error().code, Code::kUnreachable);
  ASSERT_TRUE(enrol("token", "r2").ok());
  EXPECT_EQ(asked_[1].request_id, "r1");
  EXPECT_EQ(asked_[1].public_key, asked_[0].public_key);
}

TEST_F(Identity, ARemovedNodeIsNoneAndKeepsItsKeyForTheNextEnrolment) {
  EXPECT_TRUE(client::security::set_identity_aside(folder_.path()).ok()) << "nothing is there: nothing to do";
  ASSERT_TRUE(enrol("token", "r1").ok());
  ASSERT_TRUE(client::security::set_identity_aside(folder_.path()).ok());
  EXPECT_FALSE(client::security::load_identity(folder_.path())->has_value());
  EXPECT_TRUE(std::filesystem::exists(folder_ / "credential.json.removed"));
  ASSERT_TRUE(enrol("fresh", "r2").ok());
  EXPECT_EQ(asked_[1].public_key, asked_[0].public_key);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "credential.json.removed"));
}

TEST_F(Identity, AnotherTokenIsAnotherRequest) {
  EXPECT_FALSE(enrol("token", "r1", Error{Code::kDenied, "used up"}).ok());
  ASSERT_TRUE(enrol("fresh", "r2").ok());
  EXPECT_EQ(asked_[1].request_id, "r2");
}

}  // namespace
}  // namespace gridtorrent::testing
