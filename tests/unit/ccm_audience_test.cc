#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/server_world.h"

namespace gridtorrent::ccm {
namespace {

using testing::HasSubstr;
using testing_support::message_of;
using testing_support::ServerWorld;

class Preview : public testing::TestWithParam<const char*> {
 protected:
  ServerWorld w{GetParam()};
  Actor alice = w.user("alice");
  Actor bob = w.user("bob");
};

INSTANTIATE_TEST_SUITE_P(Over, Preview, testing::Values("memory", "sqlite"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(Preview, RefusesTheTargetsThatPublishingRefuses) {
  const Actor mallory = w.user("mallory");
  for (const Access& access :
       {Access{AccessLevel::kShared, {}, {"nobody"}}, Access{AccessLevel::kShared, {{{}, "none"}}, {}},
        Access{AccessLevel::kShared, {}, {}}, Access{AccessLevel::kPublic, {}, {"bob"}}}) {
    BeginPublish request;
    request.request_id = w.request_id();
    request.name = "data";
    request.access = access;
    const auto refused = w.contents.preview(mallory, access);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().message, message_of(w.contents.begin_publish(mallory, request)));
  }
}

TEST_P(Preview, SaysWhoIsMeant) {
  const auto text = [&](const Access& access) {
    const auto preview = w.contents.preview(alice, access);
    EXPECT_TRUE(preview.ok()) << message_of(preview);
    return preview.ok() ? preview->text : "";
  };
  EXPECT_THAT(text({AccessLevel::kPrivate, {}, {}}), HasSubstr("Only you"));
  EXPECT_THAT(text({AccessLevel::kPublic, {}, {}}),
              HasSubstr("Everyone with an account on this server (1 person beside you)"));
  EXPECT_EQ(text({AccessLevel::kShared, {}, {"bob"}}), "bob can find and fetch this. Nobody else sees that it exists.");
  EXPECT_THAT(text({AccessLevel::kShared, {}, {"alice"}}), HasSubstr("Only you"));
}

TEST(AudienceText, NamesGroupsBuddiesAndPeople) {
  Audience audience;
  audience.people = audience.group_people = 42;
  audience.groups = {{"lab", 42}};
  EXPECT_EQ(to_text(AccessLevel::kShared, audience),
            "42 people of 1 group can find and fetch this. Nobody else sees that it exists.");
  audience.users = {"carol"};
  EXPECT_THAT(to_text(AccessLevel::kShared, audience),
              HasSubstr("42 people of 1 group and carol (42 people in all) can"));
  audience.people = 43;
  EXPECT_EQ(to_text(AccessLevel::kShared, audience),
            "42 people of 1 group and carol can find and fetch this. Nobody else sees that it exists.");
}

}  // namespace
}  // namespace gridtorrent::ccm
