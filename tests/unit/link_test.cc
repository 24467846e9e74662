#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/profile/link.h"

namespace gridtorrent::client {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kCa(64, 'a');

std::string refusal(const std::string& text) {
  const auto link = parse_link(text);
  EXPECT_FALSE(link.ok()) << text;
  if (link.ok()) return "";
  EXPECT_EQ(link.error().code, Code::kInvalid) << text;
  return link.error().message;
}

TEST(Links, ComeBackAsTheyWere) {
  for (const Link& link :
       {Link{"lab.example.org:7443", "", kCa, "gti_x"}, Link{"[2001:db8::1]:1", "", kCa, ""},
        Link{"grid_server:7443", "", kCa, "gti_x"}, Link{"192.0.2.1:65535", "c_aaaaaaaaaaaaaaaaaaaaaaaaaa", kCa, ""}}) {
    const auto parsed = parse_link(link_text(link));
    ASSERT_TRUE(parsed.ok()) << link_text(link) << ": " << parsed.error().message;
    EXPECT_EQ(*parsed, link);
  }
  EXPECT_EQ(link_text({"h:1", "", kCa, "gti_x"}), "gridtorrent:h:1?ca=" + kCa + "&code=gti_x");
}

TEST(Links, AreReadWithSpaceAroundThemAndInEitherCaseOfDigits) {
  const auto link = parse_link(" \n gridtorrent:h:1?code=gti_x&ca=" + std::string(64, 'A') + "\r\n");
  ASSERT_TRUE(link.ok());
  EXPECT_EQ(*link, (Link{"h:1", "", kCa, "gti_x"}));
}

TEST(Links, ThatAreNoneAreRefusedWithTheReason) {
  EXPECT_THAT(refusal(""), HasSubstr("does not begin with gridtorrent:"));
  EXPECT_THAT(refusal("https://h:1?ca=" + kCa), HasSubstr("does not begin"));
  for (const char* server :
       {"", "h", "h:", ":1", "h:0", "h:65536", "h:99999", "h:1x", "-h:1", "h h:1", "h\n:1", "[:1", "a@b:1", "[h/]:1"}) {
    EXPECT_THAT(refusal("gridtorrent:" + std::string(server) + "?ca=" + kCa), HasSubstr("HOST:PORT")) << server;
  }
  EXPECT_THAT(refusal("gridtorrent:h:1"), HasSubstr("ca= is missing"));
  EXPECT_THAT(refusal("gridtorrent:h:1?code=gti_x"), HasSubstr("ca= is missing"));
  EXPECT_THAT(refusal("gridtorrent:h:1?ca=" + kCa.substr(1)), HasSubstr("64 hexadecimal digits"));
  EXPECT_THAT(refusal("gridtorrent:h:1?ca=" + kCa.substr(1) + "g"), HasSubstr("64 hexadecimal digits"));
  EXPECT_THAT(refusal("gridtorrent:h:1?ca=" + kCa + "&code="), HasSubstr("cut off"));
  EXPECT_THAT(refusal("gridtorrent:h:1?ca=" + kCa + "&to=x"), HasSubstr("\"to\" is not known"));
  EXPECT_THAT(refusal("gridtorrent:h:1/nonsense?ca=" + kCa), HasSubstr("no content's id"));
  EXPECT_THAT(refusal("gridtorrent:h:1?ca=" + kCa + "&code=" + std::string(2000, 'x')), HasSubstr("too long"));
}

TEST(Links, DoNotShowTheirCodeWhereTheyAreRefused) {
  EXPECT_THAT(refusal("gridtorrent:h:1?code=gti_secret&ca=short"), Not(HasSubstr("gti_secret")));
  EXPECT_THAT(refusal("gridtorrent:h:1?ca=" + kCa + "&code=gti secret"), Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace gridtorrent::client
