#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/cli/stepping_stone.h"
#include "client/cli/transfer_names.h"

namespace gridtorrent::client::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<NamedTransfer> kSome{
    {"x_aguox6ktnj2w3jvyvdh2ehzvmi", "c_1", "mia", "run42", "seeding at /data/run42"},
    {"x_aguox6zzzzzzzzzzzzzzzzzzzz", "c_2", "mia", "run43", "failed"},
    {"x_bbbbbbbbbbbbbbbbbbbbbbbbbb", "c_3", "noor", "run43", "fetching at /data/run43"},
};

Error refusal(std::string_view text) {
  const auto found = find_transfer(text, kSome);
  EXPECT_FALSE(found.ok()) << text;
  return found ? Error{Code::kInternal, ""} : found.error();
}

TEST(NamedTransfers, AreRefusedWhereNoneIsMeant) {
  for (const char* text : {"", "x_", "x_c", "run4", "run44", "noor/run42", "bbbb"}) {
    EXPECT_EQ(refusal(text).code, Code::kNotFound) << text;
    EXPECT_THAT(refusal(text).message, HasSubstr("gridtorrent transfers"));
  }
}

TEST(NamedTransfers, AreRefusedWithTheCandidatesWhereSeveralAreMeant) {
  const Error by_begin = refusal("x_ag");
  EXPECT_EQ(by_begin.code, Code::kConflict);
  EXPECT_THAT(by_begin.message, HasSubstr("x_aguox6ktnj2w3jvyvdh2ehzvmi (mia/run42, seeding at /data/run42), "
                                          "x_aguox6zzzzzzzzzzzzzzzzzzzz (mia/run43, failed)"));
  EXPECT_THAT(refusal("run43").message, HasSubstr("names 2 transfers"));
  EXPECT_THAT(refusal("run43").message, Not(HasSubstr("run42")));
}

TEST(NamedTransfers, AreFoundByIdBeginAndContent) {
  for (const char* text : {"x_aguox6ktnj2w3jvyvdh2ehzvmi", "x_aguox6k", "run42", "mia/run42", "c_1"}) {
    const auto found = find_transfer(text, kSome);
    ASSERT_TRUE(found.ok()) << text;
    EXPECT_EQ(*found, kSome.front().id) << text;
  }
  EXPECT_EQ(find_transfer("noor/run43", kSome).value(), kSome.back().id);
}

TEST(NamedTransfers, OfWhichOneHasTheTextAsItsNameIsThatOne) {
  auto some = kSome;
  some.push_back({"x_cccccccccccccccccccccccccc", "c_4", "mia", "x_ag", "paused"});
  EXPECT_EQ(find_transfer("x_ag", some).value(), some.back().id);
}

v1::Node node_of(const char* name, bool online, v1::Reachability reachability) {
  v1::Node node;
  node.set_name(name);
  node.set_online(online);
  node.add_endpoints()->set_reachability(reachability);
  return node;
}

TEST(ASteppingStone, IsANodeOfOnesOwnThatOthersCanDial) {
  const std::vector<v1::Node> none{node_of("a", false, v1::REACHABLE), node_of("b", true, v1::UNREACHABLE),
                                   node_of("c", true, v1::REACHABILITY_UNKNOWN)};
  EXPECT_EQ(stepping_stone(none, "mia/run 42"), "");
  auto some = none;
  some.push_back(node_of("hub", true, v1::REACHABLE));
  some.push_back(node_of("cluster", true, v1::REACHABLE));
  EXPECT_THAT(stepping_stone(some, "mia/run 42"),
              HasSubstr("by way of cluster, a node of yours that both can dial: gridtorrent get --node cluster "
                        "'mia/run 42' fetches it there"));
}

TEST(ASteppingStone, HasAFolderForWhatTasksFetchOrTheLineSaysHowItGetsOne) {
  std::vector<v1::Node> own{node_of("a", true, v1::REACHABLE)};
  own.front().mutable_roots()->add_shares("home");
  EXPECT_THAT(stepping_stone(own, "mia/run42"), HasSubstr("by way of a, "));
  EXPECT_THAT(stepping_stone(own, "mia/run42"), HasSubstr("there: gridtorrent node set download-root=in=DIR"));
  own.push_back(node_of("b", true, v1::REACHABLE));
  own.back().mutable_roots()->add_downloads("in");
  EXPECT_THAT(stepping_stone(own, "mia/run42"), HasSubstr("by way of b, "));
  EXPECT_THAT(stepping_stone(own, "mia/run42"), Not(HasSubstr("node set")));
}

}  // namespace
}  // namespace gridtorrent::client::cli
