#include <gmock/gmock.h>

#include "tests/support/node_fixture.h"

namespace gridtorrent::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A content whose BASE begins with a dot, as a shell's start-up file does, or has another name of the publisher's.
class NodeHidden : public NodeFixture {
 protected:
  NodeHidden() {
    publish("tools", ".bash_profile");
    files_.with([](auto& state) { state.existing["/home/mia"] = 1; });
  }
  void publish(const std::string& name, const std::string& base) {
    link_.with([&](auto& state) {
      auto metadata = metadata_of(base);
      auto& content = state.contents[name];
      content.name = name;
      content.access_level = "public";
      FakeLink::describe(content, ContentId::make(clock_.wall(), rng_), metadata);
      state.metadata[content.id] = metadata;
    });
  }
};

TEST_F(NodeHidden, AreRefusedWhereTheFolderIsThereAlready) {
  const auto refused = get(job("tools", "/home/mia"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kDenied);
  EXPECT_THAT(refused.error().message,
              AllOf(HasSubstr(".bash_profile"), HasSubstr("--to"), HasSubstr("--allow-hidden")));
  EXPECT_EQ(files_.count("prepare /home/mia"), 0);
}

TEST_F(NodeHidden, MayLandInAFolderThatIsMadeForThem) {
  EXPECT_TRUE(get(job("tools", "/home/mia/new")).ok());
}

TEST_F(NodeHidden, MayLandWhereAPersonAllowsIt) {
  auto wish = job("tools", "/home/mia");
  wish.allow_hidden = true;
  ASSERT_TRUE(get(wish).ok());
  EXPECT_TRUE(get(job("tools", "/home/mia")).ok()) << "the same get again";
}

TEST_F(NodeHidden, NamesThatProgramsLookForInAHomeAreRefusedAsWell) {
  for (const char* base : {"bin", "R", "public_html"}) {
    publish("tools", base);
    const auto refused = get(job("tools", "/home/mia"));
    ASSERT_FALSE(refused.ok()) << base;
    EXPECT_EQ(refused.error().code, Code::kDenied);
    EXPECT_THAT(refused.error().message, AllOf(HasSubstr("would land as /home/mia/" + std::string(base) + ","),
                                               HasSubstr("--to"), HasSubstr("--allow-hidden")));
  }
  EXPECT_EQ(files_.count("prepare /home/mia"), 0);
}

TEST_F(NodeHidden, NamesThatThePersonAskedForAreNot) {
  publish("bin", "bin");
  EXPECT_TRUE(get(job("bin", "/home/mia")).ok());
}

TEST_F(NodeHidden, NamesThatThePersonGaveWithAsAreNot) {
  publish("tools", "bin");
  auto wish = job("tools", "/home/mia");
  wish.base_name = "bin";
  EXPECT_TRUE(get(wish).ok());
}

TEST_F(NodeHidden, AreRefusedForTasksToo) {
  auto wish = job("tools", "/home/mia");
  wish.root = "/home";
  const auto refused = get(wish);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, Not(HasSubstr("--allow-hidden"))) << "no task may";
}

}  // namespace
}  // namespace gridtorrent::testing
