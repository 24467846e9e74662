#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/cli/access_change.h"

namespace gridtorrent::client::cli {
namespace {

using testing::HasSubstr;

v1::Access access(const char* text) {
  return api::parse_access(text).value();
}

std::string changed(const char* now, const char* more, const char* fewer) {
  const v1::Access add = access(more), remove = access(fewer);
  const auto result = changed_access(access(now), *more == 0 ? nullptr : &add, *fewer == 0 ? nullptr : &remove);
  return result ? api::access_text(*result) : result.error().message;
}

TEST(AnAccessThatIsChanged, KeepsWhatIsNotNamed) {
  EXPECT_EQ(changed("group:lab,user:mia", "user:noor", ""), "group:lab,user:mia,user:noor");
  EXPECT_EQ(changed("group:lab,user:mia,buddies", "", "user:mia"), "group:lab,buddies");
  EXPECT_EQ(changed("group:lab", "user:mia,buddies", "group:lab"), "user:mia,buddies");
  EXPECT_EQ(changed("user:mia", "user:mia", ""), "user:mia");
}

TEST(AnAccessThatIsChanged, IsPrivateWhereNobodyIsLeftAndSharedWhereSomebodyCame) {
  EXPECT_EQ(changed("user:mia", "", "user:mia"), "private");
  EXPECT_EQ(changed("private", "group:lab", ""), "group:lab");
}

TEST(AnAccessThatIsChanged, RefusesWhatMakesNoSense) {
  EXPECT_THAT(changed("public", "user:mia", ""), HasSubstr("it is public"));
  EXPECT_THAT(changed("user:mia", "", "user:noor"), HasSubstr("user:noor is not among"));
  EXPECT_THAT(changed("user:mia", "", "buddies"), HasSubstr("buddies are not among"));
  EXPECT_THAT(changed("user:mia", "group:lab", "group:lab"), HasSubstr("name the same"));
  v1::Access hidden;
  hidden.set_level(v1::Access::SHARED);
  const v1::Access more = access("user:mia");
  EXPECT_EQ(changed_access(hidden, &more, nullptr).error().code, Code::kDenied);
}

}  // namespace
}  // namespace gridtorrent::client::cli
