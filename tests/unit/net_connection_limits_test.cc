// Who gets a place among the connections, and who loses one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/net/connection_limits.h"

namespace gridtorrent::net {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Connections : public ::testing::Test {
 protected:
  /// `name` is its address and a number: "a1". What it was refused for; empty: it has a place.
  std::string come(const std::string& name) {
    auto place = limits_.take(name.substr(0, 1));
    if (!place) return place.error().message;
    places_[name] = std::move(*place);
    return "";
  }
  std::string come_to_wait(const std::string& name) {
    std::string refused = come(name);
    if (refused.empty()) places_.at(name).wait([this, name] { ended_.push_back(name); });
    return refused;
  }

  ConnectionLimits limits_{{.by_address = 3, .in_all = 4}};
  std::map<std::string, ConnectionLimits::Place> places_;
  std::vector<std::string> ended_;
};

TEST_F(Connections, AreBoundedByAddressAndInAll) {
  for (const char* name : {"a1", "a2", "a3"}) EXPECT_EQ(come(name), "");
  EXPECT_EQ(come("a4"), "address");
  EXPECT_EQ(come("b1"), "");
  EXPECT_EQ(come("c1"), "all");
  EXPECT_EQ(come("a4"), "address") << "which it can do something about";
  places_.erase("a1");
  EXPECT_EQ(come("c1"), "");
  EXPECT_EQ(limits_.taken(), 4u);
}

TEST_F(Connections, ThatOnlyWaitEndForAnAddressWithFewer) {
  for (const char* name : {"a1", "a2", "a3", "b1"}) come_to_wait(name);
  EXPECT_EQ(come_to_wait("c1"), "");
  EXPECT_THAT(ended_, ElementsAre("a3")) << "who came last";
  EXPECT_EQ(come("d1"), "");
  EXPECT_THAT(ended_, ElementsAre("a3", "a2"));
  EXPECT_EQ(come("e1"), "all") << "nobody has more than one";
  EXPECT_EQ(limits_.taken(), 4u);
}

TEST_F(Connections, OfAnAddressWithAsManyWaitInVain) {
  for (const char* name : {"a1", "a2", "b1", "b2"}) come_to_wait(name);
  EXPECT_EQ(come("a3"), "all");
  EXPECT_EQ(come("b3"), "all");
  EXPECT_THAT(ended_, IsEmpty());
}

TEST_F(Connections, ThatWaitNoMoreStay) {
  for (const char* name : {"a1", "a2", "a3", "b1"}) come_to_wait(name);
  EXPECT_TRUE(places_.at("a2").stay());
  EXPECT_TRUE(places_.at("a3").stay());
  EXPECT_EQ(come("c1"), "all") << "one that waits is no more than others have";
  EXPECT_THAT(ended_, IsEmpty());
}

TEST_F(Connections, ThatWereEndedAreToldSoAndGiveNothingBack) {
  for (const char* name : {"a1", "a2", "a3", "b1"}) come_to_wait(name);
  ASSERT_EQ(come("c1"), "");
  EXPECT_FALSE(places_.at("a3").stay());
  places_.erase("a3");
  EXPECT_EQ(limits_.taken(), 4u);
  EXPECT_EQ(come("a4"), "all");
}

}  // namespace
}  // namespace gridtorrent::net
