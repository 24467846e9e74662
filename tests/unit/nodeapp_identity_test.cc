// A running node's identity, as it is renewed and given anew.
#include <gtest/gtest.h>

#include <filesystem>

#include "client/app/identity_keeper.h"
#include "tests/support/temp_folder.h"

namespace gridtorrent::client::app {
namespace {

class Kept : public ::testing::Test {
 protected:
  static security::NodeIdentity identity(const std::string& token, WallTime issued) {
    SeededRng rng(1);
    return {NodeId::make({1}, rng), "desk", UserId::make({1}, rng), "ada", "server:1", token, issued, {1'000}};
  }
  std::string on_disk() { return (*security::load_identity(folder_.path()))->token; }

  testing::TempFolder folder_;
  IdentityKeeper keeper_{folder_.path(), identity("gtn_first", {10})};
};

TEST_F(Kept, IsRenewedOnTheDiskAsWell) {
  ASSERT_TRUE(keeper_.renew({"gtn_renewed", {20}, {2'000}}));
  EXPECT_EQ(keeper_.now().token, "gtn_renewed");
  EXPECT_EQ(on_disk(), "gtn_renewed");
}

TEST_F(Kept, ARenewalIsNotWrittenOverWhatWasGivenSince) {
  ASSERT_TRUE(keeper_.take_over(identity("gtn_given", {30})));
  EXPECT_TRUE(keeper_.renew({"gtn_renewed", {20}, {2'000}}));
  EXPECT_EQ(keeper_.now().token, "gtn_given");
  EXPECT_EQ(on_disk(), "gtn_given");
}

TEST_F(Kept, WhatIsGivenIsWrittenOverARenewalThatCameBetween) {
  ASSERT_TRUE(security::save_identity(folder_.path(), identity("gtn_given", {30})));
  ASSERT_TRUE(keeper_.renew({"gtn_renewed", {20}, {2'000}})) << "it does not know yet what was given";
  ASSERT_TRUE(keeper_.take_over(identity("gtn_given", {30})));
  EXPECT_EQ(on_disk(), "gtn_given");
}

TEST_F(Kept, ARenewalThatTheDiskRefusesChangesNothing) {
  std::filesystem::remove_all(folder_.path());
  EXPECT_FALSE(keeper_.renew({"gtn_renewed", {20}, {2'000}}));
  EXPECT_EQ(keeper_.now().token, "gtn_first");
}

TEST_F(Kept, WhatIsGivenIsInUseThoughTheDiskRefusesIt) {
  std::filesystem::remove_all(folder_.path());
  EXPECT_FALSE(keeper_.take_over(identity("gtn_given", {30})));
  EXPECT_EQ(keeper_.now().token, "gtn_given") << "the server has ended the one before";
}

}  // namespace
}  // namespace gridtorrent::client::app
